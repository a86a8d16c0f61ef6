"""Transfer learning on few data: a frozen base, a new head."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(6)


class Base(tf.Module):
    """Stands for a pretrained network."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable(rng.randn(8, 16).astype("float32") * 0.4, trainable=False)

    def __call__(self, x):
        return tf.nn.relu(tf.matmul(x, self.w))


class Head(tf.Module):
    def __init__(self, classes):
        super().__init__()
        self.kernel = tf.Variable(rng.randn(16, classes).astype("float32") * 0.1)
        self.bias = tf.Variable(tf.zeros([classes]))

    def __call__(self, features):
        return tf.matmul(features, self.kernel) + self.bias


class Classifier(tf.Module):
    def __init__(self):
        super().__init__()
        self.base = Base()
        self.head = Head(3)

    def __call__(self, x):
        features = tf.stop_gradient(self.base(x))
        logits = self.head(features)
        return logits


model = Classifier()
optimizer = tf.keras.optimizers.Adam(0.01)
x = tf.constant(rng.randn(24, 8), tf.float32)
y = tf.constant(rng.randint(0, 3, 24))
for epoch in range(3):
    with tf.GradientTape() as tape:
        logits = model(x)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=y, logits=logits))
    grads = tape.gradient(loss, model.head.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.head.trainable_variables))
    accuracy = tf.reduce_mean(tf.cast(tf.argmax(logits, 1) == y, tf.float32))
    print(f"{epoch}: loss {loss.numpy():.4f}, accuracy {accuracy.numpy():.3f}")
