"""Points where a slope jumps: a derivative there is a convention, and no answer is held to one."""

from __future__ import annotations

from gradcli.base.lazy import np
from gradcli.formulas.rounding import Values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gradcli.formulas.nodes import Formula

# How far beside the point, and which share of a slope is a jump.
STEPS, JUMP = (1e-9, 1e-12), 1e-3


def corner(formula: Formula, slopes: Sequence[int], at: Mapping[str, float], names: Iterable[str]
           ) -> str | None:
    """The first of the names along which one of the slopes has different limits from both sides."""
    for name in names:
        value = at[name]
        scale = abs(value) or 1.0
        with np.errstate(all="ignore"):
            beside = [[np.asarray(v, float) for v in Values(
                formula, {**at, name: np.array([value + sign*step*scale for step in STEPS])}
                ).plain(slopes)] for sign in (-1.0, 1.0)]
            for low, high in zip(*beside, strict=True):
                # A slope that is the same everywhere has no array.
                if not low.ndim or not high.ndim:
                    continue
                near = JUMP*np.maximum(np.abs(low[1]), np.abs(high[1]))
                settled = abs(low[0] - low[1]) < near/10 and abs(high[0] - high[1]) < near/10
                if settled and abs(low[1] - high[1]) > near:
                    return name
    return None
