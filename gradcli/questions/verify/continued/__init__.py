"""Operations of the table on complex numbers whose imaginary part is tiny, for the complex step.

| file | what it continues |
|---|---|
| elementwise | elementary functions that NumPy lacks, or that have a kink, overflow or cancel |
| gamma | gamma, its derivatives, zeta and beta; incomplete gamma and beta |
| errors | error functions, the normal distribution, Fresnel's integrals |
| integrals | exponential, logarithmic, trigonometric and hyperbolic integrals |
| elliptic | elliptic integrals |
| bessel | Bessel functions of whole order |
| inverse | what is found from the value that was computed |
| arrays | operations on whole arrays |

Special functions are power series, asymptotic series, integrals by quadrature (`sums`) and the
arithmetic-geometric mean: nothing of `gradcli.ops.table.special` and none of its rules. Formulas
are
numbered as in the DLMF (dlmf.nist.gov). Where one loses its digits the value no longer is that of
the operation, and the complex step says that there is none.
"""

from __future__ import annotations

from gradcli.questions.verify.continued.elementary import ARRAYS, CONTINUED
from gradcli.questions.verify.continued.special import (
    BESSEL,
    ELLIPTIC,
    ERRORS,
    GAMMA,
    INTEGRALS,
    INVERSES,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["ARRAYS", "CONTINUED", "INVERSES", "SPECIAL"]

SPECIAL: dict[str, Any] = {**GAMMA, **ERRORS, **INTEGRALS, **ELLIPTIC, **BESSEL}
