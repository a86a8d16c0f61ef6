"""The log likelihood of a mixture of two Gaussians."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(26)
data = np.concatenate([rng.randn(15) - 2.0, rng.randn(15) + 2.0, [40.0]]).astype(np.float32)
logits = tf.Variable([0.0, 0.0])
means = tf.Variable([-1.0, 1.0])
log_sigma = tf.Variable([0.0, 0.0])
params = [logits, means, log_sigma]


def log_normal(x, mean, log_s):
    z = (x - mean) / tf.exp(log_s)
    return -0.5 * z ** 2 - log_s - 0.5 * np.log(2 * np.pi)


def log_likelihood(x):
    log_weights = tf.nn.log_softmax(logits)
    parts = log_weights + log_normal(x[:, None], means, log_sigma)
    per_point = tf.reduce_logsumexp(parts, axis=1)
    return tf.reduce_mean(per_point)


for k in range(3):
    with tf.GradientTape() as tape:
        loss = -log_likelihood(data)
    grads = tape.gradient(loss, params)
    for p, g in zip(params, grads):
        p.assign_sub(0.01 * g)
    print(k, "loss", loss.numpy())
