"""What stands in a node."""

from __future__ import annotations

from gradcli.render.numbers import significant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Characters in a line of a reason.
LONG = 40


def label(node: dict[str, Any]) -> list[str]:
    """The lines of text in a node."""
    value, shape = node["value"], node["shape"]
    said = f"{significant(value, 5)}" if value is not None else (
        f"shape {shape}" if shape else "")
    name, text = node["name"], node["text"]
    lines = []
    if node["kind"] in ("variable", "input", "constant", "number"):
        between = " = " if value is not None else ": "
        lines.append(between.join([part for part in (name, said) if part]) or "constant")
        if node["kind"] == "constant" and name and node["watched"] is False:
            lines.append("not watched")
    else:
        first = f"{name} = {text}" if name and name != text and text else name or text
        if node["kind"] == "state" and text and not name:
            first = text
        if node["count"] > 1:
            first += f"  ({node['count']:,} times)" if node["operation"] else (
                f"  ({node['count']:,} operations)")
        lines.append(first)
        if said:
            lines.append(f"= {said}" if value is not None else said)
    if node["cut"]:
        lines += _wrapped(f"cut: {node['cut']}")
    return [line for line in lines if line] or ["..."]


def _wrapped(text: str) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) >= LONG and lines[-1]:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines
