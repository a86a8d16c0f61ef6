"""Numbers that are written as formulas, such as `pi/2` in a point."""

from __future__ import annotations

from gradcli.errors import GradcliError, error


def constant(name: str, text: str) -> float:
    """The value of a formula without variables. Raises E0703, naming the field, if it has none."""
    from gradcli.checking.built import build
    from gradcli.reading import Names, read
    from gradcli.sweeps.rounding import Values
    from gradcli.tape.formula import Formula

    try:
        return float(text)
    except ValueError:
        pass
    formula = Formula()
    try:
        node = build(read(text, Names(())).code, formula, ())
        (value, _), = Values(formula, {}).of([node]) if isinstance(node, int) else [(None, None)]
    except (GradcliError, KeyError):
        value = None
    if not isinstance(value, float) or value - value != 0:
        raise error("E0703", f"`{name}` must be a number, not `{text}`",
                    help="write a number, or a formula such as pi/2")
    return value
