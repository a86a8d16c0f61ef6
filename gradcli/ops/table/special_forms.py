"""Further forms of the special functions: the normal distribution, regularised, scaled, and of
fixed order, as TensorFlow and SciPy name them.

Parameters that TensorFlow gives no derivative (betainc in a and b, zeta in x) have the role of an
index.
"""

from __future__ import annotations

import math

from gradcli.ops.kinds import composite, elementwise
from gradcli.ops.table.discrete import less
from gradcli.ops.table.elementwise import exp, maximum, minimum, square, where, xlog1py, xlogy
from gradcli.ops.table.special import (
    INDEX_FIRST,
    ORDER,
    POSITIVE,
    REAL,
    besseli,
    besselj,
    besselk,
    bessely,
    digamma,
    erfcx,
    gamma,
    gammainc_log,
    gammaincl_log,
    lbeta,
    lgamma,
    of_special,
    sphericalj,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.ops.kinds import Op


sinc = elementwise(
    "sinc", "x", lambda x, ans: -3.141592653589793 * sphericalj(1.0, 3.141592653589793 * x),
    floats=of_special("sinc"), samples=((-0.6, 0.6),),
    latex=r"\operatorname{{sinc}}\left({0}\right)", doc="sin(pi*x)/(pi*x), 1 at 0, as in NumPy",
    traits="even", names="numpy", complex_form="sinc", reference="mp.sincpi(x)")

# --- the normal distribution ------------------------------------------------------------------

ndtr = elementwise(
    "ndtr", "x", lambda x, ans: 0.3989422804014327 * exp(-0.5 * square(x)), aliases="norm_cdf",
    floats=lambda x: 0.5 * math.erfc(-0.7071067811865476 * x), samples=REAL,
    latex=r"\Phi\left({0}\right)", doc="the normal distribution function, (1 + erf(x/sqrt(2)))/2",
    traits="vanishing never_zero never_flat", complex_form="ndtr", reference="mp.ncdf(x)")
ndtri = elementwise(
    "ndtri", "x", lambda x, ans: 2.5066282746310002 * exp(0.5 * square(ans)),
    floats=of_special("ndtri"), samples=((0.05, 0.95),), latex=r"\Phi^{{-1}}\left({0}\right)",
    domain="0 <= x <= 1", kinks="slope inf at 0 and 1", doc="the inverse of ndtr, exact near 0",
    complex_form="ndtri", traits="by_inverse", reference="mp.sqrt(2) * mp.erfinv(2 * x - 1)",
    guard={"inside": "clip({}, 1e-12, 1 - 1e-12)", "harmless": "0.5"})
# The slope is the density over ndtr; for negative x both vanish, but erfcx does not.
log_ndtr = elementwise(
    "log_ndtr", "x",
    lambda x, ans: where(
        less(x, 0.0), 0.7978845608028654 / erfcx(-0.7071067811865476 * minimum(x, 0.0)),
        0.3989422804014327 * exp(-0.5 * square(maximum(x, 0.0))) / ndtr(maximum(x, 0.0))),
    floats=of_special("log_ndtr"), samples=REAL, latex=r"\ln \Phi\left({0}\right)",
    doc="log(ndtr(x)), also where ndtr underflows", traits="never_flat", complex_form="log_ndtr",
    reference="mp.ln(mp.ncdf(x))")

# --- regularised incomplete functions ---------------------------------------------------------

# In a the difference is taken on the side where its terms are small.
igamma = elementwise(
    "igamma", "a x",
    lambda a, x, ans: where(
        less(x, a), gammaincl_log(1.0, a, x) / gamma(a) - ans * digamma(a),
        igammac(a, x) * digamma(a) - gammainc_log(1.0, a, x) / gamma(a)),
    lambda a, x, ans: exp(xlogy(a - 1.0, x) - x - lgamma(a)),
    floats=of_special("igamma"), samples=POSITIVE * 2, latex=r"P\left({0}, {1}\right)",
    domain="0 < a <= 1e8, x >= 0; a < 171 for the slope in a",
    doc="regularised lower incomplete gamma function, from 0 to 1 (DLMF 8.2.4)",
    complex_form="igamma", reference="mp.gammainc(a, 0, x, regularized=True)")
igammac = elementwise(
    "igammac", "a x",
    lambda a, x, ans: where(
        less(x, a), igamma(a, x) * digamma(a) - gammaincl_log(1.0, a, x) / gamma(a),
        gammainc_log(1.0, a, x) / gamma(a) - ans * digamma(a)),
    lambda a, x, ans: -exp(xlogy(a - 1.0, x) - x - lgamma(a)),
    floats=of_special("igammac"), samples=POSITIVE * 2, latex=r"Q\left({0}, {1}\right)",
    domain="0 < a <= 1e8, x >= 0; a < 171 for the slope in a",
    doc="regularised upper incomplete gamma function, 1 - igamma(a, x) (DLMF 8.2.4)",
    complex_form="igammac", reference="mp.gammainc(a, x, mp.inf, regularized=True)")
betainc = elementwise(
    "betainc", "a b x", None, None,
    lambda a, b, x, ans: exp(xlogy(a - 1.0, x) + xlog1py(b - 1.0, -x) - lbeta(a / 1.0, b / 1.0)),
    roles=("index", "index", "data"), floats=of_special("betainc"),
    samples=((1.0, 4.0), (1.0, 4.0), (0.1, 0.9)), latex=r"I_{{{2}}}\left({0}, {1}\right)",
    domain="a, b > 0; 0 <= x <= 1",
    doc="regularised incomplete beta function (DLMF 8.17.2), with a slope in x only",
    complex_form="betainc", reference="mp.betainc(a, b, 0, x, regularized=True)")
zeta = elementwise(
    "zeta", "x q", None, lambda x, q, ans: -(x * zeta(x + 1.0, q)), roles=INDEX_FIRST,
    floats=of_special("zeta"), samples=((2.0, 6.0), POSITIVE[0]),
    latex=r"\zeta\left({0}, {1}\right)", domain="x > 1, q > 0",
    doc="Hurwitz' zeta function, the sum of (q + k)^-x (DLMF 25.11.1), with a slope in q only",
    names="sympy", complex_form="zeta")

# --- Bessel functions of fixed order, and without their exponential ---------------------------

besselie = elementwise(
    "besselie", "n x", None, lambda n, x, ans: besselie_derivative(1.0, n, x),
    aliases="ive", roles=INDEX_FIRST, floats=of_special("besselie"), samples=(ORDER, POSITIVE[0]),
    latex=r"e^{{-\left|{1}\right|}} I_{{{0}}}\left({1}\right)", domain="n whole, or x >= 0",
    kinks="slope of the exponential 0 at 0", doc="exp(-|x|)*besseli(n, x), without overflow",
    complex_form="besselie", reference="mp.exp(-mp.fabs(x)) * mp.besseli(n, x)")
besselke = elementwise(
    "besselke", "n x", None, lambda n, x, ans: besselke_derivative(1.0, n, x),
    aliases="kve", roles=INDEX_FIRST, floats=of_special("besselke"), samples=(ORDER, POSITIVE[0]),
    latex=r"e^{{{1}}} K_{{{0}}}\left({1}\right)", domain="x > 0",
    doc="exp(x)*besselk(n, x), without underflow", complex_form="besselke")


def _derivative(name: str, rule: Any, symbol: str) -> Op:
    return elementwise(
        f"{name}_derivative", "k n x", None, None, rule, roles=("index", "index", "data"),
        floats=of_special(f"{name}_derivative"), samples=(ORDER, ORDER, POSITIVE[0]),
        latex=r"\frac{{\mathrm{{d}}^{{{0}}}}}{{\mathrm{{d}}{2}^{{{0}}}}} " + symbol,
        doc=f"the k-th derivative of {name}(n, x)", internal=True)


# Rows of their own: the neighbouring orders and the function itself cancel far out.
besselie_derivative = _derivative(
    "besselie", lambda k, n, x, ans: besselie_derivative(k + 1.0, n, x),
    r"e^{{-\left|{2}\right|}} I_{{{1}}}\left({2}\right)")
besselke_derivative = _derivative(
    "besselke", lambda k, n, x, ans: besselke_derivative(k + 1.0, n, x),
    r"e^{{{2}}} K_{{{1}}}\left({2}\right)")


def _fixed(name: str, row: Op, order: float, **fields: Any) -> Op:
    return composite(
        name, "x", lambda x: row(order, x), samples=POSITIVE, **fields,
        latex=row.latex.replace("{0}", f"{order:.0f}").replace("{1}", "{0}"),
        doc=f"{row.name}({order:.0f}, x)")


bessel_j0 = _fixed("bessel_j0", besselj, 0.0, traits="even", names="c:j0")
bessel_j1 = _fixed("bessel_j1", besselj, 1.0, names="c:j1")
bessel_y0 = _fixed("bessel_y0", bessely, 0.0, domain="x > 0", names="c:y0")
bessel_y1 = _fixed("bessel_y1", bessely, 1.0, domain="x > 0", names="c:y1")
bessel_i0 = _fixed("bessel_i0", besseli, 0.0)
bessel_i1 = _fixed("bessel_i1", besseli, 1.0)
bessel_k0 = _fixed("bessel_k0", besselk, 0.0, domain="x > 0")
bessel_k1 = _fixed("bessel_k1", besselk, 1.0, domain="x > 0")
bessel_i0e = _fixed("bessel_i0e", besselie, 0.0)
bessel_i1e = _fixed("bessel_i1e", besselie, 1.0)
bessel_k0e = _fixed("bessel_k0e", besselke, 0.0, domain="x > 0")
bessel_k1e = _fixed("bessel_k1e", besselke, 1.0, domain="x > 0")
