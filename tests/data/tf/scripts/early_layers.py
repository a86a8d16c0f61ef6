"""Layerwise learning rates and gradient norms, as one looks for vanishing gradients."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(37)


class Block(tf.Module):
    def __init__(self, units, name):
        super().__init__(name=name)
        self.kernel = tf.Variable(rng.randn(units, units).astype("float32") * 0.3, name="kernel")

    def __call__(self, x):
        return x + tf.tanh(tf.matmul(x, self.kernel))


class Deep(tf.Module):
    def __init__(self, depth):
        super().__init__(name="deep")
        self.blocks = [Block(5, f"block{k}") for k in range(depth)]
        self.out = tf.Variable(rng.randn(5, 1).astype("float32"))

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return tf.matmul(x, self.out)


model = Deep(4)
x = tf.constant(rng.randn(12, 5), tf.float32)
y = tf.constant(rng.randn(12, 1), tf.float32)
watched = [block.kernel for block in model.blocks] + [model.out]
for epoch in range(2):
    with tf.GradientTape() as tape:
        output = model(x)
        loss = tf.reduce_mean((output - y) ** 2)
    grads = tape.gradient(loss, watched)
    for name, g in zip(["b0", "b1", "b2", "b3", "out"], grads):
        print(name, "None" if g is None else f"{tf.norm(g).numpy():.5f}")
    for v, g in zip(watched, grads):
        if g is not None:
            v.assign_sub(0.01 * g)
    print("loss", loss.numpy())
