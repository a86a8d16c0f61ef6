"""The fast gradient sign method: an adversarial example."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(18)
weights = tf.Variable(rng.randn(16, 3), dtype=tf.float32)
bias = tf.Variable(tf.zeros(3))


def predict(x):
    return tf.matmul(x, weights) + bias


def loss_object(label, logits):
    return tf.nn.softmax_cross_entropy_with_logits(labels=label, logits=logits)


def create_adversarial_pattern(input_image, input_label):
    with tf.GradientTape() as tape:
        tape.watch(input_image)
        prediction = predict(input_image)
        loss = loss_object(input_label, prediction)
    gradient = tape.gradient(loss, input_image)
    signed_grad = tf.sign(gradient)
    return signed_grad


image = tf.constant(rng.rand(1, 16), tf.float32)
label = tf.one_hot([int(tf.argmax(predict(image)[0]))], 3)
perturbations = create_adversarial_pattern(image, label)
for eps in [0.0, 0.01, 0.1, 0.3]:
    adversarial = tf.clip_by_value(image + eps * perturbations, 0.0, 1.0)
    p = tf.nn.softmax(predict(adversarial))[0]
    print(f"eps {eps}: {np.round(p.numpy(), 4)}")
