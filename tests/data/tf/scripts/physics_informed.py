"""A physics-informed loss: u'' + u = 0, u(0) = 0, u'(0) = 1, on a small net."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(0)
W1 = tf.Variable(rng.randn(1, 10) * 0.7, dtype=tf.float32)
b1 = tf.Variable(rng.randn(10) * 0.1, dtype=tf.float32)
W2 = tf.Variable(rng.randn(10, 1) * 0.7, dtype=tf.float32)
b2 = tf.Variable([0.0])
params = [W1, b1, W2, b2]


def u(t):
    hidden = tf.tanh(tf.matmul(t, W1) + b1)
    return tf.matmul(hidden, W2) + b2


def residual(t):
    with tf.GradientTape() as outer:
        outer.watch(t)
        with tf.GradientTape() as inner:
            inner.watch(t)
            y = u(t)
        dy = inner.gradient(y, t)
    d2y = outer.gradient(dy, t)
    return d2y + y


def initial():
    t0 = tf.zeros([1, 1])
    with tf.GradientTape() as tape:
        tape.watch(t0)
        y0 = u(t0)
    dy0 = tape.gradient(y0, t0)
    return tf.reduce_sum(y0 ** 2) + tf.reduce_sum((dy0 - 1.0) ** 2)


t = tf.reshape(tf.linspace(0.0, 2.0, 20), [-1, 1])
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(residual(t) ** 2) + initial()
    grads = tape.gradient(loss, params)
    for p, g in zip(params, grads):
        p.assign_sub(0.01 * g)
    print(step, loss.numpy())
