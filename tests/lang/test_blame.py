"""Carets mark the argument, option or name to blame, wherever it stands in a call or operation.

The lines are put together from parts, so the test knows where the wrong one stands.
"""

from __future__ import annotations

import random

import pytest
from conftest import folded

from gradcli.base.errors import GradcliError
from gradcli.lang.syntax.code import VERBS
from gradcli.ops import PUBLIC
from gradcli.python.program import loads

RANDOM = random.Random(15)
TEXT = '"ü\u0301漢"'
SIGNS = ["+", "-", "*", "/", "//", "%", "^", "@", "<", ">=", "·", "−", "**"]
OPERANDS = ["x", "(x + 1)", "f(x, 2)", "[1, 2][0]", "(2x)", "A[0, 1]", "sum([x, (x)])"]
BEFORE = ("f(a, b) = a\nvar x = 3.0\nA = [[1.0, 2.0], [3.0, 4.0]]\nvar w = [1.0, 2.0]\n"
          "café = \"ñ\"; \t ")


def blamed(line: str) -> tuple[str, str, int]:
    """(code, what is marked, its offset in the line) of the one error of a line that follows
    others, of many bytes and a tab.
    """
    with pytest.raises(GradcliError) as caught:
        loads(BEFORE + line + "\nz = 1").run({})
    (one,) = caught.value.diagnostics
    assert one.span is not None
    assert one.source is not None
    start, end = one.span
    return one.code, one.source.text[start:end], start - len(BEFORE)


def held(parts: list[str], wrong: int, *codes: str) -> None:
    """The error of a line is at the part with the number `wrong`."""
    line = "".join(parts)
    code, text, at = blamed(line)
    assert code in codes, line
    assert (text, at) == (parts[wrong], len("".join(parts[:wrong]))), line


def blank() -> str:
    return RANDOM.choice(["", " ", "  ", "\t"])


@folded
@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("operand", OPERANDS)
def test_operands(sign: str, operand: str) -> None:
    for parts, wrong in (([operand, blank(), sign, blank(), TEXT], 4),
                         ([TEXT, blank(), sign, blank(), operand], 0)):
        held(["y = (", *parts, ")*1"], wrong + 1, "E0302")


@pytest.mark.parametrize("parts", [
    ["x - 1 - ", "|", ""], ["", "|", " - 1 - x"], ["x - ", "|", " - x"], ["2^x^", "|", ""],
    ["x^-", "|", ""], ["2", "|", ""], ["-", "|", "^2"], ["√", "|", ""], ["", "|", "²"],
    ["x + 2*x*", "|", " - 1"], ["x - -x*-", "|", ""],
])
def test_chains(parts: list[str]) -> None:
    wrong = "(" + TEXT + ")" if parts[0] == "2" else TEXT
    held(["y = ", *[wrong if p == "|" else p for p in parts]], 2, "E0302")


CALLED = sorted({op.name: op for op in PUBLIC.values()
                 if op.name not in VERBS and op.parameters and not op.variadic
                 and not op.parameters[-1].startswith("*")}.values(), key=lambda op: op.name)


def test_arguments_of_every_operation() -> None:
    tried = 0
    for op in CALLED:
        n = len(op.parameters)
        for k in range(n):
            if op.role(k) == "text":
                continue
            given = [RANDOM.choice(OPERANDS) for _ in range(n)]
            given[k] = TEXT
            parts = ["y = 2*(", op.name, "(", blank()]
            for i, a in enumerate(given):
                parts += [", " * (i > 0), a]
            code, text, at = blamed("".join([*parts, ")) + 1"]))
            if code == "E0302":
                where = len("".join(parts[:5 + 2 * k]))
                assert (text, at) == (TEXT, where), parts
                tried += 1
    assert tried > 400


def test_options_of_every_operation() -> None:
    for op in CALLED:
        given = ", ".join(["x"] * len(op.parameters))
        held([f"y = {op.name}({given}, ", "nö", " = 1)"], 1, "E0208")
        most = len(op.parameters) + len(op.attributes)
        held(["y = ", op.name, "(", ", ".join(["x"] * most) + ", ", "A, (x)", ")"], 4, "E0207")


def test_axes_of_every_operation() -> None:
    tried = 0
    for op in CALLED:
        if "axis" in op.attributes and len(op.parameters) == 1:
            for before in ("axis=", "axis = ", ""):
                if not before and next(iter(op.attributes)) != "axis":
                    continue
                line = ["y = ", op.name, "(A, ", before, "17", ")"]
                code, text, at = blamed("".join(line))
                if code == "E0304":
                    assert (text, at) == ("17", len("".join(line[:4]))), line
                    tried += 1
    assert tried > 40


@folded
@pytest.mark.parametrize(("line", "code"), [
    ("y = f(x, 2, «x, 3»)", "E0207"), ("y = f(x, «c»=2)", "E0207"), ("y = f(x, «a»=2)", "E0207"),
    ("y = grad(x^2, [x, «3»])", "E0310"), ("y = A[0, «2»]", "E0305"), ("y = A[«-3», 1]", "E0305"),
    ("y = concat([w, «\"é\"», w])", "E0302"), ("y = reshape(A, shape=[-1, «2.5»])", "E0303"),
    ("y = zeros(2, «-1»)", "E0303"), ("y = sum(A, axis=[0, «5»])", "E0304"),
    ("y = A.T.«shap»", "E0308"), ("y = np.mean(A, axis=«3»)", "E0304"),
    ("y = sin'(«\"é\"»)", "E0302"), ("y = sin'(x, «2»)", "E0207"),
    ("x.assign(«\"é\"»)", "E0302"), ("x.assign(1, «2»)", "E0207"), ("x.«add»(1)", "E0318"),
    ("y = «np.meen»(A)", "E0209"), ("y = {\"a\": 1}[«\"b\"»]", "E0305"),
    ("y = f(sin(x), cos(x) + «\"é\"»)", "E0302"), ("y = f(f(x, «\"é\"» - 1), 2)", "E0302"),
    ("\nfor k in range(1, 2, «0»):\n  k", "E0303"), ("y = cast(x, «\"real\"»)", "E0306"),
    ("y = norm(w, ord=«-1»)", "E0404"), ("y = linspace(0, 1, «-3»)", "E0404"),
    # which of two equal values is meant cannot be told: all of the call
    ("y = «zeros(-1, -1)»", "E0303"),
    # two operands that do not fit together: both
    ("y = 2*(«w + [1, 2, 3]»)", "E0301"), ("y = «A @ [1, 2, 3]» + 1", "E0301"),
    # inside of a function that an operation calls: where it happens
    ("g(t) = t - «\"é\"»\ny = g'(x)", "E0302"),
    ("\ntape t, «persistant»=true:\n  y = x", "E0208"),
    ("\ntape t, persistent=«3»:\n  y = x", "E0306"),
    ("var v: int64 = 2, trainable=«1»", "E0306"),
    ("input v = «7», domain=[0, 5]", "E0405"),
    ("expect x ~= 3, rtol=«-1»", "E0306"), ("expect x ~= 3, «rtl»=1", "E0208"),
])
def test_other_calls(line: str, code: str) -> None:
    plain = line.replace("«", "").replace("»", "")
    start, end = line.index("«"), line.index("»") - 1
    assert blamed(plain)[:3] == (code, plain[start:end], start)


@pytest.mark.parametrize(("line", "given", "place"), [
    ("input v = 2, domain=[0, 5]", 7.0, "[0, 5]"), ("var v: int64 = 2", 2.5, "int64"),
    ("var v: float64[2] = [1, 2]", 1.0, "float64[2]"),
])
def test_values_from_outside_are_held_to_the_declaration(line: str, given: float, place: str
                                                        ) -> None:
    with pytest.raises(GradcliError) as caught:
        loads(line + "\nv*1.0").run({"v": given})
    assert caught.value.span is not None
    assert line[slice(*caught.value.span)] == place
