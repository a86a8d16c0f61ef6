"""The likelihood of a Kalman filter in one dimension, in its two variances."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(21)
level, series = 0.0, []
for _ in range(20):
    level += 0.3 * rng.randn()
    series.append(level + 0.5 * rng.randn())
series = np.array(series, np.float32)

log_q = tf.Variable(-1.0, name="process")
log_r = tf.Variable(-1.0, name="measurement")


def negative_log_likelihood(values):
    q, r = tf.exp(log_q), tf.exp(log_r)
    mean, variance = tf.constant(0.0), tf.constant(1.0)
    total = tf.constant(0.0)
    for z in values:
        variance = variance + q
        s = variance + r
        gain = variance / s
        innovation = z - mean
        total += 0.5 * (tf.math.log(2 * np.pi * s) + innovation ** 2 / s)
        mean = mean + gain * innovation
        variance = (1.0 - gain) * variance
    return total


for step in range(3):
    with tf.GradientTape() as tape:
        nll = negative_log_likelihood(series)
    gq, gr = tape.gradient(nll, [log_q, log_r])
    log_q.assign_sub(0.02 * gq)
    log_r.assign_sub(0.02 * gr)
    print(f"{step}: {nll.numpy():.4f} q={tf.exp(log_q).numpy():.4f} r={tf.exp(log_r).numpy():.4f}")
