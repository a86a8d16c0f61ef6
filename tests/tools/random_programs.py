"""Random programs, and what they mean in mpmath: two readings that share no code.

A program is a list of bindings `t0 = ...`, each of one operation on earlier names. Beside its text
stands a function that evaluates it on object arrays of mpmath numbers, so that differences at 60
digits give derivatives of any order to more digits than a float has. Elementwise operations are
drawn from gradcli's table; their arguments are mapped smoothly into the range that the row may be
sampled in.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath as mp
import numpy as np
from draws import drawn
from references import FUNCTIONS

from gradcli.ops import TABLE

Env = dict[str, Any]
DIGITS = 60


# What is drawn. An operation made of others is known by the row that it is.
REFERENCES = {name: FUNCTIONS[{"gelu": "gelu_erf"}.get(name, name)] for name in """
    add subtract multiply divide negative positive reciprocal square power sqrt cbrt rsqrt
    hypot exp exp2 expm1 log log2 log10 log1p xlogy xlog1py xdivy logaddexp sin cos tan sec
    csc cot asin acos atan atan2 asec acsc acot sinh cosh tanh sech csch coth asinh acosh
    atanh asech acsch acoth radians degrees abs maximum minimum sigmoid log_sigmoid softplus
    softsign gelu silu elu erf erfc relu
    """.split()}
# Smooth to all orders; the others have a kink that a difference might straddle.
KINKED = ("abs", "maximum", "minimum", "softsign", "elu", "relu")
SMOOTH = [name for name in REFERENCES if name in TABLE and name not in KINKED]


def each(function: Callable[..., Any], *arguments: Any) -> Any:
    """A function of mpmath numbers over object arrays, with broadcasting."""
    if all(not isinstance(a, np.ndarray) for a in arguments):
        return function(*arguments)
    return np.frompyfunc(function, len(arguments), 1)(*arguments)


def exact(value: Any) -> Any:
    """A float or array as mpmath numbers."""
    if isinstance(value, (float, int)):
        return mp.mpf(value)
    return np.frompyfunc(mp.mpf, 1, 1)(np.asarray(value, float))


class Node:
    """A bound name, its shape, and its meaning."""

    __slots__ = ("meaning", "name", "shape")

    def __init__(self, name: str, shape: tuple[int, ...], meaning: Callable[[Env], Any]) -> None:
        self.name = name
        self.shape = shape
        self.meaning = meaning


class RandomProgram:
    """lines: bindings; the last one is `out`, a scalar, and `vector` is one of several elements."""

    def __init__(self, seed: int, inputs: Mapping[str, tuple[int, ...]], length: int,
                 names: Sequence[str] = SMOOTH) -> None:
        self.draw = drawn(seed)
        self.names = list(names)
        self.inputs = dict(inputs)
        self.nodes = [Node(n, s, lambda env, n=n: env[n]) for n, s in inputs.items()]  # type: ignore[misc]
        self.leaves = len(self.nodes)
        self.lines: list[str] = []
        self.at = {n: self._point(s) for n, s in inputs.items()}
        self.env: Env = {n: exact(v) for n, v in self.at.items()}
        makers = [self._elementwise] * 4
        if any(inputs.values()):
            makers += [self._reduction, self._matmul, self._shuffled, self._indexed, self._joined,
                       self._composite]
        attempts = 0
        while len(self.lines) < length and attempts < 50 * length:
            attempts += 1
            self.draw.choice(makers)()
        self._finish()

    def _point(self, shape: tuple[int, ...]) -> Any:
        values = [round(self.draw.uniform(-1.5, 1.5), 3) for _ in range(int(np.prod(shape)))]
        return np.array(values).reshape(shape) if shape else values[0]

    def _pick(self) -> Node:
        """Recent names more often than old ones, so that chains are deep and all inputs used."""
        return self.nodes[-1 - int(len(self.nodes) * self.draw.random() ** 1.5)]

    def _add(self, text: str, meaning: Callable[[Env], Any], limit: float = 60.0) -> bool:
        """Bind an expression, unless its value is large or has too many elements."""
        value = meaning(self.env)
        array = np.asarray(value, dtype=object)
        if array.size > 24 or array.size == 0 or any(abs(v) > limit for v in array.flat):
            return False
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.env[name] = value
        self.nodes.append(Node(name, array.shape, meaning))
        return True

    def _elementwise(self) -> None:
        op = TABLE[self.draw.choice(self.names)]
        reference = REFERENCES[op.name]
        texts, meanings = [], []
        for low, high in op.samples:
            node = self._pick()
            middle, half = round((low + high) / 2, 3), round((high - low) / 2, 3)
            texts.append(f"{middle} + {half}*tanh({node.name})")
            meanings.append(lambda env, n=node.name, m=middle, h=half: each(
                lambda v: mp.mpf(m) + mp.mpf(h) * mp.tanh(v), env[n]))
        try:
            np.broadcast_shapes(*[np.shape(m(self.env)) for m in meanings])
        except ValueError:
            return
        self._add(f"{op.name}({', '.join(texts)})",
                  lambda env: each(reference, *[m(env) for m in meanings]))

    def _reduction(self) -> None:
        node = self._pick()
        if not node.shape:
            return
        axis = self.draw.choice([None, *range(-len(node.shape), len(node.shape))])
        keep = self.draw.random() < 0.4
        kind = self.draw.choice(["sum", "mean"])
        options = ("" if axis is None else f", axis={axis}") + (", keepdims=true" if keep else "")
        self._add(f"{kind}({node.name}{options})", lambda env: getattr(np, kind)(
            env[node.name], axis=axis, keepdims=keep))

    def _matmul(self) -> None:
        a, b = self._pick(), self._pick()
        vectors = len(a.shape) == len(b.shape) == 1
        if vectors and self.draw.random() < 0.5:
            self._add(f"outer({a.name}, {b.name})", lambda env: np.outer(env[a.name], env[b.name]))
        elif a.shape and b.shape and a.shape[-1] == b.shape[-2 if len(b.shape) > 1 else -1]:
            self._add(f"{a.name} @ {b.name}", lambda env: np.matmul(env[a.name], env[b.name]))

    def _shuffled(self) -> None:
        node = self._pick()
        if len(node.shape) < 1:
            return
        if self.draw.random() < 0.5:
            self._add(f"{node.name}.T * 1.5", lambda env: env[node.name].T * mp.mpf(1.5))
        else:
            self._add(f"reshape({node.name}, [-1, 1])", lambda env: np.reshape(
                env[node.name], (-1, 1)))

    def _indexed(self) -> None:
        node = self._pick()
        if not node.shape:
            return
        n = node.shape[0]
        key, text = self.draw.choice([
            (n // 2, str(n // 2)), (-1, "-1"), (slice(None, None, -1), "::-1"),
            (slice(0, max(1, n - 1)), f":{max(1, n - 1)}"), ([0, n - 1, 0], f"[0, {n - 1}, 0]")])
        if len(node.shape) > 1 and self.draw.random() < 0.5:
            self._add(f"{node.name}[:, 0]", lambda env: env[node.name][:, 0])
        else:
            self._add(f"{node.name}[{text}]", lambda env: env[node.name][key])

    def _joined(self) -> None:
        a = self._pick()
        b = next((n for n in reversed(self.nodes) if n.shape == a.shape and n is not a), a)
        kind = self.draw.choice(["stack", "concat"] if a.shape else ["stack"])
        axis = self.draw.choice([0, -1])
        join = np.stack if kind == "stack" else np.concatenate
        self._add(f"{kind}([{a.name}, 0.5*{b.name}], axis={axis})", lambda env: join(
            [np.asarray(env[a.name], object), np.asarray(env[b.name] * mp.mpf(0.5), object)],
            axis=axis))

    def _composite(self) -> None:
        node = self._pick()
        if not node.shape:
            return
        name = node.name
        exp = np.frompyfunc(mp.exp, 1, 1)
        text, meaning = self.draw.choice([
            (f"softmax({name})", lambda env: exp(env[name]) / np.sum(
                exp(env[name]), axis=-1, keepdims=True)),
            (f"logsumexp({name})", lambda env: mp.log(np.sum(exp(env[name])))),
            (f"var({name}, axis=0)", lambda env: np.mean(
                (env[name] - np.mean(env[name], axis=0)) ** 2, axis=0)),
            (f"norm({name})", lambda env: mp.sqrt(np.sum(env[name] ** 2))),
            (f"prod({name}, axis=-1)", lambda env: np.prod(env[name], axis=-1)),
        ])
        # Where a norm is near its kink or a product near nothing, differences see the kink.
        if text.startswith("norm") and abs(meaning(self.env)) < 0.1:
            return
        self._add(text, meaning)

    def _finish(self) -> None:
        """`out` sums what no later line used up, so that nothing is computed in vain."""
        text = " + ".join(f"sum({n.name})*{k + 1}/7" for k, n in enumerate(self.nodes[-3:]))
        used = [n.name for n in self.nodes[-3:]]
        self.lines.append(f"out = {text}")
        self.out = lambda env: sum(
            (np.sum(env[n]) * (k + 1) / mp.mpf(7) for k, n in enumerate(used)), mp.mpf(0))
        last = next((n for n in reversed(self.nodes) if n.shape), None)
        self.vector = last.name if last else None
        self.text = "\n".join(self.lines)

    def evaluate(self, point: Env, target: str | None = None) -> Any:
        """The scalar `out`, or a named value, at a point of mpmath numbers."""
        env = dict(point)
        for node in self.nodes[self.leaves:]:
            env[node.name] = node.meaning(env)
        return env[target] if target else self.out(env)

    # --- differences at 60 digits -------------------------------------------------------------

    def slots(self) -> list[tuple[str, Any]]:
        """Every element of every input."""
        return [(n, k) for n, s in self.inputs.items() for k in (np.ndindex(s) if s else [()])]

    def moved(self, steps: Mapping[tuple[str, Any], Any]) -> Env:
        env = {n: (v.copy() if isinstance(v, np.ndarray) else v)
               for n, v in ((n, exact(v)) for n, v in self.at.items())}
        for (name, key), step in steps.items():
            if key == ():
                env[name] += step
            else:
                env[name][key] += step
        return env

    def derivative(self, slots: Sequence[tuple[str, Any]], target: str | None = None) -> Any:
        """The mixed partial in these slots, by central differences with steps of 1e-12."""
        h = mp.mpf(10) ** -12
        total: Any = 0
        for signs in itertools.product((1, -1), repeat=len(slots)):
            steps: dict[tuple[str, Any], Any] = {}
            sign = 1
            for slot, s in zip(slots, signs, strict=True):
                steps[slot] = steps.get(slot, 0) + s * h
                sign *= s
            total = total + sign * self.evaluate(self.moved(steps), target)
        return total / (2 * h) ** len(slots)


