"""The engine: the record of operations that ran, and every walk over it.

Each folder may import those before it: `record` (tensors and entries), `sweeps` (derivatives),
`sparse` (their structure), `compiled` (records run again without the interpreter), `tapes` (what a
user asks of a record). The files beside the folders stand on top.
"""
