"""A deep net of relus, trained on a parabola."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(32)
sizes = [1, 12, 12, 12, 1]


def dense_params(n_in, n_out):
    w = tf.Variable((rng.randn(n_in, n_out) * np.sqrt(2.0 / n_in)).astype("float32"))
    b = tf.Variable(tf.fill([n_out], 0.01))
    return w, b


params = [dense_params(n, m) for n, m in zip(sizes[:-1], sizes[1:])]


def forward(x):
    for w, b in params[:-1]:
        x = tf.nn.relu(tf.matmul(x, w) + b)
    w, b = params[-1]
    return tf.matmul(x, w) + b


x = tf.constant(np.linspace(-1, 1, 25)[:, None], tf.float32)
y = x ** 2
flat = [p for pair in params for p in pair]
for epoch in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((forward(x) - y) ** 2)
    grads = tape.gradient(loss, flat)
    total = tf.linalg.global_norm(grads)
    for v, g in zip(flat, grads):
        v.assign_sub(0.05 * g)
    print("epoch", epoch, "loss", float(loss), "norm", float(total))
