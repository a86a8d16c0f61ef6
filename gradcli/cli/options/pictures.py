"""The options of plot and graph, as data; see `cli.options.table`, which knows those of all
else."""

from __future__ import annotations

from gradcli.cli.options.table import Option, same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PLOT = ("plot",)
GRAPH = ("graph",)
ALL = (*PLOT, *GRAPH)
PICTURES = ("svg", "png", "pdf")
PLOTTED = ("text", *PICTURES, "json")
GRAPHED = ("dot", "mermaid", "json", *PICTURES)
FORMATS = {"plot": PLOTTED, "graph": GRAPHED}
ENDINGS = {"svg": "svg", "png": "png", "pdf": "pdf", "json": "json", "txt": "text", "dot": "dot",
           "gv": "dot", "mermaid": "mermaid", "mmd": "mermaid"}
"""End of a file's name to its format."""
HIGHEST = 8

OPTIONS = (
    *same("expression latex", ALL),
    Option("over", "--over", "list", "The input on the axis and its range, such as x=-10:10; twice"
           " for contours and the gradient field of two inputs.", commands=PLOT,
           metavar="NAME=A:B"),
    Option("of", "--of", "list", "What to plot; a,b is the sum of both, repeating the option gives"
           " one curve each. By default the last result.", commands=PLOT, metavar="NAME[,NAME]"),
    Option("derivatives", "--derivatives", "list", "Which derivatives to draw beside the function,"
           f" up to {HIGHEST}; none for the function alone. By default 1.", commands=PLOT,
           metavar="N[,N]"),
    Option("of", "--of", "list", "Targets, whose ways are drawn; by default the last result.",
           commands=GRAPH, metavar="NAME[,NAME]"),
    Option("wrt", "--wrt", "list", "Sources; where the path from one of them is cut is red. By"
           " default every trainable variable and input.", commands=GRAPH, metavar="NAME[,NAME]"),
    *same("at", ALL),
    *same("watch tf", GRAPH),
    Option("range", "--range", "text", "What the axis of the values shows, such as -2:2; by default"
           " all values, or what is around the poles.", commands=PLOT, metavar="A:B"),
    Option("max_nodes", "--max-nodes", "number", "At most so many operations are drawn (200).",
           commands=GRAPH, metavar="N"),
    Option("format", "--format", "text", "Output format; by default by the name of -o, else text.",
           commands=PLOT, choices=PLOTTED),
    Option("format", "--format", "text", "Output format; by default by the name of -o, else dot."
           " Pictures are made by Graphviz.", commands=GRAPH, choices=GRAPHED),
    Option("output", "-o --output", "text", "Write to a file: .svg, .png or .pdf.", commands=PLOT,
           metavar="FILE"),
    Option("output", "-o --output", "text", "Write to a file: .dot, .mermaid, .svg, .png or .pdf.",
           commands=GRAPH, metavar="FILE"),
    *same("color", ALL),
    Option("quiet", "-q --quiet", "flag", "The picture only, no notes.", commands=ALL),
    Option("verbose", "-v --verbose", "count", "Say more.", commands=ALL),
    *same("max_steps max_memory timeout", ALL),
)

ARGUMENTS: dict[str, tuple[str, ...]] = {"plot": ("file",), "graph": ("file",)}

SUMMARIES = {
    "plot": "A function and its derivatives, or contours, as a picture.",
    "graph": "The record as a graph, and where a path is cut.",
}

EXAMPLES = {
    "plot": ("gradcli plot -e 'sigmoid(x)' --over x=-10:10",
             "gradcli plot model.txt --over x=-2:2 --derivatives 1,2 --at a=3 -o curves.svg",
             "gradcli plot -e 'x^2 - y^2' --over x=-2:2 --over y=-2:2 -o field.png"),
    "graph": ("gradcli graph model.txt", "gradcli graph model.txt --format mermaid",
              "gradcli graph -e 'x^2*sin(y)' --at x=1.5,y=0.5 -o tape.svg"),
}


def format_of(command: str, values: dict[str, Any]) -> str | None:
    """--format, else what the name of -o ends in, else the usual one; None for another ending."""
    if values["format"] is not None:
        return str(values["format"])
    path = values["output"]
    if path in (None, "-"):
        return "text" if command == "plot" else "dot"
    found = _named(path)
    return found if found in FORMATS[command] else None


def _named(path: str | None) -> str | None:
    """The format that the end of a file's name tells."""
    return ENDINGS.get(path.rpartition(".")[2].lower()) if path and "." in path else None


def misused(command: str, values: dict[str, Any]) -> tuple[str, str] | None:
    """As `cli.options.misused`, what that does not know."""
    path = values["output"]
    if format_of(command, values) is None:
        known = [ending for ending, format in ENDINGS.items() if format in FORMATS[command]]
        return (f"`{path}` does not tell the format; end its name in"
                f" {', '.join([f'.{ending}' for ending in known])}, or give --format."), "-o"
    named = _named(path)
    if values["format"] is not None and named not in (None, "text", values["format"]):
        return (f"`{path}` is the name of a file of {named}, and --format asks for"
                f" {values['format']}; leave one of them out."), "--format"
    if command == "plot":
        if orders(values["derivatives"]) is None:
            return f"give numbers from 1 to {HIGHEST}, such as 1,2, or none.", "--derivatives"
    return None


def orders(texts: list[str]) -> list[int] | None:
    """Which derivatives --derivatives names, in order; None where one is none."""
    words = [word.strip() for text in texts for word in text.split(",") if word.strip()]
    if words == ["none"]:
        return []
    found = set()
    for word in words or ["1"]:
        if not (word.isascii() and word.isdigit() and 1 <= int(word[:3]) <= HIGHEST):
            return None
        found.add(int(word))
    return sorted(found)
