"""Explanations of missing gradients: the causes, their locations, and fixes.

`file_scene` makes the scene of a file that ran, `gradcli.explain.python` that of Python code; on a
`scene`, `causes` looks for the causes that hold (`cuts`: where all paths are cut; `watches`: what
is not watched). For a `file`, `fixes` proposes changes of its text (`changes`, `line_edits`) and
tries which of them help (`harm`: and change nothing else).
"""
