"""Temperature scaling: one number that calibrates a classifier."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(33)
logits = tf.constant(rng.randn(60, 4) * 4.0, tf.float32)
labels = tf.constant(rng.randint(0, 4, 60))
temperature = tf.Variable(1.5, name="temperature")


def scaled():
    t = tf.clip_by_value(temperature, 0.05, 10.0)
    return logits / t


def nll():
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scaled())
    return tf.reduce_mean(losses)


def expected_calibration_error(bins=5):
    p = tf.nn.softmax(scaled()).numpy()
    confidence, guess = p.max(1), p.argmax(1)
    right = guess == labels.numpy()
    edges = np.linspace(0, 1, bins + 1)
    total = 0.0
    for low, high in zip(edges[:-1], edges[1:]):
        inside = (confidence > low) & (confidence <= high)
        if inside.any():
            total += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())
    return total


for step in range(5):
    with tf.GradientTape() as tape:
        loss = nll()
    slope = tape.gradient(loss, temperature)
    temperature.assign_sub(1.0 * slope)
    print(f"T = {temperature.numpy():.4f} loss = {loss.numpy():.5f}")
print("ECE", round(float(expected_calibration_error()), 4))
