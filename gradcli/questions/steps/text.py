r"""The formulas of a trace, as a person writes them: each in gradcli's own spelling and in LaTeX.

A `Written` stands in the place of an operand: operations and rules of the table, applied to it,
write more of the formula. What is not written with an operator has its LaTeX from the row.
"""

from __future__ import annotations

from gradcli.ops.text import (
    ADDED,
    ATOM,
    LATEX,
    MULTIPLIED,
    PATTERNS,
    POWER,
    SIGN,
    SPELLED,
    Symbolic,
    Text,
    inside,
)
from gradcli.ops.text import applied as applied_text
from gradcli.render import latex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gradcli.ops.kinds import Op

RELATIONS = {"less": "<", "less_equal": r"\le", "greater": ">", "greater_equal": r"\ge",
             "equal": "=", "not_equal": r"\ne", "logical_and": r"\land", "logical_or": r"\lor"}
KNOWN = {3.141592653589793: ("pi", r"\pi"), 2.718281828459045: ("e", "e")}
# What operations that files cannot call are made of.
SHOWN = {"cast_other": "cast", "cast_float": "cast", "lowered_exponent": "exponent",
         "guarded_base": "base",
         "sum_to": "sum", "spread": "reshape", "unbatch": "reshape"}
# Numbers of an array that are written out.
LISTED = 4
# What a placeholder that needs no brackets stands behind.
INSIDE = ("{", "(", "|", ",", "[", "{cases}", "&", r"\\")


class Notation(Symbolic):
    """A formula being written. text: in gradcli's spelling. tex: the same in LaTeX, and how
    strongly that binds.
    """

    __slots__ = ("strength", "tex", "text")
    value = None

    def __init__(self, text: Text, tex: str, strength: int = ATOM) -> None:
        self.text = text
        self.tex = tex
        self.strength = strength

    def __gradcli_apply__(self, op: Op, args: Sequence[Any], attributes: Mapping[str, Any]
                          ) -> Notation:
        return applied(op, args, attributes)


def name(text: str) -> Notation:
    """Return a name as text."""
    return Notation(Text(text), latex.name(text))


def written(value: Any) -> Notation:
    """Return a plain value as text: a number to six digits, an array by its few numbers or its
    shape.
    """
    if isinstance(value, Notation):
        return value
    if value is None:
        return Notation(Text("none"), r"\mathrm{none}")
    if isinstance(value, bool):
        return Notation(Text(str(value).lower()), rf"\mathrm{{{str(value).lower()}}}")
    if isinstance(value, (int, float)):
        if value in KNOWN:
            text, tex = KNOWN[float(value)]
            return Notation(Text(text), tex)
        return _number(f"{value:.6g}", value < 0)
    shape = getattr(value, "shape", None)
    if shape == ():
        return written(value.item())
    if shape is not None and len(shape) == 1 and shape[0] <= LISTED and value.dtype.kind in "fiu":
        numbers = [written(v) for v in value.tolist()]
        cells = " & ".join([v.tex for v in numbers])
        return Notation(Text(f"[{', '.join([v.text.text for v in numbers])}]"),
                        rf"\begin{{pmatrix}} {cells} \end{{pmatrix}}")
    if shape is not None:
        size = "x".join(map(str, shape))
        return Notation(Text(f"[{size} numbers]"), rf"[\text{{{size} numbers}}]")
    return Notation(Text(str(value)), rf"\text{{{value}}}")


def _number(text: str, negative: bool) -> Notation:
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return Notation(Text(text, SIGN if negative else ATOM), text,
                        MULTIPLIED if negative else ATOM)
    power = f"10^{{{int(exponent)}}}"
    tex = power if mantissa == "1" else rf"{mantissa} \cdot {power}"
    return Notation(Text(text, SIGN if negative else ATOM), tex, MULTIPLIED)


def applied(op: Op, args: Sequence[Any], attributes: Mapping[str, Any]) -> Notation:
    """Return an operation on operands as text."""
    if op.name in SPELLED and type(args[0]) is float:
        return written(SPELLED[op.name](*args))
    operands = [written(a) for a in args]
    return Notation(spelled(op, [o.text for o in operands], attributes),
                    *_drawn(op, operands, attributes))


def spelled(op: Op, operands: Sequence[Text], attributes: Mapping[str, Any]) -> Text:
    """Return the same in gradcli's spelling alone."""
    if op.name == "stack":
        return Text(f"[{', '.join([o.text for o in operands])}]")
    if op.name == "index":
        of, *given = operands
        name_ = inside((of.text, of.strength), ATOM)
        return Text(f"{name_}[{_inside(given, attributes.get('pattern', ()))}]")
    called = SHOWN.get(op.name, op.name)
    attributes = _plain(attributes)
    if not hasattr(op, "latex") or called != op.name:  # of a file, or not for files to call
        texts = [o.text for o in (*operands, *[o.text for o in _options(attributes)])]
        return Text(f"{called}({', '.join(texts)})")
    if op.name == "positive":
        return operands[0]
    return applied_text(op, operands, attributes)


def _drawn(op: Op, operands: Sequence[Notation], attributes: Mapping[str, Any]) -> tuple[str, int]:
    """Return the same in LaTeX, and how strongly that binds."""
    if op.name == "stack":
        return rf"\left[{', '.join([o.tex for o in operands])}\right]", ATOM
    if op.name == "index":
        of, *given = operands
        below = _inside([o.text for o in given], attributes.get("pattern", ())).replace("_", r"\_")
        return rf"{{{_in(of, ATOM)}}}_{{{below}}}", ATOM
    called = SHOWN.get(op.name, op.name)
    attributes = _plain(attributes)
    if not hasattr(op, "latex") or called != op.name:
        return _call(called, [*operands, *_options(attributes)]), ATOM
    if op.name == "positive":
        return operands[0].tex, operands[0].strength
    if op.name == "square" or (op.name == "power" and not attributes):
        above = "2" if op.name == "square" else operands[1].tex
        return f"{_in(operands[0], ATOM)}^{{{above}}}", POWER
    if op.name == "one_minus_square":
        return f"1 - {_in(operands[0], ATOM)}^{{2}}", ADDED
    if op.name == "negative":
        return f"-{_in(operands[0], MULTIPLIED)}", ADDED
    if op.name in RELATIONS:
        return _between(operands[0], operands[1], RELATIONS[op.name], ADDED, ADDED), ADDED
    if op.name in ("add", "subtract", "multiply"):
        sign = {"add": "+", "subtract": "-", "multiply": r"\cdot"}[op.name]
        _, (left, right), strength = PATTERNS[op.name]
        return _between(operands[0], operands[1], sign, left,
                        POWER if op.name == "multiply" else right), strength
    return _from_row(op, operands)


def _plain(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given, as a file has it; nothing of what other code calculated."""
    return {} if "given" in attributes else {
        k: _spelled(v) for k, v in attributes.items() if v is not None}


def _spelled(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return list(value) if isinstance(value, tuple) else value


def _from_row(op: Op, operands: Sequence[Notation]) -> tuple[str, int]:
    """Return the LaTeX that the row gives, and its strength: operands that no bracket, fraction or
    exponent of the template encloses get brackets.
    """
    template = op.latex
    if not template or template.count("{") > 40 or op.variadic:
        return _call(op.name, operands), ATOM
    marks = [f"\0{k}\0" for k in range(max(len(operands), 4))]
    shown = template.format(*marks)
    bare = False
    for k, operand in enumerate(operands):
        while marks[k] in shown:
            before, _, after = shown.partition(marks[k])
            enclosed = before.rstrip().endswith(INSIDE)
            bare = bare or not enclosed
            shown = before + (operand.tex if enclosed else _in(operand, ATOM)) + after
    return shown, ADDED if bare else _strength(template)


def _call(called: str, operands: Sequence[Notation]) -> str:
    word = called.replace("_", r"\_")
    return rf"\operatorname{{{word}}}\left({', '.join([o.tex for o in operands])}\right)"


def _inside(given: Sequence[Text], pattern: Sequence[Any]) -> str:
    """Return `0, 1:3` of `x[0, 1:3]`; an "i" of the pattern stands for the next of the given
    indices.
    """
    rest = iter(given)
    texts = []
    for part in pattern:
        if part == "i":
            texts.append(next(rest).text)
        elif isinstance(part, slice):
            ends = ["" if end is None else str(end) for end in (part.start, part.stop, part.step)]
            texts.append(":".join(ends[:2] if part.step in (None, 1) else ends))
        else:
            texts.append("..." if part is Ellipsis else "none" if part is None else str(part))
    return ", ".join(texts)


def _options(attributes: Mapping[str, Any]) -> list[Notation]:
    found = []
    for key, value in attributes.items():
        shown = written(value)
        word = key.replace("_", r"\_")
        found.append(Notation(Text(f"{key}={shown.text.text}"),
                              rf"\mathrm{{{word}}} = {shown.tex}"))
    return found


def _strength(template: str) -> int:
    """Return how strongly a template binds whose operands are all enclosed, by what is outside."""
    depth, outside = 0, ""
    for character in template.replace("{{", "(").replace("}}", ")").replace(r"\left|", "(").replace(
            r"\right|", ")"):
        depth += (character in "({") - (character in ")}")
        outside += character if depth == 0 else ""
    if " + " in outside or " - " in outside:
        return ADDED
    if outside.startswith(r"\frac") or " " in outside.replace("&", ""):
        return MULTIPLIED
    return POWER if "^" in outside else ATOM


def _between(first: Notation, second: Notation, sign: str, left: int, right: int) -> str:
    a, b = _in(first, left), _in(second, right)
    if b.startswith("-"):
        b = LATEX.format(b)
    return f"{a} {sign} {b}"


def _in(operand: Notation, strength: int) -> str:
    return inside((operand.tex, operand.strength), strength, LATEX)
