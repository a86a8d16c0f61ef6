"""The record: what ran, flat and in order, with its tensors, variables and operators."""
