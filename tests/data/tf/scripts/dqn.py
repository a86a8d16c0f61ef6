"""One update of deep Q-learning with a target network."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(9)


class QNet(tf.Module):
    def __init__(self, seed):
        super().__init__()
        r = np.random.RandomState(seed)
        self.w1 = tf.Variable(r.randn(4, 16).astype("float32") * 0.3)
        self.w2 = tf.Variable(r.randn(16, 2).astype("float32") * 0.3)

    def __call__(self, s):
        return tf.matmul(tf.nn.relu(tf.matmul(s, self.w1)), self.w2)


q_net, target_net = QNet(0), QNet(1)
GAMMA = 0.99


def huber(error, delta=1.0):
    small = tf.abs(error) <= delta
    return tf.where(small, 0.5 * error ** 2, delta * (tf.abs(error) - 0.5 * delta))


def update(s, a, r, s2, done):
    next_q = tf.reduce_max(target_net(s2), axis=1)
    goal = r + GAMMA * next_q * (1.0 - done)
    with tf.GradientTape() as tape:
        q = q_net(s)
        chosen = tf.reduce_sum(q * tf.one_hot(a, 2), axis=1)
        loss = tf.reduce_mean(huber(goal - chosen))
    grads = tape.gradient(loss, q_net.trainable_variables)
    for g, v in zip(grads, q_net.trainable_variables):
        if g is not None:
            v.assign_sub(0.05 * g)
    return loss


for k in range(3):
    batch = 8
    loss = update(
        tf.constant(rng.randn(batch, 4), tf.float32), tf.constant(rng.randint(0, 2, batch)),
        tf.constant(rng.rand(batch), tf.float32), tf.constant(rng.randn(batch, 4), tf.float32),
        tf.constant(rng.randint(0, 2, batch), tf.float32))
    print("update", k, "loss", float(loss))
