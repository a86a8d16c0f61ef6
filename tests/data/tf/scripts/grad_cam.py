"""Grad-CAM of a tiny convolutional net: which cells of the feature map speak for the class?"""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(4)
kernel = tf.Variable(rng.randn(3, 3, 1, 4).astype("float32") * 0.4)
dense = tf.Variable(rng.randn(4, 3).astype("float32"))


def feature_maps(image):
    return tf.nn.relu(tf.nn.conv2d(image, kernel, strides=1, padding="SAME"))


def classify(features):
    pooled = tf.reduce_mean(features, axis=[1, 2])
    return tf.matmul(pooled, dense)


def grad_cam(image, class_index=None):
    with tf.GradientTape() as tape:
        features = feature_maps(image)
        tape.watch(features)
        scores = classify(features)
        if class_index is None:
            class_index = int(tf.argmax(scores[0]))
        score = scores[:, class_index]
    grads = tape.gradient(score, features)
    weights = tf.reduce_mean(grads, axis=[0, 1, 2])
    cam = tf.reduce_sum(features[0] * weights, axis=-1)
    cam = tf.maximum(cam, 0.0)
    return cam / (tf.reduce_max(cam) + 1e-8)


image = np.zeros((1, 8, 8, 1), np.float32)
image[0, 2:5, 3:6, 0] = 1.0
heatmap = grad_cam(tf.constant(image))
print(heatmap.shape)
print(np.round(heatmap.numpy(), 3))
