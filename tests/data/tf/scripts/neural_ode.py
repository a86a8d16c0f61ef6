"""A neural ODE by Euler steps, fitted to a decay."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(16)
w_in = tf.Variable(rng.randn(1, 6).astype("float32") * 0.5)
w_out = tf.Variable(rng.randn(6, 1).astype("float32") * 0.5)
rate = tf.Variable(0.3)


def f(y):
    return tf.matmul(tf.tanh(tf.matmul(y, w_in)), w_out) - rate * y


def solve(y0, t1, steps):
    dt = t1 / steps
    y = y0
    path = [y]
    for _ in range(steps):
        y = y + dt * f(y)
        path.append(y)
    return tf.concat(path, axis=1)


y0 = tf.constant([[1.0], [2.0]])
times = np.linspace(0.0, 1.0, 9)
truth = tf.constant(np.array([[1.0], [2.0]]) * np.exp(-times), tf.float32)

for k in range(3):
    with tf.GradientTape() as tape:
        path = solve(y0, 1.0, 8)
        loss = tf.reduce_mean(tf.abs(path - truth) ** 2)
    grads = tape.gradient(loss, [w_in, w_out, rate])
    for v, g in zip([w_in, w_out, rate], grads):
        v.assign_sub(0.2 * g)
    print("iteration", k, "loss", loss.numpy())
