"""The special functions on Python floats, in one place; the modules special_* hold them by family.

Total: every function takes any floats (nan, infinities, zeros of either sign) and returns a float;
no exception escapes. NumPy's and SciPy's conventions hold at poles and outside domains. Standard
library only. Orders n are whole numbers, as float or int; nan for others.
"""

from __future__ import annotations

from gradcli.ops.special.bessel import besseli, besselj, besselk, bessely
from gradcli.ops.special.beta import beta, gammainc, gammaincl, lbeta
from gradcli.ops.special.elliptic import ellipe, ellipe_complete, ellipf, ellipk
from gradcli.ops.special.errors import (
    chi,
    ci,
    dawsn,
    e1,
    ei,
    erfcinv,
    erfcx,
    erfi,
    erfinv,
    fresnelc,
    fresnels,
    lambertw,
    li,
    shi,
    si,
)
from gradcli.ops.special.gamma import digamma, gamma, lgamma, polygamma, zeta

__all__ = [
    "besseli", "besselj", "besselk", "bessely", "beta", "chi", "ci", "dawsn", "digamma", "e1",
    "ei", "ellipe", "ellipe_complete", "ellipf", "ellipk", "erfcinv", "erfcx", "erfi", "erfinv",
    "fresnelc", "fresnels", "gamma", "gammainc", "gammaincl", "lambertw", "lbeta", "lgamma", "li",
    "polygamma", "shi", "si", "zeta",
]
