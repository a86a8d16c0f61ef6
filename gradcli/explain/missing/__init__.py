"""Explanations of missing gradients: the causes, their locations, and fixes.

`file_scene` makes the scene of a file that ran, `gradcli.explain.python` that of Python code; on a
`scene`, `causes` looks for the causes that hold, in the `sources` or in `cut_paths` (`cuts`: the
smallest ones). `changes` are those of the text, and `file` tries which of them help and change
nothing else.
"""
