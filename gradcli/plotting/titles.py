"""What a picture and its curves are called."""

from __future__ import annotations

import re

from gradcli.ops.values import SCALAR_TYPES
from gradcli.render.numbers import significant
from gradcli.render.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.answers.ask import Ask
    from gradcli.lang.targets import Target
    from gradcli.plotting.values import Values

# Characters of a formula or of a point in a title.
LONG = 60
# Inputs whose values a title tells.
MANY = 6


def named(name: str, order: int) -> str:
    """f, f', f'', f''', f^(4)."""
    closed = name if order == 0 or "," not in name else f"({name})"
    return closed + ("'" * order if order < 4 else f"^({order})")


def title(values: Values) -> str:
    """The formula if it is short, else what it is called and where; then the other inputs."""
    ask, targets = values.ask, values.targets
    lines = dict.fromkeys([_formula(ask, target) for target in targets])
    what = ", ".join(lines)
    if not all(lines) or len(what) > LONG:
        file = ask.program.source.name.rpartition("/")[2]
        what = f"{', '.join([t.name for t in targets])} in {file}"
    point = _point(values)
    return visible(_short(what)) + (f"\nat {visible(_short(point))}" if point else "")


def _formula(ask: Ask, target: Target) -> str:
    """The statement that made the target, on one line; empty where others may have made it."""
    name = target.name.partition("[")[0]
    if len(re.findall(rf"(?m)^\s*{re.escape(name)}\s*[-+*/]?=(?!=)",
                      ask.program.source.text)) > 1:
        return ""
    for statement in ask.program.statements:
        if statement.start <= target.span[0] < statement.end:
            text = ask.program.source.text[statement.start:statement.end].strip()
            return "" if "\n" in text or ":" in text else text
    return ""


def _point(values: Values) -> str:
    """a = 2, x[1] = 3: the inputs that stand still."""
    varied = {o.base for o in values.overs}
    run = values.ask.run(values.at([1.0] * len(values.overs)), explain=False)
    found = []
    for name in values.ask.program.default_sources():
        bindings = run.bindings.get(name)
        if name in varied:
            found += [f"{part} = {significant(value, 4)}" for part, value in values.still(name)]
        elif bindings and bindings[0].kind in ("input", "variable"):
            value = getattr(bindings[0].value, "value", None)
            if type(value) in SCALAR_TYPES:
                found.append(f"{name} = {significant(value, 4)}")
    return ", ".join(found[:MANY]) + (", ..." if len(found) > MANY else "")


def _short(text: str) -> str:
    return text if len(text) <= LONG else text[:LONG - 3] + "..."
