"""Special functions: gamma and its kin, error functions, integrals, Bessel functions; and their
forms that TensorFlow and SciPy name: regularised, scaled, of fixed order, the normal distribution.

The values come from `ops.special`, loaded when first asked for, and with them SciPy: plain
functions on floats, applied element by element to arrays. Rules are closed forms in operations of
this table, so that derivatives of any order follow. Orders carry no derivative: their
role is index. An order may be an integer tensor, and types do not mix: a rule meets it in
arithmetic with whole numbers or as a quotient (n / 1.0), which is a float. Parameters that
TensorFlow gives no derivative (betainc in a and b, zeta in x) have that role, too.
Sources: DLMF, as noted with each row.
"""

from __future__ import annotations

import math

from gradcli.base.errors import error
from gradcli.ops.kinds import composite, elementwise
from gradcli.ops.table.discrete import equal, less
from gradcli.ops.table.elementwise import (
    absolute,
    exp,
    log,
    maximum,
    minimum,
    power,
    sqrt,
    square,
    where,
    xlog1py,
    xlogy,
)
from gradcli.ops.table.hyperbolic import cosh, sinh
from gradcli.ops.table.shapes import REAL
from gradcli.ops.table.trigonometric import cos, sin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.ops.kinds import Op


POSITIVE = ((0.3, 4.0),)
ORDER = (0.0, 4.0)
INDEX_FIRST = ("index", "data")


def of_special(name: str) -> Any:
    """Return the function of this name in `ops.special`, which is loaded when it is first called:
    most files need none of it. Raises E0407 where it is one of SciPy's, and that is not installed.
    """
    function: Any = None

    def call(*values: float) -> Any:
        nonlocal function
        try:
            if function is None:
                from gradcli.ops.special import derivatives, floats

                function = getattr(floats, name, None) or getattr(derivatives, name)
            return function(*values)
        except ImportError:
            raise error("E0407", f"`{name}` needs SciPy, which is not installed",
                        help="pip install scipy", about=("callee", None)) from None

    return call


# --- gamma functions --------------------------------------------------------------------------

polygamma = elementwise(
    "polygamma", "n x", None, lambda n, x, ans: polygamma(n + 1.0, x), roles=INDEX_FIRST,
    floats=of_special("polygamma"), samples=(ORDER, POSITIVE[0]),
    latex=r"\psi^{{({0})}}\left({1}\right)", domain="n = 0, 1, 2, ...; x != 0, -1, -2, ...",
    doc="the n-th derivative of digamma (DLMF 5.15)", names="sympy", complex_form="polygamma",
    reference="mp.polygamma(int(n), x)")
digamma = elementwise(
    "digamma", "x", lambda x, ans: polygamma(1.0, x), aliases="psi",
    floats=of_special("digamma"), samples=POSITIVE, latex=r"\psi\left({0}\right)",
    domain="x != 0, -1, -2, ...", doc="the derivative of lgamma (DLMF 5.2.2)", names="sympy",
    complex_form="digamma")
gamma = elementwise(
    "gamma", "x", lambda x, ans: ans * digamma(x), aliases="tgamma",
    floats=of_special("gamma"), samples=POSITIVE, latex=r"\Gamma\left({0}\right)",
    domain="x != 0, -1, -2, ...", doc="gamma function, (x-1)! (DLMF 5.2.1)",
    traits="vanishing never_zero", whole={1: 1, 2: 1}, names="c:tgamma sympy math",
    complex_form="gamma")
lgamma = elementwise(
    "lgamma", "x", lambda x, ans: digamma(x), aliases="gammaln loggamma",
    floats=of_special("lgamma"), samples=POSITIVE,
    latex=r"\ln\left|\Gamma\left({0}\right)\right|", domain="x != 0, -1, -2, ...",
    doc="logarithm of |gamma(x)|, without overflow", names="c sympy:loggamma math",
    complex_form="lgamma", reference="mp.ln(mp.gamma(x))", guard={"inside": "maximum({}, 1e-12)"})
# A row of its own: the two differ by next to nothing where d is small beside x.
polygamma_difference = elementwise(
    "polygamma_difference", "n x d", None,
    lambda n, x, d, ans: polygamma_difference(n + 1.0, x, d),
    lambda n, x, d, ans: -polygamma(n + 1.0, x + d),
    roles=("index", "data", "data"), floats=of_special("polygamma_difference"),
    samples=(ORDER, *POSITIVE * 2),
    latex=r"\psi^{{({0})}}\left({1}\right) - \psi^{{({0})}}\left({1} + {2}\right)",
    doc="polygamma(n, x) - polygamma(n, x + d) without cancellation", internal=True,
    complex_form="polygamma_difference",
    reference="mp.polygamma(int(n), x) - mp.polygamma(int(n), x + d)")
beta = elementwise(
    "beta", "a b",
    lambda a, b, ans: ans * polygamma_difference(0.0, a, b),
    lambda a, b, ans: ans * polygamma_difference(0.0, b, a),
    floats=of_special("beta"), samples=POSITIVE * 2,
    latex=r"\mathrm{{B}}\left({0}, {1}\right)", domain="a, b != 0, -1, -2, ...",
    doc="gamma(a)*gamma(b)/gamma(a + b) (DLMF 5.12.1)", names="sympy", complex_form="beta")
lbeta = elementwise(
    "lbeta", "a b",
    lambda a, b, ans: polygamma_difference(0.0, a, b),
    lambda a, b, ans: polygamma_difference(0.0, b, a), aliases="betaln",
    floats=of_special("lbeta"), samples=POSITIVE * 2,
    latex=r"\ln\left|\mathrm{{B}}\left({0}, {1}\right)\right|", domain="a, b != 0, -1, -2, ...",
    doc="logarithm of |beta(a, b)|, without underflow", complex_form="lbeta",
    reference="mp.ln(mp.beta(a, b))")
gammainc = elementwise(
    "gammainc", "a x",
    lambda a, x, ans: gammainc_log(1.0, a, x),
    lambda a, x, ans: -exp(xlogy(a - 1.0, x) - x), aliases="gammaincu",
    floats=of_special("gammainc"), samples=POSITIVE * 2,
    latex=r"\Gamma\left({0}, {1}\right)", domain="a >= 0, x > 0",
    doc="upper incomplete gamma function, not regularised (DLMF 8.2.2)", complex_form="gammainc",
    reference="mp.gammainc(a, x, mp.inf)")
gammaincl = elementwise(
    "gammaincl", "a x",
    lambda a, x, ans: gammaincl_log(1.0, a, x),
    lambda a, x, ans: exp(xlogy(a - 1.0, x) - x),
    floats=of_special("gammaincl"), samples=POSITIVE * 2,
    latex=r"\gamma\left({0}, {1}\right)", domain="a > 0, x >= 0",
    doc="lower incomplete gamma function, not regularised (DLMF 8.2.1)", complex_form="gammaincl",
    reference="mp.gammainc(a, 0, x)")
gammainc_log = elementwise(
    "gammainc_log", "n a x", None,
    lambda n, a, x, ans: gammainc_log(n + 1.0, a, x),
    lambda n, a, x, ans: -power(log(x), n / 1.0) * exp(xlogy(a - 1.0, x) - x),
    roles=("index", "data", "data"), floats=of_special("gammainc_log"),
    samples=(ORDER, *POSITIVE * 2),
    latex=r"\int_{{{2}}}^\infty \ln^{{{0}}}(t)\, t^{{{1} - 1}} e^{{-t}} \,\mathrm{{d}}t",
    domain="n = 0, 1, 2, ...; x > 0", doc="the n-th derivative of gammainc(a, x) in a")
gammaincl_log = elementwise(
    "gammaincl_log", "n a x", None,
    lambda n, a, x, ans: gammaincl_log(n + 1.0, a, x),
    lambda n, a, x, ans: power(log(x), n / 1.0) * exp(xlogy(a - 1.0, x) - x),
    roles=("index", "data", "data"), floats=of_special("gammaincl_log"),
    samples=(ORDER, *POSITIVE * 2),
    latex=r"\int_0^{{{2}}} \ln^{{{0}}}(t)\, t^{{{1} - 1}} e^{{-t}} \,\mathrm{{d}}t",
    domain="n = 0, 1, 2, ...; a > 0, x > 0", doc="the n-th derivative of gammaincl(a, x) in a")

# --- error functions --------------------------------------------------------------------------

erfinv = elementwise(
    "erfinv", "x", lambda x, ans: 0.8862269254527580 * exp(square(ans)),
    aliases="erf_inv", floats=of_special("erfinv"), samples=((-0.9, 0.9),),
    latex=r"\operatorname{{erf}}^{{-1}}\left({0}\right)", domain="-1 <= x <= 1",
    kinks="slope inf at -1 and 1", doc="inverse of erf (DLMF 7.17)", traits="odd by_inverse",
    names="sympy", complex_form="erfinv",
    guard={"inside": "clip({}, -1 + 1e-12, 1 - 1e-12)", "harmless": "0"})
erfcinv = elementwise(
    "erfcinv", "x", lambda x, ans: -0.8862269254527580 * exp(square(ans)),
    floats=of_special("erfcinv"), samples=((0.1, 1.9),),
    latex=r"\operatorname{{erfc}}^{{-1}}\left({0}\right)", domain="0 <= x <= 2",
    kinks="slope -inf at 0 and 2", doc="inverse of erfc, exact near 0 (DLMF 7.17)", names="sympy",
    complex_form="erfcinv", traits="by_inverse", reference="mp.erfinv(1 - x)",
    guard={"inside": "clip({}, 1e-12, 2 - 1e-12)", "harmless": "1"})
erfcx = elementwise(
    "erfcx", "x", lambda x, ans: erfcx_derivative(1.0, x),
    floats=of_special("erfcx"), samples=REAL, latex=r"\operatorname{{erfcx}}\left({0}\right)",
    doc="exp(x^2)*erfc(x) without overflow for positive x (DLMF 7.2)", traits="never_flat growing",
    complex_form="erfcx", reference="mp.exp(x * x) * mp.erfc(x)")
erfcx_derivative = elementwise(
    "erfcx_derivative", "n x", None, lambda n, x, ans: erfcx_derivative(n + 1.0, x),
    roles=INDEX_FIRST, floats=of_special("erfcx_derivative"), samples=(ORDER, REAL[0]),
    latex=r"\operatorname{{erfcx}}^{{({0})}}\left({1}\right)", domain="n = 0, 1, 2, ...",
    doc="the n-th derivative of erfcx (DLMF 7.18.4)")
erfi = elementwise(
    "erfi", "x", lambda x, ans: 1.1283791670955126 * exp(square(x)),
    floats=of_special("erfi"), samples=REAL, latex=r"\operatorname{{erfi}}\left({0}\right)",
    doc="imaginary error function, -i*erf(i*x) (DLMF 7.5.1)", traits="growing odd", names="sympy",
    complex_form="erfi")
dawsn = elementwise(
    "dawsn", "x", lambda x, ans: dawsn_derivative(1.0, x), aliases="dawson",
    floats=of_special("dawsn"), samples=REAL, latex=r"F\left({0}\right)",
    doc="Dawson's integral, exp(-x^2) times the integral of exp(t^2) (DLMF 7.2.5)", traits="odd",
    complex_form="dawsn", reference="mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)")
dawsn_derivative = elementwise(
    "dawsn_derivative", "n x", None, lambda n, x, ans: dawsn_derivative(n + 1.0, x),
    roles=INDEX_FIRST, floats=of_special("dawsn_derivative"), samples=(ORDER, REAL[0]),
    latex=r"F^{{({0})}}\left({1}\right)", domain="n = 0, 1, 2, ...",
    doc="the n-th derivative of Dawson's integral (DLMF 7.10)")

# --- integrals and inverses -------------------------------------------------------------------

ci = elementwise(
    "ci", "x", lambda x, ans: cos(x) / x, aliases="cosint",
    floats=of_special("ci"), samples=POSITIVE, latex=r"\operatorname{{Ci}}\left({0}\right)",
    domain="x > 0; below, the real part", doc="cosine integral (DLMF 6.2.11)", names="sympy:Ci",
    complex_form="ci")
si = elementwise(
    "si", "x", lambda x, ans: sphericalj(0.0, x), aliases="sinint",
    floats=of_special("si"), samples=REAL, latex=r"\operatorname{{Si}}\left({0}\right)",
    doc="sine integral, of sin(t)/t from 0 to x (DLMF 6.2.9)", names="sympy:Si", complex_form="si")
ei = elementwise(
    "ei", "x", lambda x, ans: exp(x) / x, aliases="Ei",
    floats=of_special("ei"), samples=POSITIVE, latex=r"\operatorname{{Ei}}\left({0}\right)",
    domain="x != 0", doc="exponential integral, of exp(t)/t up to x (DLMF 6.2.5)", names="sympy:Ei",
    complex_form="ei")
e1 = elementwise(
    "e1", "x", lambda x, ans: -exp(-x) / x, aliases="E1",
    floats=of_special("e1"), samples=POSITIVE, latex=r"E_1\left({0}\right)",
    domain="x > 0; below, the real part", doc="integral of exp(-t)/t from x on (DLMF 6.2.1)",
    complex_form="e1")
li = elementwise(
    "li", "x", lambda x, ans: 1 / log(x), aliases="logint",
    floats=of_special("li"), samples=((1.3, 4.0),), latex=r"\operatorname{{li}}\left({0}\right)",
    domain="x >= 0, x != 1", doc="logarithmic integral, of 1/log(t) from 0 to x (DLMF 6.2.8)",
    names="sympy", complex_form="li")
shi = elementwise(
    "shi", "x", lambda x, ans: where(equal(x, 0.0), 1.0, sinh(x) / where(equal(x, 0.0), 1.0, x)),
    floats=of_special("shi"), samples=POSITIVE, latex=r"\operatorname{{Shi}}\left({0}\right)",
    doc="hyperbolic sine integral, of sinh(t)/t from 0 to x (DLMF 6.2.15)", names="sympy:Shi",
    complex_form="shi")
chi = elementwise(
    "chi", "x", lambda x, ans: cosh(x) / x,
    floats=of_special("chi"), samples=POSITIVE, latex=r"\operatorname{{Chi}}\left({0}\right)",
    domain="x > 0; below, the real part", doc="hyperbolic cosine integral (DLMF 6.2.16)",
    names="sympy:Chi", complex_form="chi")
fresnels = elementwise(
    "fresnels", "x", lambda x, ans: sin(1.5707963267948966 * square(x)),
    floats=of_special("fresnels"), samples=REAL, latex=r"S\left({0}\right)",
    doc="integral of sin(pi*t^2/2) from 0 to x (DLMF 7.2.8)", traits="odd", names="sympy",
    complex_form="fresnels")
fresnelc = elementwise(
    "fresnelc", "x", lambda x, ans: cos(1.5707963267948966 * square(x)),
    floats=of_special("fresnelc"), samples=REAL, latex=r"C\left({0}\right)",
    doc="integral of cos(pi*t^2/2) from 0 to x (DLMF 7.2.7)", traits="odd", names="sympy",
    complex_form="fresnelc")
lambertw = elementwise(
    "lambertw", "x", lambda x, ans: exp(-ans) / (1.0 + ans),
    floats=of_special("lambertw"), samples=((-0.3, 4.0),), latex=r"W\left({0}\right)",
    domain="x >= -1/e", kinks="slope inf at -1/e",
    doc="the w >= -1 with w*exp(w) = x (DLMF 4.13)", names="sympy:LambertW",
    complex_form="lambertw", traits="by_inverse", reference="mp.lambertw(x).real")

# --- elliptic integrals, in the parameter m = k^2 ---------------------------------------------

# Derivatives in m are moments, regular at m = 0, where (E - (1-m)*K)/m is 0/0.
ellipk = elementwise(
    "ellipk", "m", lambda m, ans: 0.5 * elliptic_moment(1.0, 1.0, 1.5707963267948966, m),
    floats=of_special("ellipk"), samples=((-2.0, 0.8),), latex=r"K\left({0}\right)", domain="m < 1",
    doc="complete elliptic integral of the first kind (DLMF 19.2.8), m = k^2",
    complex_form="ellipk")
ellipe_complete = elementwise(
    "ellipe_complete", "m",
    lambda m, ans: -0.5 * elliptic_moment(1.0, 0.0, 1.5707963267948966, m),
    floats=of_special("ellipe_complete"), samples=((-2.0, 0.8),), latex=r"E\left({0}\right)",
    domain="m <= 1", doc="complete elliptic integral of the second kind (DLMF 19.2.8), m = k^2",
    complex_form="ellipe", reference="mp.ellipe(m)")
ellipf = elementwise(
    "ellipf", "phi m",
    lambda phi, m, ans: 1.0 / sqrt(1.0 - m * square(sin(phi))),
    lambda phi, m, ans: 0.5 * elliptic_moment(1.0, 1.0, phi, m), aliases="ellipkinc",
    floats=of_special("ellipf"), samples=((-1.5, 1.5), (-2.0, 0.8)),
    latex=r"F\left({0} \mid {1}\right)", domain="m*sin(phi)^2 < 1",
    doc="incomplete elliptic integral of the first kind (DLMF 19.2.4), m = k^2",
    complex_form="ellipf")
ellipe_incomplete = elementwise(
    "ellipe_incomplete", "phi m",
    lambda phi, m, ans: sqrt(1.0 - m * square(sin(phi))),
    lambda phi, m, ans: -0.5 * elliptic_moment(1.0, 0.0, phi, m), aliases="ellipeinc",
    floats=of_special("ellipe"), samples=((-1.5, 1.5), (-2.0, 0.8)),
    latex=r"E\left({0} \mid {1}\right)", domain="m*sin(phi)^2 <= 1",
    doc="incomplete elliptic integral of the second kind (DLMF 19.2.5), m = k^2",
    complex_form="ellipe_incomplete", reference="mp.ellipe(phi, m)")
elliptic_moment = elementwise(
    "elliptic_moment", "k j phi m", None, None,
    lambda k, j, phi, m, ans: power(square(sin(phi)), k / 1.0)
    / power(1.0 - m * square(sin(phi)), (2.0 * j + 1.0) / 2.0),
    lambda k, j, phi, m, ans: (2.0 * j + 1.0) / 2.0 * elliptic_moment(k + 1.0, j + 1.0, phi, m),
    roles=("index", "index", "data", "data"), floats=of_special("elliptic_moment"),
    samples=(ORDER, (-1.0, 2.0), (-1.5, 1.5), (-2.0, 0.8)),
    latex=r"\int_0^{{{2}}} \frac{{\sin^{{2 \cdot {0}}} t \,\mathrm{{d}}t}}"
    r"{{(1 - {3} \sin^2 t)^{{{1} + 1/2}}}}", domain="k, j whole, k >= 0; m*sin(phi)^2 < 1",
    doc="integral of sin(t)^(2k)/(1 - m*sin(t)^2)^(j + 1/2) from 0 to phi (DLMF 19.2.4-6)",
    complex_form="elliptic_moment")


def _ellipe(phi: Any, *m: Any) -> Any:
    if len(m) > 1:
        raise error("E0207", f"`ellipe` takes 1 or 2 arguments, not {1 + len(m)}",
                    help="write ellipe(m) or ellipe(phi, m)")
    return ellipe_incomplete(phi, *m) if m else ellipe_complete(phi)


ellipe = composite(
    "ellipe", "phi *m", _ellipe, samples=((-1.5, 1.5), (-2.0, 0.8)),
    latex=r"E\left({0}\right)", domain="m*sin(phi)^2 <= 1",
    doc="elliptic integral of the second kind: ellipe(phi, m), or complete, ellipe(m)")

# --- Bessel functions -------------------------------------------------------------------------


def _bessel(name: str, aliases: str, symbol: str, rule: Any, kind: str, **row: Any) -> Any:
    return elementwise(
        name, "n x", None, rule, aliases=aliases, roles=INDEX_FIRST, floats=of_special(name),
        samples=(ORDER, POSITIVE[0]), latex=symbol + r"_{{{0}}}\left({1}\right)",
        doc=f"{kind}, of order n", **row)


besselj = _bessel(
    "besselj", "jv jn", "J",
    lambda n, x, ans: 0.5 * (besselj(n - 1.0, x) - besselj(n + 1.0, x)),
    "Bessel function of the first kind (DLMF 10.2.2)", domain="n whole, or x >= 0", names="sympy",
    complex_form="besselj")
bessely = _bessel(
    "bessely", "yv yn", "Y",
    lambda n, x, ans: 0.5 * (bessely(n - 1.0, x) - bessely(n + 1.0, x)),
    "Bessel function of the second kind (DLMF 10.2.3)", domain="x > 0", names="sympy",
    complex_form="bessely")
besseli = _bessel(
    "besseli", "iv", "I",
    lambda n, x, ans: 0.5 * (besseli(n - 1.0, x) + besseli(n + 1.0, x)),
    "modified Bessel function of the first kind (DLMF 10.25.2)", domain="n whole, or x >= 0",
    traits="growing", names="sympy", complex_form="besseli")
besselk = _bessel(
    "besselk", "kv kn", "K",
    lambda n, x, ans: -0.5 * (besselk(n - 1.0, x) + besselk(n + 1.0, x)),
    "modified Bessel function of the second kind (DLMF 10.25.3)", domain="x > 0",
    traits="vanishing never_zero", names="sympy", complex_form="besselk")
# n*j(n)/x - j(n+1) in the form that is regular at 0 (DLMF 10.51.1); |n - 1| serves n = 0, where
# the factor is 0.
sphericalj = elementwise(
    "sphericalj", "n x", None,
    lambda n, x, ans: n / (2.0 * n + 1.0) * sphericalj(absolute(n - 1.0), x)
    - (n + 1.0) / (2.0 * n + 1.0) * sphericalj(n + 1.0, x),
    aliases="spherical_jn", roles=INDEX_FIRST, floats=of_special("sphericalj"),
    samples=(ORDER, REAL[0]), latex=r"\mathrm{{j}}_{{{0}}}\left({1}\right)",
    domain="n = 0, 1, 2, ...",
    doc="spherical Bessel function of the first kind; sphericalj(0, x) is sin(x)/x (DLMF 10.47.3)",
    complex_form="sphericalj")
erf = elementwise(
    "erf", "x", lambda x, ans: 1.1283791670955126 * exp(-square(x)),
    floats=math.erf, samples=REAL, latex=r"\operatorname{{erf}}\left({0}\right)",
    doc="error function (DLMF 7.2.1)", traits="never_flat odd", whole={0: 0}, names="c sympy math",
    complex_form="erf")
erfc = elementwise(
    "erfc", "x", lambda x, ans: -1.1283791670955126 * exp(-square(x)),
    floats=math.erfc, samples=REAL,
    latex=r"\operatorname{{erfc}}\left({0}\right)", doc="1 - erf(x), exact for large x",
    traits="vanishing never_zero never_flat", whole={0: 1}, names="c sympy math",
    complex_form="erfc", reference="1 - mp.erf(x)")


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
