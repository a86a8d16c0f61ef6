"""A diagonal covariance fitted by maximum likelihood through its Cholesky factor."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(36)
samples = tf.constant(rng.multivariate_normal([0, 0], [[2.0, 0.6], [0.6, 1.0]], 40), tf.float32)
raw = tf.Variable([[0.1, 0.0], [0.2, 0.3]], name="raw")


def cholesky_factor(raw):
    lower = tf.zeros([2, 2])
    diagonal = tf.math.softplus(tf.linalg.diag_part(raw)) + 1e-4
    return tf.linalg.set_diag(lower, diagonal)


def nll(raw):
    L = cholesky_factor(raw)
    z = tf.linalg.triangular_solve(L, tf.transpose(samples))
    log_det = 2.0 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(L)))
    return 0.5 * (log_det + tf.reduce_mean(tf.reduce_sum(z ** 2, axis=0)))


best = None
for step in range(5):
    with tf.GradientTape() as tape:
        loss = nll(raw)
    g = tape.gradient(loss, raw)
    raw.assign_sub(0.1 * g)
    best = float(loss) if best is None else min(best, float(loss))
    print(step, float(loss))
L = cholesky_factor(raw)
print(np.round(tf.matmul(L, L, transpose_b=True).numpy(), 3), best)
