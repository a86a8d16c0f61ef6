"""The engine: the record of what ran, and every walk over it.

Each folder may import those before it: `record` (what ran), `sweeps` (derivatives of it), `sparse`
(which entries depend on what), `compiled` (what ran, run again without the interpreter), `tapes`
(who asks). The files beside the folders stand on top.
"""
