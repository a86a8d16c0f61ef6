"""Scaled dot-product attention with a padding mask."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(15)
d = 4
wq = tf.Variable(rng.randn(d, d).astype("float32") * 0.5, name="wq")
wk = tf.Variable(rng.randn(d, d).astype("float32") * 0.5, name="wk")
wv = tf.Variable(rng.randn(d, d).astype("float32") * 0.5, name="wv")


def attention(q, k, v, mask):
    scores = tf.matmul(q, k, transpose_b=True) / tf.sqrt(tf.cast(d, tf.float32))
    blocked = tf.constant(-1e9)
    scores = tf.where(mask[:, None, :] > 0, scores, blocked)
    weights = tf.nn.softmax(scores, axis=-1)
    return tf.matmul(weights, v), weights


x = tf.constant(rng.randn(3, 5, d), tf.float32)
lengths = [5, 3, 0]     # the last one is all padding
mask = tf.sequence_mask(lengths, 5, dtype=tf.float32)
goal = tf.constant(rng.randn(3, 5, d), tf.float32)

for step in range(2):
    with tf.GradientTape() as tape:
        q, k, v = [tf.einsum("bij,jk->bik", x, w) for w in (wq, wk, wv)]
        out, weights = attention(q, k, v, mask)
        error = (out - goal) ** 2 * mask[:, :, None]
        loss = tf.reduce_sum(error) / tf.reduce_sum(mask)
    grads = tape.gradient(loss, [wq, wk, wv])
    for w, g in zip([wq, wk, wv], grads):
        w.assign_sub(0.1 * g)
    print(step, float(loss), weights.shape)
