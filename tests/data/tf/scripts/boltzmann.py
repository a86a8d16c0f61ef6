"""The free energy of a small restricted Boltzmann machine by contrastive divergence."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(29)
W = tf.Variable(rng.randn(6, 4) * 0.1, dtype=tf.float32)
a = tf.Variable(tf.zeros([6]))
c = tf.Variable(tf.zeros([4]))
data = tf.constant(rng.randint(0, 2, (12, 6)), tf.float32)


def free_energy(v):
    hidden = tf.reduce_sum(tf.math.softplus(tf.matmul(v, W) + c), axis=1)
    return -tf.linalg.matvec(v, a) - hidden


def gibbs(v):
    p_h = tf.sigmoid(tf.matmul(v, W) + c)
    h = tf.cast(p_h > rng.rand(12, 4), tf.float32)
    p_v = tf.sigmoid(tf.matmul(h, W, transpose_b=True) + a)
    return tf.cast(p_v > rng.rand(12, 6), tf.float32)


for sweep in range(3):
    model_sample = gibbs(data)
    tape = tf.GradientTape()
    with tape:
        positive = free_energy(data)
        negative = free_energy(model_sample)
        loss = tf.reduce_mean(positive - negative)
    dW, da, dc = tape.gradient(loss, [W, a, c])
    W.assign_sub(0.1 * dW)
    a.assign_sub(0.1 * da)
    c.assign_sub(0.1 * dc)
    print("sweep", sweep, loss.numpy())
