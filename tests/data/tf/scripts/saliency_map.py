"""A saliency map: the gradient of the best score in the pixels."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(5)
w1 = tf.Variable(rng.randn(36, 12).astype(np.float32) * 0.3)
w2 = tf.Variable(rng.randn(12, 4).astype(np.float32) * 0.3)
CLASSES = ["cat", "dog", "hen", "pig"]


def model(images):
    flat = tf.reshape(images, [tf.shape(images)[0], 36])
    return tf.nn.softmax(tf.matmul(tf.nn.relu(tf.matmul(flat, w1)), w2))


def load():
    pixels = rng.randint(0, 255, (1, 6, 6))
    return pixels


image = tf.constant(load() / 255.0, dtype=tf.float32)
with tf.GradientTape() as tape:
    tape.watch(image)
    predictions = model(image)
    best = tf.reduce_max(predictions, axis=1)
grads = tape.gradient(best, image)

saliency = tf.abs(grads)[0]
saliency = (saliency - tf.reduce_min(saliency)) / (
    tf.reduce_max(saliency) - tf.reduce_min(saliency))
print(CLASSES[int(tf.argmax(predictions[0]))])
for row in saliency.numpy():
    print(" ".join(f"{v:.2f}" for v in row))
