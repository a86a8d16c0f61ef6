"""Operations of the table on complex numbers whose imaginary part is tiny, for the complex step.

| file | what it continues |
|---|---|
| elementary | functions that NumPy lacks, or that have a kink, overflow or cancel; arrays |
| special | special functions, those of Bessel of whole order; inverses, from what was computed |

Special functions are SciPy's, or power series, asymptotic series and integrals by quadrature:
nothing of `gradcli.ops` and none of its rules. Formulas are numbered as in the DLMF
(dlmf.nist.gov). Where one loses its digits the value no longer is that of the operation, and the
complex step says that there is none.
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
