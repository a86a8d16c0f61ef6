"""The rows of command lines by family: options, arguments, summaries, examples, and what is no use.

Those of grad, jac, hess, eval, why, run and ops, which others take over, stand in `cli.options`.
"""
