"""The rows of plot and graph."""

from __future__ import annotations

from gradcli.base.errors import listed
from gradcli.cli.options import LIMITS, OUTPUT, Command, ending, fitting, option, unknown_format
from gradcli.cli.options.questions import BUDGET, TYPED, ProgramOptions, QuestionOptions

PICTURES = ("svg", "png", "pdf")
ENDINGS = {"svg": "svg", "png": "png", "pdf": "pdf", "json": "json", "txt": "text", "dot": "dot",
           "gv": "dot", "mermaid": "mermaid", "mmd": "mermaid", "html": "html", "htm": "html"}
"""End of a file's name to its format."""
HIGHEST = 8


class PictureOptions(ProgramOptions):
    """The options of a command that draws."""

    usual = ""
    format: str | None
    quiet: bool = option("-q --quiet", "The picture only, no notes.", "", OUTPUT)
    verbose: int = option("-v --verbose", "Say more.", "", OUTPUT)

    def endings(self) -> dict[str, str]:
        return fitting(ENDINGS, self.command.formats())

    def chosen(self) -> str | None:
        """Return --format, else what the name of -o ends in, else the usual one; None for another
        ending.
        """
        return super().chosen() or (self.usual if self.output in (None, "-") else None)

    def wrong(self) -> tuple[str, str] | None:
        wrong = super().wrong()
        if wrong is not None:
            return wrong
        if self.chosen() is None:
            return unknown_format(self.output, self.endings())
        named = ENDINGS.get(ending(self.output))
        if self.format is not None and named not in (None, "text", self.format):
            return (f"`{self.output}` is the name of a file of {named}, and --format asks for"
                    f" {self.format}; leave one of them out."), "--format"
        return None


class PlotOptions(PictureOptions):
    """The options of plot."""

    usual = "text"
    over: list[str] = option(
        "--over", "The input on the axis and its range, such as x=-10:10; twice for contours and"
        " the gradient field of two inputs.", "NAME=A:B")
    of: list[str] = option(
        "--of", "What to plot, one curve each; a+b is the sum of both. By default the last"
        " result.", "NAME[,NAME]")
    derivatives: list[str] = option(
        "--derivatives", f"Which derivatives to draw beside the function, up to {HIGHEST}; none for"
        " the function alone. By default 1.", "N[,N]")
    range: str | None = option(
        "--range", "What the axis of the values shows, such as -2:2; by default all values, or what"
        " is around the poles.", "A:B", OUTPUT)
    format: str | None = option(
        "--format", "Output format; by default by the name of -o, else text.", "", OUTPUT,
        choices=("text", *PICTURES, "html", "json"))
    output: str | None = option(
        "-o --output", "Write to a file: .svg, .png, .pdf or .html.", "FILE", OUTPUT)

    def wrong(self) -> tuple[str, str] | None:
        wrong = super().wrong()
        if wrong is None and self.orders() is None:
            return f"give numbers from 1 to {HIGHEST}, such as 1,2, or none.", "--derivatives"
        return wrong

    def orders(self) -> list[int] | None:
        """Return which derivatives --derivatives names, in order; None where one is none."""
        words = listed(self.derivatives)
        if words == ["none"]:
            return []
        found = set()
        for word in words or ["1"]:
            if not (word.isascii() and word.isdigit() and 1 <= int(word[:3]) <= HIGHEST):
                return None
            found.add(int(word))
        return sorted(found)


class GraphOptions(PictureOptions, QuestionOptions):
    """The options of graph."""

    usual = "dot"
    of: list[str] = option(
        "--of", "Targets, the results to draw; by default the last result.", "NAME[,NAME]")
    wrt: list[str] = option(
        "--wrt", "Sources; where the path from one of them is cut is red. By default every"
        " trainable variable and input.", "NAME[,NAME]")
    max_nodes: int | None = option(
        "--max-nodes", "At most so many operations are drawn (200).", "N", LIMITS)
    format: str | None = option(
        "--format", "Output format; by default by the name of -o, else dot. Pictures are made by"
        " Graphviz.", "", OUTPUT, choices=("dot", "mermaid", "json", *PICTURES))
    output: str | None = option(
        "-o --output", "Write to a file: .dot, .mermaid, .svg, .png or .pdf.", "FILE", OUTPUT)


SHOWN = "format output color quiet verbose"
ROWS = (
    Command("plot", "A function and its derivatives, or contours, as a picture.", PlotOptions,
            f"file {TYPED} over of derivatives at range {SHOWN} open {BUDGET}",
            "pictures.plot",
            "gradcli plot -e 'sigmoid(x)' --over x=-10:10",
            "gradcli plot model.txt --over x=-2:2 --derivatives 1,2 --at a=3 -o curves.svg",
            "gradcli plot -e 'x^2 - y^2' --over x=-2:2 --over y=-2:2 -o field.png"),
    Command("graph", "The record as a graph, and where a path is cut.", GraphOptions,
            f"file {TYPED} of wrt watch tf at {SHOWN} max_nodes {BUDGET}",
            "pictures.graph", "gradcli graph model.txt",
            "gradcli graph model.txt --format mermaid",
            "gradcli graph -e 'x^2*sin(y)' --at x=1.5,y=0.5 -o tape.svg"),
)
