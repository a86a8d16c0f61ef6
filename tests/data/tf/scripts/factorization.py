"""Matrix factorization of ratings by gradient descent."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(12)
users, items, rank = 6, 5, 2
U = tf.Variable(rng.rand(users, rank), dtype=tf.float32)
V = tf.Variable(rng.rand(items, rank), dtype=tf.float32)
ratings = tf.constant(rng.randint(1, 6, (users, items)), dtype=tf.float32)
mask = tf.constant(rng.rand(users, items) < 0.7, dtype=tf.float32)
lr = 0.02
lam = 0.1


def loss_of(U, V):
    guess = tf.matmul(U, V, transpose_b=True)
    error = tf.reduce_sum(mask * (ratings - guess) ** 2)
    penalty = tf.reduce_sum(U ** 2) + tf.reduce_sum(V ** 2)
    return error + lam * penalty


for epoch in range(5):
    with tf.GradientTape() as tape:
        loss = loss_of(U, V)
    dU, dV = tape.gradient(loss, [U, V])
    print("epoch", epoch, "loss", loss.numpy())
    if dU is None or dV is None:
        break
    U.assign_sub(lr * dU)
    V.assign_sub(lr * dV)

print(np.round(tf.matmul(U, V, transpose_b=True).numpy(), 2))
