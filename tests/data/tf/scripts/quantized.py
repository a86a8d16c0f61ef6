"""Quantization-aware training: eight levels of weights, straight through."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(22)
LEVELS = 8.0


def quantize(w):
    scaled = w * LEVELS
    rounded = scaled + tf.stop_gradient(tf.round(scaled) - scaled)
    return rounded / LEVELS


class Layer(tf.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.w = tf.Variable(rng.uniform(-1, 1, (n_in, n_out)).astype("float32"))
        self.b = tf.Variable(tf.zeros([n_out]))

    def __call__(self, x):
        return tf.matmul(x, quantize(self.w)) + self.b


first, second = Layer(3, 6), Layer(6, 1)
x = tf.constant(rng.randn(30, 3), tf.float32)
y = tf.constant((rng.randn(30, 1) > 0).astype("float32"))
optimizer = tf.keras.optimizers.SGD(0.1)
variables = [first.w, first.b, second.w, second.b]
for epoch in range(3):
    with tf.GradientTape() as tape:
        hidden = tf.nn.elu(first(x))
        loss = tf.reduce_mean((second(hidden) - y) ** 2)
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients([(g, v) for g, v in zip(grads, variables) if g is not None])
    print(epoch, f"{float(loss):.5f}")
