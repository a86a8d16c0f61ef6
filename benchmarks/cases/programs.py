"""Scalar programs of 1,000 operations, as files and as functions over any engine's numbers.

`chain` is y = y*0.5 + sin(y)*x, 250 times: one value goes from turn to turn, and XLA makes a single
kernel of all. `recurrence` hands on three values, 100 times ten operations. `mixed` is 500 lines of
two operations each, of the value before and of any earlier one. How well XLA does depends on which.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

Function = Callable[..., Any]

TURNS = 250
CHAIN_LOOP = "var x = 0.7\ny = x\nfor i in range({}):\n    y = y*0.5 + sin(y)*x\ny\n"
CHAIN_AT = {"x": 0.7}
MIXED_AT = {"x": 0.3, "y": 0.4, "z": 0.5}
FORMS = ("sin({a})*{b}", "cos({a})*{b}", "tanh({a} + {b})", "sin({a} - {b})", "{a}*{b} + 0.5",
         "0.5*{a} - {b}", "exp({a})*0.5", "{a}/(-3.0 + {b})")


def chain_lines(turns: int) -> str:
    return "var x = 0.7\ny = x\n" + "y = y*0.5 + sin(y)*x\n"*turns + "y\n"


def chain(m: Any, turns: int = TURNS) -> Function:
    """m: a module with the functions."""
    sin = m.sin

    def f(x: Any) -> Any:
        y = x
        for _ in range(turns):
            y = y*0.5 + sin(y)*x
        return y

    return f


TURN = """a = sin(x)*y
b = cos(y) + x
c = a*b
x = tanh(c) + z
y = 0.5*y + c
z = 0.3*x
"""
RECURRENCE = "input x = 0.3\ninput y = 0.4\ninput z = 0.5\n" + 100*TURN + "x + y*z\n"


def recurrence(m: Any) -> Function:
    """m: a module with the functions."""
    sin, cos, tanh = m.sin, m.cos, m.tanh

    def f(x: Any, y: Any, z: Any) -> Any:
        for _ in range(100):
            a = sin(x)*y
            b = cos(y) + x
            c = a*b
            x = tanh(c) + z
            y = 0.5*y + c
            z = 0.3*x
        return x + y*z

    return f


@cache
def mixed_lines() -> str:
    """Without the last line, which names the last value."""
    draw = random.Random(6)
    names = list(MIXED_AT)
    lines = []
    for k in range(500):
        # What grows is brought back by the next.
        form = draw.choice(FORMS) if k % 4 else FORMS[2]
        lines.append(f"v{k} = {form.format(a=names[-1], b=draw.choice(names))}\n")
        names.append(f"v{k}")
    return "".join(lines)


def mixed(m: Any) -> Function:
    """m: a module with the functions."""
    body = "".join([f"    {line}\n" for line in mixed_lines().splitlines()])
    names = {name: getattr(m, name) for name in ("sin", "cos", "tanh", "exp")}
    exec(f"def f(x, y, z):\n{body}    return v499\n", names)
    f: Function = names["f"]
    return f


MIXED = "input x = 0.3\ninput y = 0.4\ninput z = 0.5\n" + mixed_lines() + "v499\n"
