"""A graph as DOT, Graphviz's language, and as Mermaid. Labels may hold anything."""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.render.numbers import significant, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

RED = "#c0392b"
# Kind of a node to its shape and colour in DOT, and the brackets around it in Mermaid.
SHAPES = {
    "input": ('shape=ellipse, fillcolor="#dbe9f6"', "([", "])"),
    "variable": ('shape=ellipse, fillcolor="#dff0d8"', "([", "])"),
    "constant": ('shape=box, fillcolor="#eeeeee"', "[", "]"),
    "number": ('shape=plaintext, style=""', "[", "]"),
    "operation": ('shape=box, fillcolor="#ffffff"', "[", "]"),
    "state": ('shape=box, fillcolor="#fdf3d8"', "[/", "/]"),
    "question": ('shape=hexagon, fillcolor="#efe3f5"', "{{", "}}")}


def dot(answer: dict[str, Any]) -> str:
    """Return the graph in DOT."""
    lines = ["digraph record {", "  rankdir=BT;",
             '  node [fontname="Helvetica", fontsize=11, style="rounded,filled"];',
             "  edge [color=\"#555555\"];"]
    notes = [note["message"] for note in answer["notes"] if note["code"] == "collapsed"]
    if notes:
        lines.append(f'  label="{_quoted(notes[0])}"; fontname="Helvetica"; fontsize=10;')
    lines += _clustered(answer, _dot_node, lambda k, tapes: [
        f"subgraph cluster_{k} {{", f'  label="{_quoted(_covering(tapes))}"; style=dashed;'
        ' color="#888888"; labeljust=l; fontname="Helvetica"; fontsize=10;'], "}")
    for edge in answer["edges"]:
        style = f'[color="{RED}", penwidth=2]' if edge["cut"] else "" if edge["passes"] else (
            "[style=dashed]")
        lines.append(f"  {edge['from']} -> {edge['to']} {style}".rstrip() + ";")
    return "\n".join([*lines, "}"]) + "\n"


def _clustered(answer: dict[str, Any], node: Callable[[dict[str, Any]], str],
               head: Callable[[int, tuple[str, ...]], list[str]], end: str) -> list[str]:
    """Return the lines of the nodes, with those that the same tapes cover together."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for one in answer["nodes"]:
        groups.setdefault(tuple(one["tapes"]), []).append(node(one))
    lines = [f"  {text}" for text in groups.pop((), [])]
    for k, (tapes, texts) in enumerate(groups.items()):
        first, *rest = head(k, tapes)
        lines += [f"  {first}", *[f"  {text}" for text in rest],
                  *[f"    {text}" for text in texts], f"  {end}"]
    return lines


def _covering(tapes: tuple[str, ...]) -> str:
    return ("tape " if len(tapes) == 1 else "tapes ") + ", ".join(tapes)


def _dot_node(node: dict[str, Any]) -> str:
    text = "\\n".join([_quoted(line) for line in label(node)])
    more = ", peripheries=2" if node["target"] else ""
    if node["cut"]:
        more += f', color="{RED}", fontcolor="{RED}", penwidth=2'
    elif node["watched"] is False:
        more += ', style="filled,dashed"'
    return f'{node["id"]} [label="{text}", {SHAPES[node["kind"]][0]}{more}];'


def _quoted(text: str) -> str:
    """Escape a text for the quotes of DOT, where a backslash begins an escape and `&` an entity."""
    text = visible(text).replace("\\", "\\\\").replace('"', '\\"')
    return text.replace("&", "&amp;")


def mermaid(answer: dict[str, Any]) -> str:
    """Return the graph in Mermaid."""
    lines = ["flowchart BT"]
    lines += _clustered(answer, _mermaid_node, lambda k, tapes: [
        f'subgraph tapes{k}["{_entities(_covering(tapes))}"]'], "end")
    marked: list[str] = []
    for k, edge in enumerate(answer["edges"]):
        lines.append(f"  {edge['from']} {'-->' if edge['passes'] else '-.->'} {edge['to']}")
        if edge["cut"]:
            marked.append(str(k))
    lines.append(f"  classDef cut stroke:{RED},color:{RED},stroke-width:2px")
    lines.append("  classDef target stroke-width:3px")
    for name, nodes in (
            ("cut", [n["id"] for n in answer["nodes"] if n["cut"]]),
            ("target", [n["id"] for n in answer["nodes"] if n["target"] and not n["cut"]])):
        if nodes:
            lines.append(f"  class {','.join(nodes)} {name}")
    if marked:
        lines.append(f"  linkStyle {','.join(marked)} stroke:{RED}")
    return "\n".join(lines) + "\n"


def _mermaid_node(node: dict[str, Any]) -> str:
    text = "<br/>".join([_entities(line) for line in label(node)])
    _, left, right = SHAPES[node["kind"]]
    return f'{node["id"]}{left}"{text}"{right}'


def _entities(text: str) -> str:
    """Escape all but letters, digits and harmless signs as Mermaid's entities."""
    return "".join([c if c.isalnum() or c in " .,:()=+-/'" else f"#{ord(c)};"
                    for c in visible(text)])


WRITERS: dict[str, Callable[[Any], str]] = {"dot": dot, "mermaid": mermaid}


# --------------------------------------------------------------------------------------------------
# Pictures of graphs by Graphviz's `dot`, a program of its own.

# Seconds; a graph that takes longer cannot be read either.
PATIENCE = 60.0


def picture(text: str, format: str) -> bytes:
    """Return the picture that `dot` draws of a graph: svg, png or pdf.

    Raises E0821 where it is not installed, E0822 where it fails or takes longer than a minute.
    """
    import shutil
    import subprocess

    program = shutil.which("dot")
    if program is None:
        raise error("E0821", "a picture of a graph needs Graphviz's `dot`, which is not installed",
                    help="install graphviz, or write .dot or .mermaid and draw that elsewhere")
    try:
        done = subprocess.run(  # no shell; the text goes through standard input
            [program, f"-T{format}"], input=text.encode(), capture_output=True, timeout=PATIENCE,
            check=False)
    except subprocess.TimeoutExpired:
        raise error("E0822", f"`dot` was stopped after {PATIENCE:g} seconds",
                    help="draw fewer nodes: --max-nodes 50") from None
    except OSError as problem:
        raise error("E0822", f"`dot` cannot be run: {problem.strerror}",
                    help="write .dot or .mermaid and draw that elsewhere") from None
    if done.returncode or not done.stdout:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise error("E0822", f"`dot` failed: {said[0] if said else 'it wrote nothing'}",
                    help="write .dot or .mermaid and draw that elsewhere")
    return done.stdout


# --- what stands in a node ------------------------------------------------------------------------

# Characters in a line of a reason.
LONG = 40


def label(node: dict[str, Any]) -> list[str]:
    """Return the lines of text in a node."""
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
        from textwrap import wrap

        lines += wrap(f"cut: {node['cut']}", LONG, break_long_words=False, break_on_hyphens=False)
    return [line for line in lines if line] or ["..."]
