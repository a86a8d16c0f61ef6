"""One network, two heads: the loss of one reaches the kernel, that of the other does not."""

import tensorflow as tf

tf.random.set_seed(1)
x = tf.constant([[0.2, -0.4], [1.0, 0.5], [-0.3, 0.8]])
labels = tf.constant([0, 1, 1])
prices = tf.constant([1.0, 3.0, 2.0])


class Heads(tf.Module):
    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable([[1.0, 2.0], [0.5, 1.5]], name="kernel")
        self.bias = tf.Variable(tf.zeros([2]), name="bias")
        self.slope = tf.Variable(1.0, name="slope")

    def __call__(self, x):
        return tf.matmul(x, self.kernel) + self.bias


model = Heads()
with tf.GradientTape() as tape:
    logits = model(x)
    kinds = tf.argmax(logits, axis=1)
    guess = model.slope * tf.cast(kinds, tf.float32)
    loss = tf.reduce_mean((guess - prices) ** 2)
grads = tape.gradient(loss, model.trainable_variables)
print("loss", loss.numpy())
print([None if g is None else g.numpy().tolist() for g in grads])
