"""A recurrent cell by hand that learns to sum bits."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(7)


class Cell(tf.Module):
    def __init__(self, units):
        super().__init__()
        self.units = units
        self.wx = tf.Variable(rng.randn(1, units).astype("float32") * 0.5)
        self.wh = tf.Variable(rng.randn(units, units).astype("float32") * 0.3)
        self.b = tf.Variable(tf.zeros([units]))
        self.memory = tf.Variable(tf.zeros([16, units]), trainable=False)

    def __call__(self, x, h):
        h = tf.tanh(tf.matmul(x, self.wx) + tf.matmul(h, self.wh) + self.b)
        return h


cell = Cell(5)
readout = tf.Variable(rng.randn(5, 1).astype("float32") * 0.5)
bits = rng.randint(0, 2, (16, 6)).astype("float32")
target = tf.constant(bits.sum(axis=1, keepdims=True))
variables = [cell.wx, cell.wh, cell.b, readout]

for epoch in range(3):
    with tf.GradientTape() as tape:
        h = tf.zeros([16, cell.units])
        for t in range(6):
            h = cell(tf.constant(bits[:, t:t + 1]), h)
        y = tf.matmul(h, readout)
        loss = tf.reduce_mean(tf.math.squared_difference(y, target))
    grads = tape.gradient(loss, variables)
    grads, norm = tf.clip_by_global_norm(grads, 1.0)
    for g, v in zip(grads, variables):
        v.assign_sub(0.1 * g)
    print("epoch", epoch, "loss", float(loss), "norm", float(norm))
