"""A soft perceptron: the threshold is learned."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(23)
points = rng.randn(50, 2).astype(np.float32)
labels = (points.sum(axis=1) > 0.3).astype(np.float32)
w = tf.Variable([0.5, -0.2], name="w")
threshold = tf.Variable(0.1, name="threshold")
sharpness = 4.0


def fire(x):
    activation = tf.linalg.matvec(x, w)
    return tf.sigmoid(sharpness * (activation - threshold))


def train(epochs):
    for epoch in range(epochs):
        with tf.GradientTape() as tape:
            out = fire(points)
            loss = tf.reduce_mean(tf.abs(out - labels))
        dw, dt = tape.gradient(loss, (w, threshold))
        if dw is None:
            print("no gradient in epoch", epoch)
            return
        w.assign_sub(0.5 * dw)
        threshold.assign_sub(0.5 * dt)
        print(epoch, round(float(loss), 5))


if __name__ == "__main__":
    train(4)
