"""Model-agnostic meta-learning of a line: one inner step, differentiated through."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(19)
slope = tf.Variable(0.5)
shift = tf.Variable(0.0)
INNER, OUTER = 0.1, 0.05


def forward(x, a, b):
    return a * x + b


def mse(y, prediction):
    return tf.reduce_mean((y - prediction) ** 2)


def sample_task():
    a, b = rng.uniform(-2, 2, 2)
    x = rng.uniform(-1, 1, (2, 10))
    y = a * x + b
    return [tf.constant(v, tf.float32) for v in (x[0], y[0], x[1], y[1])]


for episode in range(3):
    x_support, y_support, x_query, y_query = sample_task()
    with tf.GradientTape() as outer_tape:
        with tf.GradientTape() as inner_tape:
            inner_loss = mse(y_support, forward(x_support, slope, shift))
        da, db = inner_tape.gradient(inner_loss, [slope, shift])
        fast_slope = slope - INNER * da
        fast_shift = shift - INNER * db
        outer_loss = mse(y_query, forward(x_query, fast_slope, fast_shift))
    meta = outer_tape.gradient(outer_loss, [slope, shift])
    slope.assign_sub(OUTER * meta[0])
    shift.assign_sub(OUTER * meta[1])
    print(episode, inner_loss.numpy(), outer_loss.numpy())
