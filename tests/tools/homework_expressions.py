"""Textbook formulas in 40 digits: values, tangents, and tangents under one wrong rule.

The strings are those of tests/data/homework/pairs.ndjson, in the notation of SymPy. A formula is
kept as it was written (`x/2` stays a quotient, `sqrt` a root, `a - b` a difference), because a
mistake happens at a place of the written formula. Only real numbers: a root or a logarithm of a
negative number is `Undefined`, wherever in the formula it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from mpmath import mp, mpf  # type: ignore[import-untyped]

Number = Any  # mpmath has no types
Node = ast.expr
Seeds = Mapping[str, Number]  # a direction: the variables that move, and how fast
Wrong = dict[int, str]  # which wrong tangent is used at which node (by id)


class Undefined(ArithmeticError):
    """The formula has no real value at this point."""


@cache
def parse(text: str) -> Node:
    return ast.parse(text, mode="eval").body


def _real(value: Number) -> Number:
    if isinstance(value, mp.mpc):
        raise Undefined
    if not mp.isfinite(value):
        raise Undefined
    return value


def _log(u: Number) -> Number:
    if u <= 0:
        raise Undefined
    return mp.log(u)


def _cbrt(u: Number) -> Number:
    return -mp.cbrt(-u) if u < 0 else mp.cbrt(u)


def _sign(u: Number) -> Number:
    return mpf(u > 0) - mpf(u < 0)


def _kink(u: Number) -> Number:
    if u == 0:
        raise Undefined
    return mpf(0)


# name: (value, derivative at u)
FUNCTIONS: dict[str, tuple[Callable[..., Number], Callable[[Number], Number]]] = {
    "sqrt": (mp.sqrt, lambda u: 1 / (2 * mp.sqrt(u))),
    "cbrt": (_cbrt, lambda u: 1 / (3 * _cbrt(u) ** 2)),
    "exp": (mp.exp, mp.exp),
    "log": (_log, lambda u: 1 / u),
    "sin": (mp.sin, mp.cos),
    "cos": (mp.cos, lambda u: -mp.sin(u)),
    "tan": (mp.tan, lambda u: mp.sec(u) ** 2),
    "sec": (mp.sec, lambda u: mp.sec(u) * mp.tan(u)),
    "csc": (mp.csc, lambda u: -mp.csc(u) * mp.cot(u)),
    "cot": (mp.cot, lambda u: -(mp.csc(u) ** 2)),
    "asin": (mp.asin, lambda u: 1 / mp.sqrt(1 - u * u)),
    "acos": (mp.acos, lambda u: -1 / mp.sqrt(1 - u * u)),
    "atan": (mp.atan, lambda u: 1 / (1 + u * u)),
    "sinh": (mp.sinh, mp.cosh),
    "cosh": (mp.cosh, mp.sinh),
    "tanh": (mp.tanh, lambda u: mp.sech(u) ** 2),
    "sech": (mp.sech, lambda u: -mp.sech(u) * mp.tanh(u)),
    "csch": (mp.csch, lambda u: -mp.csch(u) * mp.coth(u)),
    "coth": (mp.coth, lambda u: -(mp.csch(u) ** 2)),
    "asinh": (mp.asinh, lambda u: 1 / mp.sqrt(1 + u * u)),
    "acosh": (mp.acosh, lambda u: 1 / mp.sqrt(u * u - 1)),
    "atanh": (mp.atanh, lambda u: 1 / (1 - u * u)),
    "Abs": (abs, lambda u: _sign(u) + _kink(u)),
    "sign": (_sign, _kink),
}
CONSTANTS = {"pi": mp.pi, "E": mp.e}
TRIG = ("sin", "cos", "tan", "sec", "csc", "cot", "sinh", "cosh", "tanh", "asin", "acos", "atan")
TRIG_SIGN = {*TRIG, "sech", "csch", "coth", "asinh", "acosh", "atanh"}


def apply(name: str, u: Number) -> Number:
    try:
        return _real(FUNCTIONS[name][0](u))
    except (ZeroDivisionError, ValueError, OverflowError):
        raise Undefined from None


def slope(name: str, u: Number) -> Number:
    try:
        return _real(FUNCTIONS[name][1](u))
    except (ZeroDivisionError, ValueError, OverflowError):
        raise Undefined from None


def power(u: Number, n: Number) -> Number:
    if (u == 0 and n < 0) or (u < 0 and not mp.isint(n)):
        raise Undefined
    if abs(n * mp.log(abs(u)) if u else 0) > 10**6:
        raise Undefined
    return _real(mp.mpf(u) ** n)


def divide(u: Number, w: Number) -> Number:
    if w == 0:
        raise Undefined
    return u / w


@cache
def _literal(text: str, precision: int) -> Number:
    return mpf(text)


def value(node: Node, at: Mapping[str, Number], degrees: bool = False) -> Number:
    """The value at a point; with `degrees` every trigonometric argument is taken for degrees."""
    match node:
        case ast.Constant():
            return _literal(str(node.value), mp.prec)
        case ast.Name(id=name):
            return at[name] if name in at else +CONSTANTS[name]
        case ast.UnaryOp(op=ast.USub(), operand=u):
            return -value(u, at, degrees)
        case ast.BinOp(left=left, op=op, right=right):
            u, w = value(left, at, degrees), value(right, at, degrees)
            match op:
                case ast.Add():
                    return u + w
                case ast.Sub():
                    return u - w
                case ast.Mult():
                    return u * w
                case ast.Div():
                    return divide(u, w)
                case ast.Pow():
                    return power(u, w)
        case ast.Call(func=ast.Name(id=name), args=[u]):
            inner = value(u, at, degrees)
            if degrees and name in TRIG[:6]:
                inner = inner * mp.pi / 180
            return apply(name, inner)
    raise ValueError(f"not a formula of the data: {ast.dump(node)}")


@cache
def names(node: Node) -> frozenset[str]:
    """The letters of a formula, without constants and functions."""
    functions = {id(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)}
    return frozenset(
        n.id
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and id(n) not in functions and n.id not in CONSTANTS
    )


def moves(node: Node, wrt: Seeds) -> bool:
    return not names(node).isdisjoint(wrt)


def tangent(
    node: Node, at: Mapping[str, Number], wrt: Seeds, wrong: Wrong | None = None
) -> tuple[Number, Number]:
    """Value and tangent along `wrt`, with the wrong tangents asked for. Values stay right."""
    v, t, found = _step(node, at, wrt, wrong or {})
    chosen = (wrong or {}).get(id(node))
    if chosen is not None:
        for name, wrong_tangent in found:
            if name == chosen:
                return v, _real(wrong_tangent())
        raise Undefined
    return v, t


Choice = tuple[str, Callable[[], Number]]


def choices(node: Node, at: Mapping[str, Number], wrt: Seeds) -> list[str]:
    """The wrong tangents there are for one node: `name/variant`."""
    return [name for name, _ in _step(node, at, wrt, {})[2]]


def literals(node: Node) -> set[Number]:
    """Numbers that can stand in front of the inner derivative: literals and products of two."""
    found = {mpf(str(n.value)) for n in ast.walk(node) if isinstance(n, ast.Constant)}
    return {a * b for a in found | {mpf(1)} for b in found} - {mpf(0), mpf(1)}


def _step(
    node: Node, at: Mapping[str, Number], wrt: Seeds, wrong: Wrong
) -> tuple[Number, Number, list[Choice]]:
    zero = mpf(0)
    x = at[next(iter(wrt))]
    match node:
        case ast.Constant() | ast.Name():
            v = value(node, at)
            return v, +wrt[node.id] if isinstance(node, ast.Name) and node.id in wrt else zero, []
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            u, tu = tangent(operand, at, wrt, wrong)
            return -u, -tu, [("sign_error", lambda: tu)] if moves(operand, wrt) else []
        case ast.BinOp(left=left, op=op, right=right):
            u, tu = tangent(left, at, wrt, wrong)
            w, tw = tangent(right, at, wrt, wrong)
            a, b = moves(left, wrt), moves(right, wrt)
            match op:
                case ast.Add() | ast.Sub():
                    s = 1 if isinstance(op, ast.Add) else -1
                    return u + s * w, tu + s * tw, list(_sum(u, tu, a, s * w, s * tw, b))
                case ast.Mult():
                    return u * w, tu * w + u * tw, list(_product(left, right, u, tu, a, w, tw, b))
                case ast.Div():
                    v = divide(u, w)
                    return v, (tu - v * tw) / w, list(_quotient(left, u, tu, a, w, tw, b))
                case ast.Pow():
                    v = power(u, w)
                    t = zero
                    if a:
                        t += w * power(u, w - 1) * tu
                    if b:
                        t += v * apply("log", u) * tw
                    return v, t, list(_power(left, right, u, tu, a, w, tw, b, at, wrt))
        case ast.Call(func=ast.Name(id=name), args=[operand]):
            u, tu = tangent(operand, at, wrt, wrong)
            v = apply(name, u)
            if not moves(operand, wrt):
                return v, zero, []
            return v, slope(name, u) * tu, list(_call(name, operand, at, wrt, u, tu, v, x))
    raise ValueError(f"not a formula of the data: {ast.dump(node)}")


def _sum(
    u: Number, tu: Number, a: bool, w: Number, tw: Number, b: bool
) -> Iterator[Choice]:
    """`w` and `tw` carry the sign of the second term."""
    if a and b:
        yield "sign_error", lambda: tu - tw
        yield "sign_error/left", lambda: tw - tu
        yield "missing_term/right", lambda: tu
        yield "missing_term/left", lambda: tw
    elif a:
        yield "constant_not_dropped", lambda: tu + w
        yield "constant_to_one", lambda: tu + _sign(w)
        yield "constant_to_one/plus", lambda: tu + 1
    elif b:
        yield "constant_not_dropped", lambda: u + tw
        yield "constant_to_one", lambda: _sign(u) + tw
        yield "sign_error", lambda: -tw


def _product(
    left: Node, right: Node, u: Number, tu: Number, a: bool, w: Number, tw: Number, b: bool
) -> Iterator[Choice]:
    if a and b:
        yield "product_of_derivatives", lambda: tu * tw
        yield "product_one_term/left", lambda: tu * w
        yield "product_one_term/right", lambda: u * tw
        yield "product_minus", lambda: tu * w - u * tw
        yield "product_minus/reversed", lambda: u * tw - tu * w
    elif a or b:
        yield "constant_factor_dropped", lambda: tu + tw
        if names(right if a else left):
            yield "other_variable_dropped", lambda: tu + tw


def _quotient(
    left: Node, u: Number, tu: Number, a: bool, w: Number, tw: Number, b: bool
) -> Iterator[Choice]:
    if not b:
        yield "constant_factor_dropped", lambda: tu
        match left:
            case ast.Call(func=ast.Name(id="log")):  # log_b u is log(u)/log(b)
                yield "missing_log_base", lambda: tu
        return
    yield "quotient_reversed", lambda: divide(u * tw - tu * w, w * w)
    yield "quotient_denominator_not_squared", lambda: divide(tu * w - u * tw, w)
    yield "quotient_denominator_dropped", lambda: tu * w - u * tw
    yield "quotient_plus", lambda: divide(tu * w + u * tw, w * w)
    if not a:  # u/w is also u w^-1
        yield "power_coefficient", lambda: divide(u * tw, w * w)
        yield "power_exponent_not_reduced", lambda: divide(-u * tw, w)
        yield "power_exponent_increased", lambda: -u * tw
    yield "quotient_of_derivatives", lambda: divide(tu if a else mpf(1), tw)


def _power(
    left: Node,
    right: Node,
    u: Number,
    tu: Number,
    a: bool,
    w: Number,
    tw: Number,
    b: bool,
    at: Mapping[str, Number],
    wrt: Seeds,
) -> Iterator[Choice]:
    x = at[next(iter(wrt))]
    if a and not b:
        yield "power_coefficient", lambda: power(u, w - 1) * tu
        yield "power_coefficient_off_by_one", lambda: (w - 1) * power(u, w - 1) * tu
        yield "power_exponent_not_reduced", lambda: w * power(u, w) * tu
        yield "power_exponent_increased", lambda: w * power(u, w + 1) * tu
        yield "exponential_rule_on_power", lambda: power(u, w) * apply("log", u)
        yield "exponential_rule_on_power/inner", lambda: power(u, w) * apply("log", u) * tu
        yield "chain_outer_not_differentiated", lambda: power(u, w) * tu
        yield from _chain(lambda z: w * power(z, w - 1), left, u, tu, x)
        yield from _split(lambda z: power(z, w), lambda z: w * power(z, w - 1), left, at, wrt)
    if b:
        yield "power_rule_on_exponential", lambda: w * power(u, w - 1)
        yield "power_rule_on_exponential/inner", lambda: w * power(u, w - 1) * (tu if a else tw)
        if a:
            yield "exponential_rule_on_power", lambda: power(u, w) * apply("log", u)
            yield "exponential_rule_on_power/inner", lambda: power(u, w) * apply("log", u) * tw
        else:
            yield "missing_log_base", lambda: power(u, w) * tw
            yield "chain_outer_not_differentiated", lambda: power(u, w) * tw
            yield from _chain(lambda z: power(u, z) * apply("log", u), right, w, tw, x)
    if not a and not b:
        yield "power_rule_on_constant", lambda: w * power(u, w - 1)


def _chain(
    outer: Callable[[Number], Number], operand: Node, u: Number, tu: Number, x: Number
) -> Iterator[Choice]:
    if isinstance(operand, ast.Name):
        return
    yield "missing_chain_factor", lambda: outer(u)
    for k in sorted(literals(operand)):
        yield f"chain_constant_lost/{mp.nstr(k, 12)}", lambda k=k: outer(u) * tu / k  # type: ignore[misc]
    yield "chain_outer_at_inner_derivative", lambda: outer(tu)
    yield "chain_outer_at_x", lambda: outer(x) * tu


_TRIG_RULE: dict[str, tuple[Callable[[Number], Number], ...]] = {
    "tan": (mp.sec, lambda u: mp.sec(u) * mp.tan(u)),
    "sec": (lambda u: mp.tan(u) ** 2, lambda u: mp.sec(u) ** 2),
    "csc": (lambda u: -(mp.cot(u) ** 2), lambda u: -(mp.csc(u) ** 2)),
    "cot": (lambda u: -mp.csc(u) * mp.cot(u), lambda u: mp.sec(u) ** 2),
    "tanh": (lambda u: mp.sech(u) * mp.tanh(u),),
}
_INVERSE_RULE: dict[str, Callable[[Number], Number]] = {
    "atan": lambda u: 1 / (1 - u * u),
    "asin": lambda u: 1 / mp.sqrt(1 + u * u),
    "acos": lambda u: -1 / mp.sqrt(1 + u * u),
    "atanh": lambda u: 1 / (1 + u * u),
    "asinh": lambda u: 1 / mp.sqrt(1 - u * u),
}
_INVERSE_OF = {"asin": "csc", "acos": "sec", "atan": "cot"}


def _call(
    name: str,
    operand: Node,
    at: Mapping[str, Number],
    wrt: Seeds,
    u: Number,
    tu: Number,
    v: Number,
    x: Number,
) -> Iterator[Choice]:
    if not isinstance(operand, ast.Name):
        yield "chain_outer_not_differentiated", lambda: v * tu
    yield from _chain(lambda z: slope(name, z), operand, u, tu, x)
    if name in TRIG_SIGN:
        yield "trig_sign", lambda: -slope(name, u) * tu
    for i, rule in enumerate(_TRIG_RULE.get(name, ())):
        yield f"trig_rule/{i}", lambda rule=rule: rule(u) * tu  # type: ignore[misc]
    if name in _INVERSE_RULE:
        yield "inverse_trig_rule", lambda: _real(_INVERSE_RULE[name](u)) * tu
    if name in _INVERSE_OF:
        yield "inverse_as_reciprocal", lambda: slope(_INVERSE_OF[name], u) * tu
    if name == "log":
        yield "log_rule/over", lambda: divide(tu, v)
        yield "log_rule/times", lambda: tu * v / u
        yield "log_rule/inner", lambda: divide(mpf(1), tu)
    if name == "exp":
        yield "power_rule_on_exponential", lambda: u * mp.exp(u - 1)
        yield "power_rule_on_exponential/inner", lambda: u * mp.exp(u - 1) * tu
    if name == "sqrt":
        yield "power_exponent_not_reduced", lambda: v * tu / 2
        yield "power_coefficient", lambda: divide(tu, v)
        yield "chain_outer_not_differentiated", lambda: v * tu
        match operand:
            case ast.BinOp(left=base, op=ast.Pow()):
                yield "abs_ignored", lambda: tangent(base, at, wrt)[1]
    if name == "Abs":
        yield "abs_ignored", lambda: tu
    yield from _split(lambda z: apply(name, z), lambda z: slope(name, z), operand, at, wrt)


def _split(
    g: Callable[[Number], Number],
    outer: Callable[[Number], Number],
    total: Node,
    at: Mapping[str, Number],
    wrt: Seeds,
) -> Iterator[Choice]:
    """The tangent of g(u) + g(w) where g(u + w) was meant."""
    if not isinstance(total, ast.BinOp) or not isinstance(total.op, ast.Add | ast.Sub):
        return
    s = 1 if isinstance(total.op, ast.Add) else -1
    left, right = tangent(total.left, at, wrt), tangent(total.right, at, wrt)
    a, b = moves(total.left, wrt), moves(total.right, wrt)

    def of(part: tuple[Number, Number], active: bool) -> Number:
        return outer(part[0]) * part[1] if active else mpf(0)

    yield "linear_extrapolation", lambda: of(left, a) + s * of(right, b)
    if not a or not b:
        constant = right if a else left
        yield "linear_extrapolation/constant", lambda: (
            of(left, a) + s * of(right, b) + (s if a else 1) * g(constant[0]))
