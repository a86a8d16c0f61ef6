"""Two losses, two tapes, one input: sensitivity of a price and of its risk."""

import numpy as np
import tensorflow as tf

spot = tf.constant(100.0)
volatility = tf.constant(0.2)
strike, rate, maturity = 105.0, 0.01, 1.0


def normal_cdf(x):
    return 0.5 * (1.0 + tf.math.erf(x / np.sqrt(2.0).astype(np.float32)))


def black_scholes(s, sigma):
    root = sigma * np.float32(np.sqrt(maturity))
    d1 = (tf.math.log(s / strike) + (rate + 0.5 * sigma ** 2) * maturity) / root
    d2 = d1 - root
    return s * normal_cdf(d1) - strike * np.float32(np.exp(-rate * maturity)) * normal_cdf(d2)


with tf.GradientTape() as price_tape, tf.GradientTape() as risk_tape:
    price_tape.watch(spot)
    risk_tape.watch(volatility)
    price = black_scholes(spot, volatility)
delta = price_tape.gradient(price, spot)
vega = risk_tape.gradient(price, volatility)
print("price", price.numpy())
print("delta", None if delta is None else delta.numpy())
print("vega", None if vega is None else vega.numpy())

with tf.GradientTape() as outer:
    outer.watch(spot)
    with tf.GradientTape() as inner:
        inner.watch(spot)
        price = black_scholes(spot, volatility)
    delta = inner.gradient(price, spot)
gamma = outer.gradient(delta, spot)
print("gamma", gamma.numpy())
