"""A tape that watches only what it is told: train the last layer alone."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(31)
layers = [tf.Variable(rng.randn(n, m).astype("float32") * 0.4)
          for n, m in ((3, 6), (6, 6), (6, 2))]


def net(x):
    for w in layers[:-1]:
        x = tf.nn.softplus(tf.matmul(x, w))
    return tf.matmul(x, layers[-1])


x = tf.constant(rng.randn(10, 3), tf.float32)
y = tf.constant(rng.randn(10, 2), tf.float32)
last = layers[-1]

for step in range(3):
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(last)
        loss = tf.reduce_mean((net(x) - y) ** 2)
    grad = tape.gradient(loss, last)
    if grad is None:
        print("nothing to do")
        break
    last.assign_sub(0.1 * grad)
    print(step, float(loss), last.shape)
