"""A layer of my own with a learned scale, trained on a regression."""

import numpy as np
import tensorflow as tf


class ScaledTanh(tf.Module):
    """scale * tanh(x w + b)"""

    def __init__(self, n_in, n_out, name=None):
        super().__init__(name=name)
        rng = np.random.RandomState(1)
        self.kernel = tf.Variable(rng.randn(n_in, n_out).astype(np.float32), name="kernel")
        self.bias = tf.Variable(tf.zeros([n_out]), name="bias")
        self.scale = tf.Variable(tf.ones([n_out]), name="scale")

    def __call__(self, inputs):
        z = tf.matmul(inputs, self.kernel) + self.bias
        return self.scale * tf.tanh(z)


class Regressor(tf.Module):
    def __init__(self):
        super().__init__()
        self.first = ScaledTanh(2, 6)
        self.last = ScaledTanh(6, 1)

    def __call__(self, x):
        return self.last(self.first(x))


model = Regressor()
optimizer = tf.keras.optimizers.SGD(learning_rate=0.1)
rng = np.random.RandomState(2)
x_train = tf.constant(rng.uniform(-1, 1, (32, 2)), dtype=tf.float32)
y_train = tf.reduce_sum(x_train, axis=1, keepdims=True) * 0.5

for epoch in range(4):
    with tf.GradientTape() as tape:
        prediction = model(x_train)
        loss = tf.reduce_mean(tf.square(prediction - y_train))
    variables = [model.first.kernel, model.first.bias, model.first.scale,
                 model.last.kernel, model.last.bias, model.last.scale]
    grads = tape.gradient(loss, variables)
    for g, v in zip(grads, variables):
        if g is not None:
            v.assign_sub(0.1 * g)
    print("epoch", epoch, "loss", float(loss))
