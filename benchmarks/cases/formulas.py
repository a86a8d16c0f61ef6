"""Two formulas of 30 operations, f(x, y, z), for points.py: as a file, for whatever calculates with
Python's signs, and with the gradient by hand. `WAVES` has sines and cosines, `PLAIN` none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

BEGIN = "u = x*y + z\nv = x - y*z\n"
END = "e = exp(-(x*x + y*y))\nl = log(1 + z*z)\nq = sqrt(1 + u*u)\n"
WAVES = (f"{BEGIN}s = sin(u)*cos(v)\nt = cos(u) + sin(v)\n{END}w = tanh(v)\n"
         "s*e + t*l - w/q + sin(z)*x\n")
PLAIN = (f"{BEGIN}s = u*v - x\nt = (u + v)/(1 + z*z)\n{END}w = v*v*v\n"
         "s*e + t*l - w/q + z*x\n")


def waves(m: Any) -> Callable[[Any, Any, Any], Any]:
    """m: a module with the functions."""
    sin, cos, exp, log, sqrt, tanh = m.sin, m.cos, m.exp, m.log, m.sqrt, m.tanh

    def f(x: Any, y: Any, z: Any) -> Any:
        u = x*y + z
        v = x - y*z
        return ((sin(u)*cos(v))*exp(-(x*x + y*y)) + (cos(u) + sin(v))*log(1 + z*z)
                - tanh(v)/sqrt(1 + u*u) + sin(z)*x)

    return f


def plain(m: Any) -> Callable[[Any, Any, Any], Any]:
    """m: a module with the functions."""
    exp, log, sqrt = m.exp, m.log, m.sqrt

    def f(x: Any, y: Any, z: Any) -> Any:
        u = x*y + z
        v = x - y*z
        return ((u*v - x)*exp(-(x*x + y*y)) + (u + v)/(1 + z*z)*log(1 + z*z)
                - v*v*v/sqrt(1 + u*u) + z*x)

    return f


def waves_by_hand(m: Any) -> Callable[[Any, Any, Any], tuple[Any, Any, Any, Any]]:
    """Value and gradient, nothing calculated twice."""
    sin, cos, exp, log, sqrt, tanh = m.sin, m.cos, m.exp, m.log, m.sqrt, m.tanh

    def f(x: Any, y: Any, z: Any) -> tuple[Any, Any, Any, Any]:
        u = x*y + z
        v = x - y*z
        su, cu, sv, cv, sz = sin(u), cos(u), sin(v), cos(v), sin(z)
        s, t = su*cv, cu + sv
        e, d, q2, w = exp(-(x*x + y*y)), 1 + z*z, 1 + u*u, tanh(v)
        q, ln, se = sqrt(q2), log(d), s*e
        wq = w/q
        bu = e*cu*cv - ln*su + wq*u/q2
        bv = ln*cv - e*su*sv - (1 - w*w)/q
        return (se + t*ln - wq + sz*x,
                y*bu + bv - 2*x*se + sz,
                x*bu - z*bv - 2*y*se,
                bu - y*bv + 2*t*z/d + cos(z)*x)

    return f


def plain_by_hand(m: Any) -> Callable[[Any, Any, Any], tuple[Any, Any, Any, Any]]:
    """Value and gradient, nothing calculated twice."""
    exp, log, sqrt = m.exp, m.log, m.sqrt

    def f(x: Any, y: Any, z: Any) -> tuple[Any, Any, Any, Any]:
        u = x*y + z
        v = x - y*z
        d, q2, v2 = 1 + z*z, 1 + u*u, v*v
        e, ln, q = exp(-(x*x + y*y)), log(d), sqrt(q2)
        s, t = u*v - x, (u + v)/d
        se, ld, wq = s*e, ln/d, v2*v/q
        bu = e*v + ld + wq*u/q2
        bv = e*u + ld - 3*v2/q
        return (se + t*ln - wq + z*x,
                y*bu + bv - e - 2*x*se + z,
                x*bu - z*bv - 2*y*se,
                bu - y*bv + 2*z*(t/d - t*ld) + x)

    return f
