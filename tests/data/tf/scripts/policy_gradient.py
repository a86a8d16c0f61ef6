"""REINFORCE with a linear policy on a line of five cells."""

import numpy as np
import tensorflow as tf

N_STATES, N_ACTIONS = 5, 2
rng = np.random.RandomState(3)
theta = tf.Variable(tf.zeros([N_STATES, N_ACTIONS]))
baseline = tf.Variable(0.0)


def play():
    """One episode: states, actions, rewards."""
    state, states, actions, rewards = 2, [], [], []
    for _ in range(10):
        logits = theta.numpy()[state]
        p = np.exp(logits) / np.exp(logits).sum()
        action = int(rng.rand() < p[1])
        states.append(state)
        actions.append(action)
        state = min(max(state + (1 if action else -1), 0), N_STATES - 1)
        rewards.append(1.0 if state == N_STATES - 1 else 0.0)
    return states, actions, rewards


def returns_of(rewards, gamma=0.9):
    total, found = 0.0, []
    for r in reversed(rewards):
        total = r + gamma * total
        found.insert(0, total)
    return tf.constant(found, tf.float32)


for episode in range(5):
    states, actions, rewards = play()
    returns = returns_of(rewards)
    with tf.GradientTape() as tape:
        logits = tf.gather(theta, states)
        log_probs = tf.nn.log_softmax(logits)
        chosen = tf.reduce_sum(log_probs * tf.one_hot(actions, N_ACTIONS), axis=1)
        advantage = returns - tf.stop_gradient(baseline)
        policy_loss = -tf.reduce_mean(chosen * advantage)
        value_loss = tf.reduce_mean((returns - baseline) ** 2)
        loss = policy_loss + 0.5 * value_loss
    d_theta, d_baseline = tape.gradient(loss, [theta, baseline])
    theta.assign_sub(0.5 * tf.convert_to_tensor(d_theta))
    baseline.assign_sub(0.1 * d_baseline)
    print("episode", episode, "return", float(returns[0]), "loss", float(loss))
