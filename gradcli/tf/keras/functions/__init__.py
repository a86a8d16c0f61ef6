"""Functions of Keras: activations, losses, and those of `keras.backend` and `keras.ops`."""
