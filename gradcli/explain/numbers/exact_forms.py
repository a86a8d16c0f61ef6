"""Rewrites of operations that show the rounding of their operands: the same function without that,
in the words of the program, tried before it is offered.
"""

from __future__ import annotations

from gradcli.engine.record.record import IDS, OP, OUT, PLACE, VALUES
from gradcli.explain.numbers.words import Wording, minus, tight
from gradcli.explain.written import sides
from gradcli.ops.values import shape_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcli.base.errors import Source
    from gradcli.engine.record.record import Entry
    from gradcli.explain.numbers.trials import Trials
    from gradcli.lang.running.run import Run

# f(u) - 1 and 1 - f(u), by f.
LESS_1 = {"exp": "expm1({})", "cos": "-2*sin({half})^2", "cosh": "2*sinh({half})^2"}
FROM_1 = {"exp": "-expm1({})", "cos": "2*sin({half})^2", "tanh": "2*sigmoid({double})",
          "sigmoid": "sigmoid({minus})", "erf": "erfc({})", "erfc": "erf({})"}
# The logarithm of f(u), by f.
LOGARITHM = {"cosh": "logcosh({})", "sigmoid": "log_sigmoid({})", "exp": "{}"}


def exact_form(run: Run, entry: Entry, source: Source, trials: Trials, off: float, derived: bool
               ) -> str:
    """Return the advice to write another form of an operation; empty if none is known that keeps
    the function, within `off` at the point, and its digits.

    derived: the derivative has to keep its digits, else the value.
    """
    words = Wording(source)
    by_out = {e[OUT]: e for e in run.record.history()}
    old = words.of(entry)
    if old is None:
        return ""
    for new in _forms(words, by_out, entry):
        if trials.steadies(entry[PLACE][2:4], new, off, derived):
            return f"write `{new}` for `{old}`"
    return ""


def _forms(words: Wording, by_out: dict[int, Entry], entry: Entry) -> Iterator[str]:
    name, ids = entry[OP].name, entry[IDS]
    inner = [by_out.get(i) if i is not None else None for i in ids]
    if name in ("add", "subtract"):
        for k in (0, 1):
            f, other = inner[k], entry[VALUES][1 - k]
            one = ids[1 - k] is None and not shape_of(other) and abs(other) == 1
            if f is not None and one:
                # The sign of f and of the 1.
                plus = name == "add" or k == 0
                up = (other == 1) == (name == "add" or k == 1)
                parts = words.operands(f)
                if plus != up and parts:
                    yield from _made((LESS_1 if plus else FROM_1).get(f[OP].name), parts[0])
        return
    first = inner[0]
    if first is None:
        return
    written = words.operands(entry)
    if name == "log":
        parts = words.operands(first)
        if parts:
            yield from _made(LOGARITHM.get(first[OP].name), parts[0])
    rest = _beside_1(words, first)
    if rest is None:
        return
    if name == "power" and written and len(written) == 2:
        yield f"exp({tight(written[1])}*log1p({rest}))"
    elif name == "log":
        yield f"log1p({rest})"
    elif name in ("log2", "log10"):
        yield f"log1p({rest})/ln({name[3:]})"


def _made(form: str | None, u: str) -> Iterator[str]:
    if form is not None:
        yield form.format(u, half=f"{tight(u)}/2", double=f"-2*{tight(u)}", minus=minus(u))


def _beside_1(words: Wording, entry: Entry) -> str | None:
    """Return the text of u if an operation is 1 + u, u + 1 or, with -u, 1 - u; else None."""
    text, name = words.of(entry), entry[OP].name
    if text is None or name not in ("add", "subtract"):
        return None
    parts = sides(text)
    if parts is None:
        return None
    for k in (0, 1) if name == "add" else (0,):
        value = entry[VALUES][k]
        if entry[IDS][k] is None and not shape_of(value) and value == 1:
            return parts[1 - k] if name == "add" else minus(parts[1])
    return None
