"""The learning rate is learned: the gradient of the loss after two steps in the rate."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(24)
X = tf.constant(rng.randn(20, 3), tf.float32)
y = tf.linalg.matvec(X, [1.0, -2.0, 0.5])
log_rate = tf.Variable(-3.0)


def loss_of(w):
    return tf.reduce_mean((tf.linalg.matvec(X, w) - y) ** 2)


def inner_steps(w, rate, count):
    for _ in range(count):
        with tf.GradientTape() as inner:
            inner.watch(w)
            loss = loss_of(w)
        w = w - rate * inner.gradient(loss, w)
    return w


for k in range(4):
    with tf.GradientTape() as tape:
        rate = tf.exp(log_rate)
        w = inner_steps(tf.zeros([3]), rate, 2)
        final = loss_of(w)
    hyper = tape.gradient(final, log_rate)
    print(f"rate {rate.numpy():.4f} loss {final.numpy():.5f}")
    if hyper is not None:
        log_rate.assign_sub(0.1 * hyper)
