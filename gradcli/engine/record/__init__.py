"""The record: the operations that ran, flat and in order, with tensors, variables and operators."""
