"""The critic of a Wasserstein GAN with gradient penalty."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(35)
w1 = tf.Variable(rng.randn(2, 10).astype(np.float32) * 0.6)
w2 = tf.Variable(rng.randn(10, 1).astype(np.float32) * 0.6)
LAMBDA = 10.0


def critic(x):
    return tf.matmul(tf.tanh(tf.matmul(x, w1)), w2)


def gradient_penalty(real, fake, alpha):
    interpolated = real + alpha * (fake - real)
    with tf.GradientTape() as gp_tape:
        gp_tape.watch(interpolated)
        prediction = critic(interpolated)
    grads = gp_tape.gradient(prediction, interpolated)
    norm = tf.sqrt(tf.reduce_sum(tf.square(grads), axis=1) + 1e-8)
    return tf.reduce_mean((norm - 1.0) ** 2)


for step in range(3):
    real = tf.constant(rng.randn(8, 2) + 2.0, tf.float32)
    fake = tf.constant(rng.randn(8, 2), tf.float32)
    alpha = tf.constant(rng.rand(8, 1), tf.float32)
    with tf.GradientTape() as tape:
        cost = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real))
        penalty = gradient_penalty(real, fake, alpha)
        loss = cost + LAMBDA * penalty
    grads = tape.gradient(loss, [w1, w2])
    for w, g in zip([w1, w2], grads):
        w.assign_sub(0.01 * g)
    print(f"{step} cost {float(cost):.4f} penalty {float(penalty):.4f}")
