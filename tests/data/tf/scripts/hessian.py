"""Newton's method: gradient and Hessian by nested tapes."""

import tensorflow as tf

A = tf.constant([[3.0, 1.0], [1.0, 2.0]])
b = tf.constant([1.0, -1.0])


def cost(x):
    quadratic = 0.5 * tf.tensordot(x, tf.linalg.matvec(A, x), 1)
    quartic = 0.25 * tf.reduce_sum(x ** 4)
    return quadratic + quartic - tf.tensordot(b, x, 1)


def newton_step(x):
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            value = cost(x)
        gradient = inner.gradient(value, x)
        parts = tf.unstack(gradient)
    rows = [outer.gradient(part, x) for part in parts]
    hessian = tf.stack(rows)
    step = tf.linalg.solve(hessian, gradient[:, None])[:, 0]
    return value, gradient, x - step


x = tf.Variable([1.5, 1.0])
for iteration in range(4):
    value, gradient, new = newton_step(x)
    print(f"{iteration}: f = {value.numpy():.6f}, |g| = {tf.norm(gradient).numpy():.6f}")
    x.assign(new)
print(x.numpy())
