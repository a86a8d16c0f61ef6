"""Derivatives as formulas: what the engine emits, made short and written in several languages.

`questions.derive` asks the engine, `build` turns the entries that it emits into terms, `algebra`
keeps terms simple, `textbook` finds the form that people read (of `factors`, sums of `monomials`,
and `identities`, as its `reader` likes it), `sharing` names what stands more than once, the
languages in `text` write. `nodes` are formulas that are evaluated, those of homework, and
`rounding` bounds their errors.
"""
