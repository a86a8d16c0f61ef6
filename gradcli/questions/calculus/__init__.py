"""Calculus with a program: each command a few lines over gradients, Jacobians and Hessians.

Each function takes a `Question` and returns plain data in the shape of `gradcli/schemas`.
"""
