"""The loss of a variational autoencoder with a Gaussian code."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(8)


def weight(*shape):
    return tf.Variable(rng.normal(0, 0.3, shape), dtype=tf.float32)


enc_w, enc_mean, enc_logvar = weight(6, 8), weight(8, 2), weight(8, 2)
dec_w, dec_out = weight(2, 8), weight(8, 6)
params = [enc_w, enc_mean, enc_logvar, dec_w, dec_out]


def encode(x):
    h = tf.nn.tanh(x @ enc_w)
    return h @ enc_mean, h @ enc_logvar


def reparameterize(mean, logvar, eps):
    return mean + tf.exp(0.5 * logvar) * eps


def decode(z):
    return tf.nn.tanh(z @ dec_w) @ dec_out


def elbo(x, eps):
    mean, logvar = encode(x)
    z = reparameterize(mean, logvar, eps)
    logits = decode(z)
    rec = tf.reduce_sum(
        tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), axis=1)
    kl = -0.5 * tf.reduce_sum(1 + logvar - mean ** 2 - tf.exp(logvar), axis=1)
    return tf.reduce_mean(rec + kl)


x = tf.constant(rng.randint(0, 2, (10, 6)), tf.float32)
for step in range(3):
    eps = tf.constant(rng.randn(10, 2), tf.float32)
    with tf.GradientTape() as tape:
        loss = elbo(x, eps)
    grads = tape.gradient(loss, params)
    for p, g in zip(params, grads):
        p.assign_sub(0.1 * g)
    print("ELBO", step, -loss.numpy())
