"""Parsing a short expression: gradcli's table driver and stock Lark on the same grammar.

Lark's rules have callbacks that only note what was reduced; gradcli's emit code. Both are compared
by the steps that they found, in order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from benchmarks.harness.case import CHECKOUT, ROOT, Case, Ratio, Worker

TEXT = "x^2*sin(y)+exp(x*y)-3.5*x/y+1"
STEPS = ("name", "number", "call", "result", "add", "subtract", "multiply", "divide", "power")


def order(steps: list[str]) -> list[float]:
    """The steps as numbers, which the harness compares."""
    return [float(STEPS.index(step)) for step in steps if step in STEPS]


def gradcli() -> Callable[[], Any]:
    from gradcli.base.errors import Source
    from gradcli.lang.syntax.parser import parse

    return lambda: parse(Source(TEXT, "<text>"))


def found_by_gradcli(statements: Any) -> list[float]:
    from gradcli.lang.syntax import code as c

    names = {c.LOAD: "name", c.PUSH: "number", c.CALL: "call", c.RESULT: "result"}
    return order([names.get(kind, argument) for kind, argument, _, _ in statements[0].code])


def whole_program() -> Callable[[], Any]:
    import gradcli as g

    return lambda: g.loads(TEXT)


def stock_lark() -> Callable[[], Any]:
    sys.path.insert(0, str(ROOT / "tests/tools"))
    from stock_lark import stock

    lark, shaper = stock()
    done: list[str] = []

    def recorder(alias: str | None) -> Callable[[Any], None]:
        return (lambda children: done.append(alias)) if alias else (lambda children: None)

    machine = lark.parser.parser.parser
    machine.callbacks = {rule: recorder(rule.alias) for rule in machine.callbacks}

    def action() -> list[str]:
        done.clear()
        shaper.text = TEXT
        lark.parse(TEXT)
        return done

    return action


CASES = [
    Case("parsing", f"parsing `{TEXT}`", [
        Worker("gradcli", CHECKOUT, gradcli, found_by_gradcli),
        Worker("gradcli, with the check of names", CHECKOUT, whole_program,
               lambda program: found_by_gradcli(program.statements)),
        Worker("stock Lark", "lark", stock_lark, order),
    ], [Ratio("gradcli", "stock Lark", 0.4),
        Ratio("gradcli, with the check of names", "stock Lark")]),
]
