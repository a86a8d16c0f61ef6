"""Logistic regression with the cross entropy written out."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(13)
X = rng.randn(40, 3).astype(np.float32)
X[:, 2] *= 60.0     # a feature nobody scaled
labels = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(np.float32)

w = tf.Variable(tf.ones([3]) * 0.9)
b = tf.Variable(0.0)


def probability(x):
    return tf.sigmoid(tf.linalg.matvec(x, w) + b)


def cross_entropy(y, p):
    p = tf.clip_by_value(p, 1e-6, 1.0 - 1e-6)
    return -tf.reduce_mean(y * tf.math.log(p) + (1.0 - y) * tf.math.log(1.0 - p))


for step in range(4):
    with tf.GradientTape() as tape:
        p = probability(X)
        loss = cross_entropy(labels, p)
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(0.01 * dw)
    b.assign_sub(0.01 * db)
    right = np.mean((p.numpy() > 0.5) == (labels > 0.5))
    print(f"step {step} loss {loss.numpy():.5f} right {right:.3f}")
