"""Fit the control points of a Bezier curve to samples."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(25)
control = tf.Variable([[0.0, 0.0], [1.0, 2.0], [3.0, 2.0], [4.0, 0.0]])
t = tf.linspace(0.0, 1.0, 15)[:, None]


def bezier(c, t):
    s = 1.0 - t
    basis = tf.concat([s ** 3, 3 * s ** 2 * t, 3 * s * t ** 2, t ** 3], axis=1)
    return tf.matmul(basis, tf.cast(c, tf.float32))


angles = np.linspace(np.pi, 0.0, 15)
samples = tf.constant(np.stack([2 + 2 * np.cos(angles), 2 * np.sin(angles)], 1), tf.float32)
samples += 0.02 * tf.constant(rng.randn(15, 2), tf.float32)

for step in range(5):
    with tf.GradientTape() as tape:
        curve = bezier(control, t)
        error = tf.reduce_mean(tf.reduce_sum((curve - samples) ** 2, axis=1))
    g = tape.gradient(error, control)
    if g is None:
        break
    control.assign_sub(0.5 * g)
    print(step, error.numpy())
print(np.round(control.numpy(), 3))
