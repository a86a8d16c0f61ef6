"""Answers made by hand for the tests of renderers, in the shape of `gradcli/schemas`."""

from __future__ import annotations

from typing import Any

Answer = dict[str, Any]

HOSTILE = ["[/b]", "[bold]x[/bold]", "\x1b[31mred\x1b[0m", "a|b", "=cmd()", "`tick", "x\u202ey",
           ":x:", "two\nlines", "<b>", "a&b_{c}$", "\u6f22\u5b57", "\ud800"]


def reason(code: str, message: str, **more: Any) -> Answer:
    return {"code": code, "message": message, "line": 2, "column": 1, "end_line": 2,
            "end_column": 8, "related": [], "fix": None, "fix_works": None, **more}


def note(code: str, message: str, line: int | None = 3) -> Answer:
    return {"code": code, "message": message, "line": line, "column": 1}


def source(wrt: str, at: Any, field: str, value: Any, shape: tuple[int, ...] = (),
           **more: Any) -> Answer:
    return {"wrt": wrt, "shape": list(shape), "at": at, field: value, "reasons": [], "notes": [],
            **more}


def answer(command: str, *results: Answer) -> Answer:
    return {"schema": 1, "command": command, "file": "expr.txt", "mode": "reverse",
            "results": list(results)}


def grad(*sources: Answer, of: str = "y", value: Any = 9.0, **more: Any) -> Answer:
    return answer("grad", {"of": of, "shape": [], "value": value, "summed": False,
                           "sources": list(sources), **more})


def slope(wrt: str, at: Any, value: Any, **more: Any) -> Answer:
    shape = []
    level = at
    while isinstance(level, list):
        shape.append(len(level))
        level = level[0]
    return source(wrt, at, "gradient", value, tuple(shape), **more)


CONSTANT = reason(
    "source-constant-unwatched", "`c` is a constant and nothing watches it",
    related=[{"line": 4, "column": 5, "message": "first used here"}], fix="var c = 2.0",
    fix_works=True)

# The answer of the contract: y = x^2 with a constant that nothing watches.
SIMPLE = grad(slope("x", 3.0, 6.0), slope("c", 2.0, None, reasons=[CONSTANT]))

VECTORS = grad(
    slope("w", [1.0, 2.5, -3.0], [0.25, 1 / 3, -1e-17]),
    slope("A", [[1.0, 2.0], [3.0, 4.0]], [[1.5, -20.25], [1 / 3, 4.0]]),
    slope("k", 3.0, 0.0, notes=[note("zero-flat", "`floor` is flat almost everywhere", 4)]),
    of="loss", value=0.123456789)

SPECIAL = grad(slope("a", float("inf"), float("nan")), slope("b", -0.0, -float("inf")),
               slope("c", 1e300, 1e-17))

CHECKED = grad(
    slope("x", 3.0, 6.0, verify={"method": "finite", "gradient": 6.0000001, "difference": 1.7e-8}),
    slope("z", 1.0, 2.0, verify={"method": "finite", "gradient": 3.0, "difference": 0.33}))

JACOBIAN = answer("jac", {
    "of": "y", "shape": [2], "value": [1.0, 2.0], "summed": False, "sources": [
        source("x", [1.0, 2.0, 3.0], "jacobian", [[1.0, 0.0, 1 / 3], [12.5, 2.0, 1e-9]], (3,)),
        source("c", 2.0, "jacobian", None, reasons=[CONSTANT])]})


def block(row: str, col: str, value: Any, shape: tuple[int, ...] = (), **more: Any) -> Answer:
    return {"row": row, "col": col, "shape": list(shape), "hessian": value, "reasons": [],
            "notes": [], **more}


HESSIAN = answer("hess", {
    "of": "z", "shape": [], "value": 9.0, "summed": False, "at": {"x": 3.0, "v": [1.0, 2.0]},
    "blocks": [
        block("x", "x", 2.0), block("x", "v", [0.1, 22.0], (2,)),
        block("v", "x", [0.1, 22.0], (2,)), block("v", "v", [[1.5, 0.0], [0.0, 1 / 3]], (2, 2))],
    "eigenvalues": [-1.0, 0.5, 22.0], "definiteness": "indefinite"})

VALUES = answer(
    "eval", {"of": "y", "shape": [], "value": 9.0},
    {"of": "A", "shape": [2, 2], "value": [[1.0, 2.0], [3.0, 4.5]], "notes": [note("n", "noted")]},
    {"of": "name", "shape": [], "value": "text"}, {"of": "holds", "shape": [], "value": True},
    {"of": "parts", "shape": None, "value": {"w": 1.0, "rest": [2.0, [3.0]]}})

OPERATIONS: Answer = {"schema": 1, "command": "ops", "operations": [
    {"name": "sin", "aliases": ["sine"], "kind": "elementwise", "arguments": ["x"],
     "derivative": ["cos(x)"], "domain": None, "kinks": None, "doc": "Sine of an angle in radians.",
     "latex": "\\sin\\left(x\\right)"},
    {"name": "where", "aliases": [], "kind": "elementwise", "arguments": ["c", "a", "b"],
     "derivative": [None, "c", "1 - c"], "domain": None, "kinks": "the edge of the condition",
     "doc": "a where c holds, else b | both are computed.", "latex": None}]}

ALL = {"simple": SIMPLE, "vectors": VECTORS, "special": SPECIAL, "checked": CHECKED,
       "jacobian": JACOBIAN, "hessian": HESSIAN, "values": VALUES, "operations": OPERATIONS}


def hostile(text: str) -> list[Answer]:
    """Answers of all commands with `text` wherever text of others can stand."""
    told = reason("code", f"message {text}", fix=text, fix_works=True,
                  related=[{"line": 4, "column": 5, "message": text}])
    noted = [note("tie", text)]
    answers = [
        grad(slope(text, 1.0, None, reasons=[told], notes=noted), of=text),
        answer("jac", {
            "of": text, "shape": [2], "value": [1.0, 2.0], "summed": False, "notes": noted,
            "sources": [source(text, 1.0, "jacobian", [1.0, 2.0], notes=noted)]}),
        answer("hess", {
            "of": text, "shape": [], "value": 1.0, "summed": False, "at": {text: 1.0},
            "blocks": [block(text, text, None, reasons=[told])], "definiteness": text}),
        answer("eval", {"of": text, "shape": [], "value": text, "notes": noted},
               {"of": text, "shape": [1], "value": [text]}),
        {"schema": 1, "command": "ops", "operations": [
            {"name": text, "aliases": [text], "kind": text, "arguments": [text],
             "derivative": [text], "domain": text, "kinks": text, "doc": text, "latex": None}]}]
    for one in answers:
        one["file"] = text
    return answers
