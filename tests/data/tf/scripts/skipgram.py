"""Word vectors by skip-gram with negative sampling."""

import numpy as np
import tensorflow as tf

text = "the cat sat on the mat the dog sat on the cat".split()
vocabulary = sorted(set(text))
index = {word: k for k, word in enumerate(vocabulary)}
ids = [index[word] for word in text]
rng = np.random.RandomState(30)
dim = 3
inputs = tf.Variable(rng.randn(len(vocabulary), dim).astype("float32") * 0.5)
outputs = tf.Variable(rng.randn(len(vocabulary), dim).astype("float32") * 0.5)
pairs = [(ids[k], ids[k + d]) for k in range(1, len(ids) - 1) for d in (-1, 1)]
center = np.array([p[0] for p in pairs])
context = np.array([p[1] for p in pairs])


def score(center, context):
    u = tf.nn.embedding_lookup(inputs, center)
    v = tf.nn.embedding_lookup(outputs, context)
    return tf.reduce_sum(u * v, axis=1)


def loss_of(center, context, noise):
    good = tf.math.log_sigmoid(score(center, context))
    bad = tf.math.log_sigmoid(-score(center, noise))
    return -tf.reduce_mean(good + bad)


for epoch in range(3):
    noise = rng.randint(0, len(vocabulary), len(pairs))
    with tf.GradientTape() as tape:
        loss = loss_of(center, context, noise)
    grads = tape.gradient(loss, [inputs, outputs])
    for v, g in zip([inputs, outputs], grads):
        v.assign_sub(1.0 * tf.convert_to_tensor(g))
    print(epoch, loss.numpy())
