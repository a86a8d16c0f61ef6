"""Why there is no gradient: the causes, where they stand, what to write instead.

`of_file` and `of_python` are the doors. Both make a `scene` of what ran, on which `causes` looks
for what holds (`cuts`: where all ways are cut; `watch_causes`: what is not watched); for a file
`fixes` proposes changes of its text (`moves`: lines put elsewhere) and `trials` finds out which of
them help.
"""
