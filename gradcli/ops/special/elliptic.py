"""Elliptic integrals of the first and second kind in the parameter m = k**2, on Python floats.

ellipk, ellipe_complete, ellipf, ellipe. Total: every float gives a float, no exception escapes.
Relative error about 1e-15. References: DLMF chapter 19; Carlson, "Numerical computation of real or
complex elliptic integrals" (1995). As in SciPy m may be negative and m > 1 is nan for the complete
integrals; the incomplete ones go on past m = 1 for as long as m sin(phi)**2 <= 1.
"""

from __future__ import annotations

import math

from gradcli.ops.special.gamma import INF, NAN


def _agm(m: float) -> tuple[float, float]:
    """The arithmetic-geometric mean of 1 and sqrt(1 - m), and E(m) / K(m) (DLMF 19.8.1, 19.8.6)."""
    a, b = 1.0, math.sqrt(1.0 - m)
    ratio = 1.0 - 0.5 * m
    weight = 1.0
    while abs(a - b) > 1e-8 * a:
        half = 0.5 * (a - b)
        ratio -= weight * half * half
        weight *= 2.0
        a, b = 0.5 * (a + b), math.sqrt(a) * math.sqrt(b)
    half = 0.5 * (a - b)
    return 0.5 * (a + b), ratio - weight * half * half


def ellipk(m: float) -> float:
    """The complete elliptic integral of the first kind K(m), m <= 1; inf at 1, nan above."""
    if not m < 1.0:
        return INF if m == 1.0 else NAN
    return 0.5 * math.pi / _agm(m)[0] if m > -INF else 0.0


def ellipe_complete(m: float) -> float:
    """The complete elliptic integral of the second kind E(m), m <= 1; nan above."""
    if not m < 1.0:
        return 1.0 if m == 1.0 else NAN
    if m == -INF:
        return INF
    mean, ratio = _agm(m)
    return 0.5 * math.pi / mean * ratio


def _rf(x: float, y: float, z: float) -> float:
    """Carlson's RF(x, y, z) by duplication (DLMF 19.26.18) and the series 19.36.1."""
    for _ in range(100):
        mean = (x + y + z) / 3.0
        dx, dy = 1.0 - x / mean, 1.0 - y / mean
        dz = -(dx + dy)
        if max(abs(dx), abs(dy), abs(dz)) < 0.01:
            break
        root_x, root_y, root_z = math.sqrt(x), math.sqrt(y), math.sqrt(z)
        shift = root_x * root_y + root_x * root_z + root_y * root_z
        x, y, z = 0.25 * (x + shift), 0.25 * (y + shift), 0.25 * (z + shift)
    e2 = dx * dy - dz * dz
    e3 = dx * dy * dz
    series = e2 * (-1 / 10 + e2 / 24 - e3 * 3 / 44 - e2 * e2 * 5 / 208 + e2 * e3 / 16)
    return (1.0 + series + e3 * (1 / 14 + e3 * 3 / 104)) / math.sqrt(mean)


def _rd(x: float, y: float, z: float) -> float:
    """Carlson's RD(x, y, z) by duplication (DLMF 19.26.20) and the series 19.36.2."""
    total, factor = 0.0, 1.0
    for _ in range(100):
        mean = (x + y + 3.0 * z) / 5.0
        dx, dy = 1.0 - x / mean, 1.0 - y / mean
        dz = -(dx + dy) / 3.0
        if max(abs(dx), abs(dy), abs(dz)) < 0.01:
            break
        root_x, root_y, root_z = math.sqrt(x), math.sqrt(y), math.sqrt(z)
        shift = root_x * root_y + root_x * root_z + root_y * root_z
        total += factor / (root_z * (z + shift))
        factor *= 0.25
        x, y, z = 0.25 * (x + shift), 0.25 * (y + shift), 0.25 * (z + shift)
    product, square = dx * dy, dz * dz
    e2 = product - 6.0 * square
    e3 = (3.0 * product - 8.0 * square) * dz
    e4 = 3.0 * (product - square) * square
    e5 = product * square * dz
    series = 1 - e2 * 3 / 14 + e3 / 6 + e2 * e2 * 9 / 88 - e4 * 3 / 22 - e2 * e3 * 9 / 52
    series += e5 * 3 / 26 - e2 * e2 * e2 / 16 + e3 * e3 * 3 / 40 + e2 * e4 * 3 / 20
    series += e2 * e2 * e3 * 45 / 272 - (e3 * e4 + e2 * e5) * 9 / 68
    return 3.0 * total + factor * series / (mean * math.sqrt(mean))


def _reduced(phi: float, m: float) -> tuple[float, float, float, float]:
    """phi as half turns and a rest in [-pi/2, pi/2]: (half turns, sin, cos, 1 - m sin**2)."""
    sine, cosine = math.sin(phi), math.cos(phi)
    if cosine < 0.0:
        sine, cosine = -sine, -cosine
    turns = float(round((phi - math.atan2(sine, cosine)) / math.pi))
    return turns, sine, cosine, cosine * cosine + (1.0 - m) * sine * sine


def ellipf(phi: float, m: float) -> float:
    """The incomplete elliptic integral of the first kind F(phi | m) (DLMF 19.25.5, 19.2.10)."""
    if phi == 0.0 or phi != phi or m != m:
        return phi + m * 0.0 if m != m else phi
    if abs(phi) == INF:
        return phi if -INF < m <= 1.0 else NAN
    if m == -INF:
        return math.copysign(0.0, phi)
    if m == 1.0 and abs(phi) >= 0.5 * math.pi:
        return math.copysign(INF, phi)
    turns, sine, cosine, rest = _reduced(phi, m)
    if rest < 0.0 or (turns and m > 1.0):
        return NAN
    value = sine * _rf(cosine * cosine, rest, 1.0)
    return value + 2.0 * turns * ellipk(m) if turns else value


def ellipe(phi: float, m: float) -> float:
    """The incomplete elliptic integral of the second kind E(phi | m) (DLMF 19.25.9, 19.2.10)."""
    if phi == 0.0 or phi != phi or m != m:
        return phi + m * 0.0 if m != m else phi
    if abs(phi) == INF:
        return phi if -INF < m <= 1.0 else NAN
    if m == -INF:
        return math.copysign(INF, phi)
    turns, sine, cosine, rest = _reduced(phi, m)
    if rest < 0.0 or (turns and m > 1.0):
        return NAN
    x = cosine * cosine
    value = sine * (_rf(x, rest, 1.0) - m / 3.0 * sine * sine * _rd(x, rest, 1.0))
    return value + 2.0 * turns * ellipe_complete(m) if turns else value
