"""Optimal control: torques that bring a pendulum up."""

import numpy as np
import tensorflow as tf

STEPS, DT = 12, 0.1
torques = tf.Variable(tf.zeros([STEPS]))


def simulate(torques):
    theta, omega = tf.constant(np.pi - 0.5, tf.float32), tf.constant(0.0)
    path = []
    for k in range(STEPS):
        accel = 9.81 * tf.sin(theta) + torques[k]
        omega = omega + DT * accel
        theta = theta + DT * omega
        path.append(theta)
    return tf.stack(path)


def cost(path, torques):
    miss = tf.reduce_sum((path - np.pi) ** 2)
    effort = tf.reduce_sum(torques ** 2)
    return miss + 1e-3 * effort


def descend(steps, rate):
    for step in range(steps):
        with tf.GradientTape() as tape:
            path = simulate(torques)
            total = cost(path, torques)
        g = tape.gradient(total, torques)
        g = tf.clip_by_norm(g, 5.0)
        torques.assign_sub(rate * g)
        print(f"step {step}: cost {float(total):.4f}, |g| {float(tf.norm(g)):.4f}")


descend(3, 0.05)
print(np.round(torques.numpy(), 3))
