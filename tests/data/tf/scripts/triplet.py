"""A triplet loss: anchor nearer to the positive than to the negative, by a margin."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(11)
ALPHA = 1.6


class Embedder(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(rng.randn(6, 4).astype(np.float32) * 0.4)
        self.b = tf.Variable(tf.zeros([4]))

    def __call__(self, x):
        return tf.nn.l2_normalize(tf.matmul(x, self.w) + self.b, axis=1)


def triplet_loss(anchor, positive, negative):
    pos = tf.reduce_sum(tf.square(anchor - positive), axis=-1)
    neg = tf.reduce_sum(tf.square(anchor - negative), axis=-1)
    basic = pos - neg + ALPHA
    return tf.reduce_sum(tf.maximum(basic, 0.0))


embedder = Embedder()
a = rng.randn(9, 6).astype("float32")
p = a + 0.1 * rng.randn(9, 6).astype("float32")
n = rng.randn(9, 6).astype("float32")
for step in range(4):
    with tf.GradientTape() as tape:
        loss = triplet_loss(embedder(a), embedder(p), embedder(n))
    gw, gb = tape.gradient(loss, [embedder.w, embedder.b])
    embedder.w.assign_sub(0.02 * gw)
    embedder.b.assign_sub(0.02 * gb)
    print(f"{step} {loss:.4f}")
