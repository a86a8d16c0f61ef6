"""Inverse kinematics of a planar arm: descend on the distance of the hand to a goal."""

import numpy as np
import tensorflow as tf

lengths = [1.0, 0.8, 0.5]
angles = tf.Variable([0.3, 0.4, 0.5])
goal = tf.constant([0.5, 1.6])


def hand(angles):
    total = tf.cumsum(angles)
    xs, ys = [], []
    for k, length in enumerate(lengths):
        xs.append(length * tf.cos(total[k]))
        ys.append(length * tf.sin(total[k]))
    position = tf.stack([tf.add_n(xs), tf.add_n(ys)])
    return position


def limits(angles):
    return tf.reduce_sum(tf.nn.relu(tf.abs(angles) - 2.5))


for k in range(6):
    with tf.GradientTape(persistent=True) as tape:
        where = hand(angles)
        distance = tf.reduce_sum((where - goal) ** 2)
        cost = distance + 0.1 * limits(angles)
    jacobian = tape.jacobian(where, angles)
    grad = tape.gradient(cost, angles)
    del tape
    angles.assign_sub(0.1 * grad)
    print(k, np.round(where.numpy(), 4), float(cost))
print("shape of the Jacobian", jacobian.shape)
