"""Actor and critic share a body; one step of both."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(28)


class ActorCritic(tf.Module):
    def __init__(self, n_obs, n_actions):
        super().__init__()
        self.body = tf.Variable(rng.randn(n_obs, 8).astype("float32") * 0.4)
        self.actor = tf.Variable(rng.randn(8, n_actions).astype("float32") * 0.4)
        self.critic = tf.Variable(rng.randn(8, 1).astype("float32") * 0.4)

    def __call__(self, obs):
        h = tf.nn.relu(obs @ self.body)
        return h @ self.actor, tf.squeeze(h @ self.critic, axis=1)


def compute_loss(action_probs, values, returns):
    advantage = returns - values
    log_probs = tf.math.log(action_probs)
    actor_loss = -tf.reduce_sum(log_probs * tf.stop_gradient(advantage))
    critic_loss = tf.reduce_sum(tf.square(advantage))
    return actor_loss + 0.5 * critic_loss


model = ActorCritic(4, 3)
optimizer = tf.keras.optimizers.SGD(0.01)
for episode in range(3):
    obs = tf.constant(rng.randn(6, 4), tf.float32)
    actions = tf.constant(rng.randint(0, 3, 6))
    returns = tf.constant(rng.rand(6), tf.float32)
    with tf.GradientTape() as tape:
        logits, values = model(obs)
        probs = tf.nn.softmax(logits)
        picked = tf.gather(probs, actions, batch_dims=1, axis=1)
        loss = compute_loss(picked, values, returns)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print("episode", episode, "loss", float(loss))
