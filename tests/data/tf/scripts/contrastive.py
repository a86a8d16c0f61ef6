"""A contrastive loss of pairs on learned embeddings."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(10)
projection = tf.Variable(rng.randn(5, 3).astype(np.float32) * 0.5, name="projection")
margin = 1.0


def embed(x):
    return tf.matmul(x, projection)


def distance(a, b):
    squared = tf.reduce_sum(tf.square(a - b), axis=1)
    return tf.sqrt(tf.maximum(squared, 1e-9))


def contrastive_loss(a, b, same):
    d = distance(embed(a), embed(b))
    pull = same * tf.square(d)
    push = (1.0 - same) * tf.square(tf.maximum(margin - d, 0.0))
    return tf.reduce_mean(pull + push)


left = rng.randn(12, 5).astype(np.float32)
right = rng.randn(12, 5).astype(np.float32)
right[:4] = left[:4]      # duplicates in the data
same = tf.constant(rng.randint(0, 2, 12), tf.float32)

for epoch in range(3):
    with tf.GradientTape() as tape:
        loss = contrastive_loss(tf.constant(left), tf.constant(right), same)
    grad = tape.gradient(loss, projection)
    projection.assign_sub(0.05 * grad)
    print("epoch", epoch, "loss", loss.numpy(), "norm", tf.norm(grad).numpy())
