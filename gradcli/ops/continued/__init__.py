"""Operations of the table on complex numbers whose imaginary part is tiny, for the complex step.

| file | what it continues |
|---|---|
| elementary | functions that NumPy lacks, or that have a kink, overflow or cancel; arrays |
| special | special functions, those of Bessel of whole order; inverses, from what was computed |

A row names its function here (`Op.complex_form`). Special functions are SciPy's, or power series,
asymptotic series and integrals by quadrature: nothing knows a rule of the table. Formulas are
numbered as in the DLMF (dlmf.nist.gov). Where one loses its digits the value no longer is that of
the operation, and the complex step says that there is none.
"""

from __future__ import annotations

from gradcli.ops.continued import elementary, special

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradcli.ops.kinds import Op


def continued(op: Op) -> Callable[..., Any]:
    """Return the complex form of a row, of those that have one other than their own for arrays.

    It takes the operands, and the value that was computed if the row is `by_inverse`; of other than
    elementwise rows the row, the operands, the attributes and the value.
    """
    form = op.complex_form
    if not isinstance(form, str):
        return form
    found: Callable[..., Any] = getattr(elementary, form, None) or getattr(special, form)
    return found
