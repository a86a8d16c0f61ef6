"""A softmax classifier without tf.nn."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(14)
W = tf.Variable(rng.randn(4, 3).astype("float32"))
b = tf.Variable(np.zeros(3, np.float32))
data = rng.randn(20, 4).astype("float32") * 40.0
target = np.eye(3, dtype="float32")[rng.randint(0, 3, 20)]


def softmax(z):
    z = z - tf.reduce_max(z, axis=1, keepdims=True)
    e = tf.exp(z)
    return e / tf.reduce_sum(e, axis=1, keepdims=True)


def loss_fn(x, y):
    scores = tf.matmul(x, W) + b
    p = softmax(scores)
    return -tf.reduce_mean(tf.reduce_sum(y * tf.math.log(p + 1e-9), axis=1))


history = []
for it in range(3):
    with tf.GradientTape() as t:
        current = loss_fn(data, target)
    g = t.gradient(current, [W, b])
    W.assign_sub(1e-3 * g[0])
    b.assign_sub(1e-3 * g[1])
    history.append(float(current))
print(["%.4f" % h for h in history])
