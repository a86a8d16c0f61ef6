"""The marginal likelihood of a Gaussian process, in its hyperparameters."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(20)
x = tf.constant(np.sort(rng.uniform(-3, 3, 12)), tf.float32)
y = tf.sin(x) + 0.1 * tf.constant(rng.randn(12), tf.float32)

log_length = tf.Variable(0.0)
log_scale = tf.Variable(0.0)
log_noise = tf.Variable(-2.0)


def kernel(a, b):
    length = tf.exp(log_length)
    squared = (a[:, None] - b[None, :]) ** 2
    return tf.exp(2.0 * log_scale) * tf.exp(-0.5 * squared / length ** 2)


def nll():
    n = x.shape[0]
    noise = tf.exp(2.0 * log_noise)
    K = kernel(x, x) + noise * tf.eye(n)
    L = tf.linalg.cholesky(K)
    alpha = tf.linalg.cholesky_solve(L, y[:, None])
    fit = 0.5 * tf.reduce_sum(y[:, None] * alpha)
    det = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(L)))
    return fit + det + 0.5 * n * np.log(2 * np.pi)


params = [log_length, log_scale, log_noise]
for k in range(3):
    with tf.GradientTape() as tape:
        value = nll()
    grads = tape.gradient(value, params)
    print(k, value.numpy(), [None if g is None else round(float(g), 3) for g in grads])
    for p, g in zip(params, grads):
        if g is not None:
            p.assign_sub(0.01 * g)
