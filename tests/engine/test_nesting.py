"""Every nesting of tapes, forward accumulators and custom gradients, to third order.

Random programs are drawn from the operation table. Read by gradcli, each is a function of tensors;
*levels* turn such a function into that of a directional derivative, each by another means: a tape,
persistent or not, asked inside of its block or outside, with a seed, by its Jacobian; an
accumulator; two tapes, the outer of which differentiates with respect to the cotangent. Any level
may stand on any other, and between two of them the function may be wrapped into a custom gradient
or recomputed.

The witnesses share no code with gradcli: mpmath at 40 digits on the same program, complex steps in
NumPy, differences of the level below, and jax where it is installed. Where a custom gradient has
the rule of another function H than its value F, the expected derivatives are those of
F(u0) + H(u) - H(u0), u0 being the value of u at the point; those of stop_gradient(u) are those of
u0.

GRADCLI_NESTINGS=20 takes twenty times as many programs, all triples of levels, and rows whose
reference is slow.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import itertools
import os
import random
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from draws import drawn
from random_programs import RandomProgram, each, exact
from references import DIGITS, FUNCTIONS, STEP, differentiated

from gradcli import (
    ForwardAccumulator,
    GradientTape,
    Variable,
    constant,
    custom_gradient,
    ops,
    recompute_grad,
)
from gradcli.ops import TABLE
from gradcli.ops.kinds import NAMES

Function = Callable[[list[Any]], Any]
Level = Callable[[Function, list[Any]], Function]

MORE = int(os.environ.get("GRADCLI_NESTINGS", "1"))
SHAPES: dict[str, tuple[int, ...]] = {"x": (), "v": (3,), "A": (2, 2)}
SCALARS: dict[str, tuple[int, ...]] = {"x": (), "y": ()}

# --- the programs ---------------------------------------------------------------------------------

# Rows whose reference takes a tenth of a second at 40 digits.
SLOW = ("ellipf", "ellipe_incomplete", "besselk", "besselke", "besselke_derivative", "bessely")
ROWS = [name for name in FUNCTIONS
        if name in TABLE and TABLE[name].elementwise and (MORE > 1 or name not in SLOW)]
# Value and slope in operations, and the same function in mpmath.
CUSTOM: dict[str, tuple[Any, Any, Any]] = {
    "sin": (ops.sin, ops.cos, mp.sin),
    "exp": (ops.exp, ops.exp, mp.exp),
    "tanh": (ops.tanh, lambda u: 1.0 - ops.tanh(u) * ops.tanh(u), mp.tanh),
    "cube": (lambda u: u * u * u, lambda u: 3.0 * u * u, lambda u: u * u * u),
    "atan": (ops.atan, lambda u: 1.0 / (1.0 + u * u), mp.atan),
    "half": (lambda u: 0.5 * u, lambda u: 0.5, lambda u: u / 2),
}


class Program(RandomProgram):
    """A random program with stop_gradient and custom gradients in it; `rows`: names of operations
    that were used.
    """

    rows: set[str]

    def __init__(self, seed: int, inputs: Mapping[str, tuple[int, ...]], length: int,
                 names: Sequence[str] = ROWS, custom: bool = True) -> None:
        self.custom = custom
        self.rows = set()
        with mp.workdps(DIGITS):
            super().__init__(seed, inputs, length, names)
        names_ = list(inputs)
        self.points = [self.at[n] for n in names_]
        draw = np.random.default_rng(seed)
        self.directions = [
            [np.round(draw.uniform(-1, 1, np.shape(p)), 3)[()] for p in self.points]
            for _ in range(3)]

    def _elementwise(self) -> None:
        what = self.draw.random() if self.custom else 1.0
        if what < 0.1:
            self._stopped()
        elif what < 0.25:
            self._custom()
        elif what < 0.32:
            self._custom_pair()
        else:
            self._row()

    def _row(self) -> None:
        op = TABLE[self.draw.choice(self.names)]
        reference = FUNCTIONS[op.name]
        texts: list[str] = []
        meanings: list[Callable[[Any], Any]] = []
        for k, (low, high) in enumerate(op.samples):
            node = self._pick().name
            if op.role(k) == "index":
                number = max(1, round(high))
                texts.append(str(float(number)))
                meanings.append(lambda env, n=number: mp.mpf(n))  # type: ignore[misc]
            elif op.role(k) == "condition":
                texts.append(f"({node} > 0.125)")
                meanings.append(lambda env, n=node: each(lambda v: v > 0.125, env[n]))  # type: ignore[misc]
            else:
                middle, half = round((low + high) / 2, 3), round((high - low) / 2, 3)
                texts.append(f"({middle} + {half}*tanh({node}))")
                meanings.append(lambda env, n=node, m=middle, h=half: each(  # type: ignore[misc]
                    lambda v: mp.mpf(m) + mp.mpf(h) * mp.tanh(v), env[n]))
        try:
            np.broadcast_shapes(*[np.shape(m(self.env)) for m in meanings])
        except ValueError:
            return
        if self._add(f"{op.name}({', '.join(texts)})",
                     lambda env: each(reference, *[m(env) for m in meanings])):
            self.rows.add(op.name)

    def _stopped(self) -> None:
        a, b = self._pick(), self._pick()
        if not a.shape or not b.shape or a.shape == b.shape:
            before = self.env[a.name]
            self._add(f"stop_gradient({a.name})*{b.name}", lambda env: before * env[b.name])

    def _custom(self) -> None:
        node = self._pick().name
        before = self.env[node]
        value, rule = self.draw.choice(list(CUSTOM)), self.draw.choice(list(CUSTOM))
        f, h = CUSTOM[value][2], CUSTOM[rule][2]
        self._add(f"{value}_ruled_by_{rule}({node})", lambda env: each(
            lambda u, u0: f(u0) + h(u) - h(u0), env[node], before))

    def _custom_pair(self) -> None:
        a = self._pick()
        b = next((n for n in self.nodes if n.shape == a.shape and n is not a), a)
        p, q = self.env[a.name], self.env[b.name]
        if self.draw.random() < 0.5:
            self._add(f"product({a.name}, {b.name})", lambda env: env[a.name] * env[b.name])
        else:
            self._add(f"sum_ruled_by_product({a.name}, {b.name})",
                      lambda env: p + q - p * q + env[a.name] * env[b.name])

    # --- what it is in gradcli, and in mpmath -----------------------------------------------------

    def function(self, space: Mapping[str, Any]) -> Function:
        """It, read with the operations of `space`: a list of inputs to the scalar `out`."""
        # jax takes no list for an index.
        code = compile(re.sub(r"\[(\[\d+, \d+, \d+\])\]", r"[array(\1)]", self.text),
                       "<program>", "exec")

        def call(xs: list[Any]) -> Any:
            env = {**space, "array": np.array, **dict(zip(self.inputs, xs, strict=True))}
            exec(code, env)
            return env["out"]

        return call

    def along(self, orders: Sequence[int]) -> float:
        """The mixed derivative: so many times along each of its directions."""
        def moved(*steps: int) -> Any:
            env = {}
            for n, (name, value) in enumerate(self.at.items()):
                env[name] = exact(value)
                for k, count in enumerate(steps):
                    env[name] = env[name] + exact(self.directions[k][n]) * (count * STEP)
            return self.evaluate(env)

        return differentiated(moved, orders)


def ruled(value: Any, slope: Any) -> Any:
    @custom_gradient
    def f(u: Any) -> Any:
        def grad(upstream: Any) -> Any:
            return upstream * slope(u)

        return value(u), grad

    return f


def pair(value: Any) -> Any:
    @custom_gradient
    def f(a: Any, b: Any) -> Any:
        def grad(upstream: Any) -> Any:
            return upstream * b, upstream * a

        return value(a, b), grad

    return f


SPACE: dict[str, Any] = {
    **NAMES, "true": True, "product": pair(ops.multiply), "sum_ruled_by_product": pair(ops.add),
    **{f"{f}_ruled_by_{h}": ruled(CUSTOM[f][0], CUSTOM[h][1])
       for f, h in itertools.product(CUSTOM, CUSTOM)}}


# --- the levels -----------------------------------------------------------------------------------

def dot(gradients: Sequence[Any], direction: Sequence[Any]) -> Any:
    """<gradients, direction>; a missing gradient counts as 0."""
    parts = [ops.sum(g * u) for g, u in zip(gradients, direction, strict=True) if g is not None]
    return sum(parts[1:], parts[0]) if parts else constant(0.0)


def watch(tape: GradientTape, xs: Sequence[Any]) -> None:
    """Variables are watched when they are read."""
    tape.watch([x for x in xs if not isinstance(x, Variable)])


def by_tape(persistent: bool, inside: bool) -> Level:
    def level(f: Function, u: list[Any]) -> Function:
        def slope(xs: list[Any]) -> Any:
            with GradientTape(persistent=persistent) as tape:
                watch(tape, xs)
                y = f(xs)
                found = tape.gradient(y, xs) if inside else None
            return dot(tape.gradient(y, xs) if found is None else found, u)

        return slope

    return level


def asked_twice(f: Function, u: list[Any]) -> Function:
    """A persistent tape that is asked for each source, re-entered, and holds two targets."""
    def slope(xs: list[Any]) -> Any:
        with GradientTape(persistent=True) as tape:
            watch(tape, xs)
            y = f(xs)
        with tape:
            z = 3.0 * y
        return dot([tape.gradient([y, z], x) for x in xs], u) / 4.0

    return slope


def seeded(f: Function, u: list[Any]) -> Function:
    def slope(xs: list[Any]) -> Any:
        with GradientTape() as tape:
            watch(tape, xs)
            y = f(xs)
            both = ops.stack([y, y])
        named = tape.gradient({"y": both}, dict(enumerate(xs)),
                              output_gradients={"y": constant([0.25, 0.75])})
        return dot(list(named.values()), u)

    return slope


def by_jacobian(f: Function, u: list[Any]) -> Function:
    def slope(xs: list[Any]) -> Any:
        with GradientTape() as tape:
            watch(tape, xs)
            y = f(xs)
            both = ops.stack([y, 2.0 * y])
        found = tape.jacobian(both, xs)
        rows = [[None if j is None else j[k] for j in found] for k in range(2)]
        return (dot(rows[0], u) + 1.5 * dot(rows[1], u)) / 4.0

    return slope


def forward(f: Function, u: list[Any]) -> Function:
    def slope(xs: list[Any]) -> Any:
        with ForwardAccumulator(xs, u) as accumulator:
            y = f(xs)
        found = accumulator.jvp(y)
        return constant(0.0) if found is None else found

    return slope


def forward_in_parts(f: Function, u: list[Any]) -> Function:
    """One accumulator for each input, all open at once."""
    def slope(xs: list[Any]) -> Any:
        accumulators = [ForwardAccumulator(x, d) for x, d in zip(xs, u, strict=True)]
        for accumulator in accumulators:
            accumulator.__enter__()
        try:
            y = f(xs)
        finally:
            for accumulator in reversed(accumulators):
                accumulator.__exit__()
        return dot([a.jvp(y) for a in accumulators], [1.0] * len(xs))

    return slope


def through_the_cotangent(f: Function, u: list[Any]) -> Function:
    """A tangent from two tapes: <u, gradient> is linear in the cotangent w, with slope <u, f'>."""
    def slope(xs: list[Any]) -> Any:
        w = constant(1.0)
        with GradientTape() as outer:
            outer.watch(w)
            with GradientTape() as inner:
                watch(inner, xs)
                y = f(xs)
            along = dot(inner.gradient(y, xs, output_gradients=w), u)
        found = outer.gradient(along, w)
        return constant(0.0) if found is None else found

    return slope


LEVELS: dict[str, Level] = {
    "tape": by_tape(False, False), "tape asked inside": by_tape(False, True),
    "persistent": by_tape(True, False), "persistent asked inside": by_tape(True, True),
    "asked twice": asked_twice, "seeded": seeded, "jacobian": by_jacobian, "forward": forward,
    "forward in parts": forward_in_parts, "through the cotangent": through_the_cotangent,
}


# Two or three orders at once.

def flat(x: Any) -> Any:
    return np.reshape(x, -1)


def contracted(block: Any, *directions: Any) -> Any:
    """A tensor of derivatives applied to one direction per source."""
    weights = flat(directions[0])
    for d in directions[1:]:
        weights = np.multiply.outer(weights, flat(d))
    return ops.sum(ops.reshape(block, shape=weights.shape) * weights)


def one_tape_twice(f: Function, u: list[Any], v: list[Any]) -> Function:
    def second(xs: list[Any]) -> Any:
        with GradientTape(persistent=True) as tape:
            watch(tape, xs)
            along = dot(tape.gradient(f(xs), xs), u)
        return dot(tape.gradient(along, xs), v)

    return second


def hessian_product(f: Function, u: list[Any], v: list[Any]) -> Function:
    def second(xs: list[Any]) -> Any:
        with GradientTape() as outer:
            watch(outer, xs)
            with GradientTape() as inner:
                watch(inner, xs)
                y = f(xs)
            slopes = inner.gradient(y, xs, unconnected_gradients="zero")
        return dot(outer.gradient(slopes, xs, output_gradients=[constant(d) for d in u]), v)

    return second


def jacobian_of_gradient(f: Function, u: list[Any], v: list[Any]) -> Function:
    def second(xs: list[Any]) -> Any:
        with GradientTape(persistent=True) as outer:
            watch(outer, xs)
            with GradientTape() as inner:
                watch(inner, xs)
                y = f(xs)
            slopes = inner.gradient(y, xs)
        total = constant(0.0)
        for g, d in zip(slopes, u, strict=True):
            if g is not None:
                for block, e in zip(outer.jacobian(g, xs), v, strict=True):
                    if block is not None:
                        total = total + contracted(block, d, e)
        return total

    return second


def forward_over_jacobian(f: Function, u: list[Any], v: list[Any]) -> Function:
    def second(xs: list[Any]) -> Any:
        with ForwardAccumulator(xs, v) as accumulator, GradientTape() as tape:
            watch(tape, xs)
            y = f(xs)
            found = tape.jacobian(ops.reshape(y, shape=[1]), xs)
        tangents = [None if j is None else accumulator.jvp(j) for j in found]
        return dot([None if t is None else t[0] for t in tangents], u)

    return second


def _row(tangent: Any) -> Any:
    return None if tangent is None else tangent[0]


SECOND: dict[str, Callable[[Function, list[Any], list[Any]], Function]] = {
    "one tape twice": one_tape_twice, "hessian product": hessian_product,
    "jacobian of gradient": jacobian_of_gradient, "forward over jacobian": forward_over_jacobian}


def jacobian_of_jacobian_of_gradient(f: Function, directions: Sequence[list[Any]]) -> Function:
    def third(xs: list[Any]) -> Any:
        u, v, w = directions
        with GradientTape(persistent=True) as outer:
            watch(outer, xs)
            with GradientTape(persistent=True) as middle:
                watch(middle, xs)
                with GradientTape() as inner:
                    watch(inner, xs)
                    y = f(xs)
                slopes = inner.gradient(y, xs)
            blocks = [(d, e, block)
                      for g, d in zip(slopes, u, strict=True) if g is not None
                      for block, e in zip(middle.jacobian(g, xs), v, strict=True)
                      if block is not None]
        total = constant(0.0)
        for d, e, block in blocks:
            for cube, c in zip(outer.jacobian(block, xs), w, strict=True):
                if cube is not None:
                    total = total + contracted(cube, d, e, c)
        return total

    return third


# What may stand between two levels without changing the function.

def recomputed(f: Function) -> Function:
    return lambda xs: recompute_grad(lambda *args: f(list(args)))(*xs)


def customised(f: Function) -> Function:
    """A custom gradient whose rule opens a tape of its own."""
    @custom_gradient
    def call(*xs: Any) -> Any:
        def grad(upstream: Any) -> Any:
            with GradientTape(watch_accessed_variables=False) as tape:
                tape.watch(list(xs))
                y = f(list(xs))
            return [upstream * g for g in tape.gradient(y, list(xs), unconnected_gradients="zero")]

        return f(list(xs)), grad

    return lambda xs: call(*xs)


BETWEEN: dict[str, Callable[[Function], Function]] = {
    "": lambda f: f, "recomputed": recomputed, "customised": customised}


def nested(program: Program, names: Sequence[str], between: Sequence[str]) -> Function:
    """Levels by name, the innermost first, each on what stands between."""
    f = program.function(SPACE)
    for name, wrap, direction in zip(names, between, program.directions, strict=False):
        f = LEVELS[name](BETWEEN[wrap](f), direction)
    return f


# --- against mpmath -------------------------------------------------------------------------------

@functools.cache
def build(seed: int, length: int = 7) -> Program:
    return Program(seed, SHAPES if seed % 2 else SCALARS, length)


@functools.cache
def expected(seed: int, orders: tuple[int, ...], length: int = 7) -> float:
    return build(seed, length).along(orders)


def found(seed: int, names: Sequence[str], between: Sequence[str], length: int = 7) -> float:
    kind: Any = Variable if seed % 4 > 1 else constant
    program = build(seed, length)
    return float(nested(program, names, between)([kind(p) for p in program.points]))


def near(value: Any, reference: float, rel: float = 1e-9) -> bool:
    return abs(float(value) - reference) <= rel * max(1.0, abs(reference))


POOL = 24 * MORE
OTHER = drawn("triples").randrange(len(LEVELS))


def test_the_programs_draw_on_the_whole_table() -> None:
    programs = [build(seed) for seed in range(200)]
    used = set().union(*[p.rows for p in programs])
    assert len(ROWS) > 100
    assert len(used) > 0.95 * len(ROWS)
    text = "\n".join(p.text for p in programs)
    for word in ("stop_gradient", "_ruled_by_", "product(", "@", "reshape", "stack", "[::-1]",
                 "softmax", "sum("):
        assert word in text


@pytest.mark.parametrize("outer", LEVELS)
@pytest.mark.parametrize("inner", LEVELS)
def test_every_level_on_every_other_on_every_other(inner: str, outer: str) -> None:
    """All second-order pairs, and one third-order triple for each: any two levels stand in one of
    them, wherever they stand. Another GRADCLI_SEED asks for other triples.
    """
    levels = list(LEVELS)
    pair = levels.index(inner) * len(LEVELS) + levels.index(outer)
    chosen = (levels.index(inner) + levels.index(outer) + OTHER) % len(LEVELS)
    draw = random.Random(pair)
    for turn in range(MORE):
        for k, last in enumerate((None, *LEVELS)):
            if last is not None and MORE == 1 and k != 1 + chosen:
                continue
            seed = (pair * 7 + k * 3 + turn * 11) % POOL
            names = [inner, outer] if last is None else [inner, outer, last]
            between = [draw.choice(["", "", *BETWEEN]) for _ in names]
            if last is not None and MORE == 1:      # one of three is dear enough
                between = [""]*3
                between[draw.randrange(3)] = draw.choice([*BETWEEN])
            # Long programs have third derivatives in the tests of SECOND and of one direction.
            length = 4 if last is not None and MORE == 1 else 7
            value = found(seed, names, between, length)
            orders = (1,) * len(names)
            assert near(value, expected(seed, orders, length)), (seed, names, between)


@pytest.mark.parametrize("name", LEVELS)
def test_first_derivatives(name: str) -> None:
    for seed in range(POOL):
        wrap = [*BETWEEN][seed % 3]     # seed % 2 and 4 say which program it is, and of what
        assert near(found(seed, [name], [wrap]), expected(seed, (1,))), (seed, wrap)


def directed(seed: int) -> tuple[Program, Function, list[Any]]:
    program = build(seed)
    return program, program.function(SPACE), [constant(p) for p in program.points]


@pytest.mark.parametrize("name", SECOND)
def test_two_orders_at_once_alone_and_on_and_under_each_level(name: str) -> None:
    both = SECOND[name]
    for seed in range([*SECOND].index(name) % 2, POOL, 1 if MORE > 1 else 2):
        program, f, xs = directed(seed)
        u, v, w = program.directions
        assert near(both(f, u, v)(xs), expected(seed, (1, 1))), seed
        level = LEVELS[list(LEVELS)[seed % len(LEVELS)]]
        assert near(level(both(f, u, v), w)(xs), expected(seed, (1, 1, 1))), seed
        assert near(both(level(f, u), v, w)(xs), expected(seed, (1, 1, 1))), seed


def test_jacobian_of_jacobian_of_gradient() -> None:
    for seed in range(POOL):
        program, f, xs = directed(seed)
        third = jacobian_of_jacobian_of_gradient(f, program.directions)
        assert near(third(xs), expected(seed, (1, 1, 1))), seed


@pytest.mark.parametrize("name", LEVELS)
def test_one_direction_three_times(name: str) -> None:
    """The Taylor coefficients of f(x + t u), which the same level gives three times."""
    for seed in range([*LEVELS].index(name), POOL, 10):
        program, f, xs = directed(seed)
        for order in (1, 2, 3):
            f = LEVELS[name](f, program.directions[0])
            assert near(f(xs), expected(seed, (order,))), (seed, order)


# --- against witnesses in floating point ----------------------------------------------------------

COMPLEX: dict[str, Any] = {
    **{name: getattr(np, name) for name in (
        "add", "subtract", "multiply", "divide", "negative", "positive", "reciprocal", "square",
        "power", "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos",
        "tan", "sinh", "cosh", "tanh", "sum", "mean", "prod", "stack", "reshape", "outer")},
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "concat": np.concatenate,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "softplus": lambda x: np.log(1 + np.exp(x)),
    "sec": lambda x: 1 / np.cos(x), "coth": lambda x: 1 / np.tanh(x),
    "hypot": lambda x, y: np.sqrt(x * x + y * y), "rsqrt": lambda x: 1 / np.sqrt(x),
    "silu": lambda x: x / (1 + np.exp(-x)), "squared_difference": lambda x, y: (x - y) ** 2,
    "lerp": lambda a, b, t: a + t * (b - a), "xlogy": lambda x, y: x * np.log(y),
    "xdivy": lambda x, y: x / y, "logaddexp": lambda x, y: np.log(np.exp(x) + np.exp(y)),
    "softmax": lambda x: np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True),
    # NumPy's own variance of complex numbers takes their absolute values.
    "var": lambda x, axis: np.mean((x - np.mean(x, axis=axis)) ** 2, axis=axis),
    "logsumexp": lambda x: np.log(np.exp(x).sum()), "norm": lambda x: np.sqrt((x * x).sum()),
    "stop_gradient": np.real, "true": True, "product": np.multiply,
    "sum_ruled_by_product": lambda a, b: np.real(a + b) + 1j * np.imag(a * b),
}
PLAIN: dict[str, Any] = {
    "sin": np.sin, "exp": np.exp, "tanh": np.tanh, "cube": lambda u: u ** 3, "atan": np.arctan,
    "half": lambda u: u / 2}
COMPLEX.update({
    f"{f}_ruled_by_{h}": lambda u, f=PLAIN[f], h=PLAIN[h]: f(np.real(u)) + 1j * np.imag(h(u))
    for f, h in itertools.product(PLAIN, PLAIN)})
SMOOTH = [name for name in ROWS if name in COMPLEX]


@functools.cache
def smooth(seed: int, custom: bool = True) -> Program:
    return Program(seed, SHAPES if seed % 2 else SCALARS, 8, SMOOTH, custom)


@pytest.mark.parametrize("name", LEVELS)
def test_complex_steps(name: str) -> None:
    assert len(SMOOTH) > 40
    for seed in range(5000, 5000 + POOL):
        program = smooth(seed)
        u = program.directions[0]
        moved = [p + 1e-30j * np.asarray(d) for p, d in zip(program.points, u, strict=True)]
        step = float(np.imag(program.function(COMPLEX)(moved))) / 1e-30
        value = LEVELS[name](program.function(SPACE), u)([constant(p) for p in program.points])
        assert near(value, step, 1e-12), seed


@pytest.mark.parametrize("order", [1, 2, 3])
def test_differences_of_the_level_below(order: int) -> None:
    """Sixth-order central differences of one derivative less, by other levels."""
    weights = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
    h = 2e-3
    draw = random.Random(order)
    for seed in range(6000, 6000 + POOL // order):
        program = smooth(seed, custom=False)
        names = [draw.choice(list(LEVELS)) for _ in range(2 * order)]
        u = program.directions[order - 1]

        def below(step: float, names: Any = names, u: Any = u, program: Any = program) -> float:
            return float(nested(program, names[:order - 1], [""] * order)([
                constant(p + step * np.asarray(d))
                for p, d in zip(program.points, u, strict=True)]))

        slope = sum(w * (below(k * h) - below(-k * h)) for k, w in weights.items()) / h
        value = nested(program, names[order:], [""] * order)([
            constant(p) for p in program.points])
        assert near(value, slope, 1e-6), (seed, names)


def library(name: str) -> Any:
    return importlib.import_module(name)


def in_jax() -> dict[str, Any]:
    jax, jnp = library("jax"), library("jax.numpy")
    jax.config.update("jax_enable_x64", True)
    still = jax.lax.stop_gradient
    plain = {"sin": jnp.sin, "exp": jnp.exp, "tanh": jnp.tanh, "cube": lambda u: u ** 3,
             "atan": jnp.arctan, "half": lambda u: u / 2}
    same = {name: getattr(jnp, name) for name in (
        "add", "subtract", "multiply", "divide", "negative", "positive", "reciprocal", "square",
        "power", "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos",
        "tan", "sinh", "cosh", "tanh", "sum", "mean", "prod", "var", "outer", "logaddexp")}
    return {
        **{name: f for name, f in COMPLEX.items() if callable(f)}, **same, "true": True,
        "product": jnp.multiply,
        "asin": jnp.arcsin, "acos": jnp.arccos, "atan": jnp.arctan, "asinh": jnp.arcsinh,
        "acosh": jnp.arccosh, "atanh": jnp.arctanh,
        "stack": lambda xs, axis: jnp.stack([jnp.asarray(x) for x in xs], axis=axis),
        "concat": jnp.concatenate, "reshape": jnp.reshape,
        "sigmoid": jax.nn.sigmoid, "softplus": jax.nn.softplus, "silu": jax.nn.silu,
        "sec": lambda x: 1 / jnp.cos(x), "coth": lambda x: 1 / jnp.tanh(x),
        "hypot": lambda x, y: jnp.sqrt(x * x + y * y), "rsqrt": lambda x: 1 / jnp.sqrt(x),
        "xlogy": lambda x, y: x * jnp.log(y),
        "softmax": jax.nn.softmax, "logsumexp": jax.nn.logsumexp,
        "norm": lambda x: jnp.sqrt((x * x).sum()), "stop_gradient": still,
        "sum_ruled_by_product": lambda a, b: a * b + still(a + b - a * b),
        **{f"{f}_ruled_by_{h}": lambda u, f=plain[f], h=plain[h]: h(u) + still(f(u) - h(u))
           for f, h in itertools.product(plain, plain)}}


def reference_in_jax(program: Program, order: int) -> float:
    """The mixed derivative along the first directions, alternating jvp and grad."""
    jnp = library("jax.numpy")
    run = program.function(in_jax())

    def f(xs: Any) -> Any:
        return jnp.reshape(run(list(xs)), ())

    for k in range(order):
        u = tuple(jnp.asarray(d) for d in program.directions[k])
        if k % 2:
            f = functools.partial(_jvp, f, u)
        else:
            f = functools.partial(_grad, f, u)
    return float(f(tuple(jnp.asarray(p) for p in program.points)))


def _jvp(f: Any, u: Any, xs: Any) -> Any:
    return library("jax").jvp(f, (xs,), (u,))[1]


def _grad(f: Any, u: Any, xs: Any) -> Any:
    found = library("jax").grad(f)(xs)
    return sum((g * d).sum() for g, d in zip(found, u, strict=True))


JAX = importlib.util.find_spec("jax") is not None


@pytest.mark.parametrize("order", [1, 2, 3])
def test_other_witnesses_agree_on_the_same_programs(order: int) -> None:
    """mpmath, and jax where it is installed."""
    witnesses: list[Callable[[Program, int], float]] = [lambda p, n: p.along((1,) * n)]
    if JAX:
        witnesses.append(reference_in_jax)
    draw = random.Random(order)
    for seed in range(7000, 7000 + (8 if JAX else 20) * MORE):
        program = smooth(seed)
        names = [draw.choice(list(LEVELS)) for _ in range(order)]
        value = nested(program, names, [""] * order)([constant(p) for p in program.points])
        for witness in witnesses:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert near(value, witness(program, order)), (seed, names, witness)
