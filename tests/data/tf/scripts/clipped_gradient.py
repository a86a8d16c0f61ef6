"""A custom gradient: the identity whose gradient is clipped."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(27)


@tf.custom_gradient
def clip_gradient(x):
    def grad(upstream):
        return tf.clip_by_norm(upstream, 0.5)

    return tf.identity(x), grad


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)

    def grad(upstream):
        return upstream * (1 - 1 / (1 + e))

    return tf.math.log(1 + e), grad


w = tf.Variable(rng.randn(4, 4).astype("float32"))
v = tf.Variable(rng.randn(4).astype("float32"))
x = tf.constant(rng.randn(7, 4), tf.float32)
for step in range(3):
    with tf.GradientTape() as tape:
        hidden = clip_gradient(tf.matmul(x, w))
        out = log1pexp(tf.linalg.matvec(hidden, v))
        loss = tf.reduce_sum(out)
    dw, dv = tape.gradient(loss, [w, v])
    print(step, loss.numpy(), [None if g is None else float(tf.norm(g)) for g in (dw, dv)])
    if dw is not None:
        w.assign_sub(0.1 * dw)
    v.assign_sub(0.01 * dv)
