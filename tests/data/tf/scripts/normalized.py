"""Weight normalization: direction and length of each weight vector are learned."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(34)


class WeightNorm(tf.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.v = tf.Variable(rng.randn(n_in, n_out).astype("float32"))
        self.g = tf.Variable(tf.ones([n_out]))

    def __call__(self, x):
        length = tf.sqrt(tf.reduce_sum(self.v ** 2, axis=0) + 1e-12)
        return tf.matmul(x, self.v * (self.g / length))


layer = WeightNorm(3, 4)
v = layer.v.numpy()
v[:, 0] = 0.0       # a dead unit
layer.v.assign(v)
x = tf.constant(rng.randn(9, 3), tf.float32)
target = tf.constant(rng.randn(9, 4), tf.float32)
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((layer(x) - target) ** 2)
    dv, dg = tape.gradient(loss, [layer.v, layer.g])
    layer.v.assign_sub(1e-9 * dv)
    layer.g.assign_sub(0.1 * dg)
    print(step, loss.numpy(), np.round(layer.g.numpy(), 4))
