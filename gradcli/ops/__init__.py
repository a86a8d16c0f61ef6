"""The operation table. `lookup(name)` finds a row by name or alias; `TABLE` lists all rows."""

from __future__ import annotations

from gradcli.ops import (  # noqa: F401 -- importing a module fills the table
    arrangement,
    clipping,
    complex_numbers,
    convolution,
    creation,
    decompositions,
    discrete,
    elementwise,
    linalg,
    losses,
    matrices,
    matrix_functions,
    nn,
    reductions,
    scans,
    selection,
    shapes,
    singular_values,
    special,
    special_forms,
    systems,
)
from gradcli.ops.kinds import NAMES, TABLE, Op

__all__ = ["INTERNAL", "NAMES", "PUBLIC", "TABLE", "Op", "lookup"]

INTERNAL = frozenset((
    "add_along_axis", "align", "cast_float", "cast_other", "cofactor", "cofactor_slope",
    "contraction", "convolve", "convolve_input", "convolve_kernel", "det_sign", "eigh_packed",
    "excess", "index", "inverse_gaps", "left_engine", "lowered_exponent", "modulus",
    "one_minus_square", "overwrite", "pool_max", "pool_put", "pool_take", "put", "put_diagonal",
    "qr_packed", "rebatch", "recurrence", "running_logsumexp", "running_place", "running_product",
    "segment_largest", "segment_share", "segment_smallest", "shifted", "spread", "sum_batch",
    "sum_to", "svd_packed", "unbatch"))
"""Rows that only rules and the interpreter use: no file can call them, `gradcli ops` is silent."""

PUBLIC = {name: op for name, op in NAMES.items() if op.name not in INTERNAL}
"""Every name that a file can call."""


def lookup(name: str) -> Op | None:
    """The operation of this name or alias that a file can call."""
    return PUBLIC.get(name)


def __getattr__(name: str) -> Op:
    """`gradcli.ops.sin`: the operations as attributes, by name or alias."""
    op = PUBLIC.get(name)
    if op is None:
        raise AttributeError(f"there is no operation '{name}'")
    return op


def __dir__() -> list[str]:
    return sorted({*globals(), *PUBLIC})
