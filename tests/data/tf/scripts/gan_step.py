"""One step of a small GAN on points of a circle."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(0)


class Dense(tf.Module):
    def __init__(self, n_in, n_out, activation=tf.identity, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(rng.randn(n_in, n_out).astype("float32") * 0.5, name="w")
        self.b = tf.Variable(tf.zeros([n_out]), name="b")
        self.activation = activation

    def __call__(self, x):
        return self.activation(tf.matmul(x, self.w) + self.b)


class Net(tf.Module):
    def __init__(self, sizes, name=None):
        super().__init__(name=name)
        self.hidden = Dense(sizes[0], sizes[1], tf.nn.leaky_relu)
        self.out = Dense(sizes[1], sizes[2])

    def __call__(self, x):
        return self.out(self.hidden(x))


generator = Net([3, 8, 2], name="generator")
discriminator = Net([2, 8, 1], name="discriminator")
g_opt = tf.keras.optimizers.SGD(0.05)
d_opt = tf.keras.optimizers.SGD(0.05)


def bce(labels, logits):
    return tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))


def train_step(real, noise):
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        fake = generator(noise)
        real_output = discriminator(real)
        fake_output = discriminator(fake)
        gen_loss = bce(tf.ones_like(fake_output), fake_output)
        disc_loss = bce(tf.ones_like(real_output), real_output) + \
            bce(tf.zeros_like(fake_output), fake_output)
    g_grads = gen_tape.gradient(gen_loss, generator.trainable_variables)
    d_grads = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    g_opt.apply_gradients(zip(g_grads, generator.trainable_variables))
    d_opt.apply_gradients(zip(d_grads, discriminator.trainable_variables))
    return gen_loss, disc_loss


angle = rng.rand(16) * 2 * np.pi
real = tf.constant(np.stack([np.cos(angle), np.sin(angle)], 1), tf.float32)
for step in range(3):
    noise = tf.constant(rng.randn(16, 3), tf.float32)
    gen_loss, disc_loss = train_step(real, noise)
    print(f"step {step}: generator {float(gen_loss):.4f} discriminator {float(disc_loss):.4f}")
