"""Style transfer: the image is what is optimized."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(17)
filters = tf.constant(rng.randn(3, 3, 3, 5) * 0.2, tf.float32)
content = tf.constant(rng.rand(1, 8, 8, 3), tf.float32)
style = tf.constant(rng.rand(1, 8, 8, 3), tf.float32)


def features(img):
    return tf.nn.relu(tf.nn.conv2d(img, filters, 1, "SAME"))


def gram(f):
    n = tf.cast(tf.shape(f)[1] * tf.shape(f)[2], tf.float32)
    return tf.einsum("bijc,bijd->bcd", f, f) / n


def style_loss(img):
    return tf.reduce_mean((gram(features(img)) - gram(features(style))) ** 2)


def content_loss(img):
    return tf.reduce_mean((features(img) - features(content)) ** 2)


def total_variation(img):
    dx = img[:, 1:, :, :] - img[:, :-1, :, :]
    dy = img[:, :, 1:, :] - img[:, :, :-1, :]
    return tf.reduce_sum(tf.abs(dx)) + tf.reduce_sum(tf.abs(dy))


image = tf.Variable(content)
for step in range(3):
    with tf.GradientTape() as tape:
        loss = 1e2 * style_loss(image) + content_loss(image) + 1e-4 * total_variation(image)
    grad = tape.gradient(loss, image)
    image.assign(tf.clip_by_value(image - 0.1 * grad, 0.0, 1.0))
    print("step", step, "loss", float(loss))
