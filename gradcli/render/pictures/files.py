"""Pictures in files, by matplotlib: no display, and the same picture is the same bytes."""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.render.numbers import visible
from gradcli.render.page import Page, Picture, Remark, Title

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gradcli.render.page import Block


SIZE = (6.0, 4.0)       # inches
DPI = 150
# What the picture depends on, whatever a user's own settings are. Text stays text in SVG, so it
# can be found, and read aloud.
SETTINGS = {
    "svg.hashsalt": "gradcli", "svg.fonttype": "none", "pdf.compression": 6,
    "font.family": ["sans-serif"], "font.sans-serif": ["DejaVu Sans"], "font.size": 10.0,
    "axes.grid": True, "grid.alpha": 0.3, "axes.axisbelow": True, "axes.titlesize": 11.0,
    "lines.linewidth": 1.6, "path.simplify": True, "agg.path.chunksize": 10_000}
METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "gradcli"},
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": "gradcli", "Producer": "matplotlib"},
    "png": {"Software": "gradcli"}}
COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf")
STYLES = ("-", "--", "-.", ":")
GREY = "#777777"
# Names in a column of the legend.
IN_COLUMN = 6
# Contour lines, and arrows in a row.
LEVELS = 14
ARROWS = 21


def missing(library: str, what: str) -> Exception:
    """Return E0811: a library of the extra is not installed."""
    return error("E0811", f"{what} needs `{library}`, which is not installed",
                 help="pip install 'gradcli[plot]'")


def picture(answer: dict[str, Any], format: str) -> bytes:
    """Return the picture as svg, png or pdf. Raises E0811 without matplotlib."""
    import logging
    from io import BytesIO

    # Its first start may have to say that it takes a while.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise missing("matplotlib", "a picture in a file") from None
    file = BytesIO()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)    # type: ignore[arg-type]
        figure = Figure(figsize=SIZE, dpi=DPI, layout="constrained")
        axes = figure.add_subplot()
        if answer["field"] is None:
            _draw_curves(axes, answer)
        else:
            _draw_field(figure, axes, answer)
        axes.set_title(answer["title"], parse_math=False)
        figure.savefig(file, format=format, metadata=METADATA[format])
    return _shorter(file.getvalue()) if format == "svg" else file.getvalue()


def page(answer: dict[str, Any]) -> Page:
    """Return the page of a plot: the picture, and what is special about it. Raises E0811 without
    matplotlib.
    """
    def blocks() -> Iterator[Block]:
        yield Title((answer["title"],))
        yield Picture(picture(answer, "svg"), _said(answer))
        for note in answer["notes"]:
            yield Remark(visible(note["message"]))

    return Page(blocks=list(blocks()))


def _said(answer: dict[str, Any]) -> str:
    """Return what the picture shows, for those who do not see it."""
    over = " and ".join([f"{one['name']} from {one['low']:g} to {one['high']:g}"
                         for one in answer["over"]])
    names = ", ".join([curve["name"] for curve in answer.get("curves") or ()])
    return f"{names or answer['title']} over {over}"


def _shorter(svg: bytes) -> bytes:
    """Round the coordinates of paths to a thousandth of a point: half of the file is digits beyond.
    """
    import re

    return re.sub(rb' d="[^"]*"', lambda path: re.sub(rb"(\.\d{3})\d+", rb"\1", path[0]), svg)


def _draw_curves(axes: Any, answer: dict[str, Any]) -> None:
    (over,) = answer["over"]
    handles = []
    several = len({curve["of"] for curve in answer["curves"]}) > 1
    targets = list(dict.fromkeys(curve["of"] for curve in answer["curves"]))
    orders = list(dict.fromkeys(curve["order"] for curve in answer["curves"]))
    for x in sorted({x for curve in answer["curves"] for x in curve["poles"]}):
        axes.axvline(x, color=GREY, linewidth=0.8, linestyle=(0, (2, 3)), gid=f"pole-{x!r}")
    for number, curve in enumerate(answer["curves"]):
        color, style = COLORS[number % len(COLORS)], "-"
        if several:
            color = COLORS[targets.index(curve["of"]) % len(COLORS)]
            style = STYLES[orders.index(curve["order"]) % len(STYLES)]
        points = joined(curve["segments"])
        (line,) = axes.plot(points[:, 0], points[:, 1], color=color, linestyle=style,
                            gid=f"curve-{number}", zorder=3 - 0.01 * number)
        handles.append(line)
        single = np.array([s[0] for s in curve["segments"] if len(s) == 1])
        if len(single):
            axes.plot(single[:, 0], single[:, 1], "o", color=color, markersize=3.5,
                      gid=f"points-{number}", zorder=3)
        if curve["kinks"]:
            kinks = np.array(curve["kinks"])
            axes.plot(kinks[:, 0], kinks[:, 1], "o", color=color, markerfacecolor="white",
                      markersize=5.0, gid=f"kinks-{number}", zorder=4)
    axes.set_xlim(over["low"], over["high"])
    axes.set_ylim(*answer["range"])
    axes.set_xlabel(over["name"], parse_math=False)
    if not several:
        axes.set_ylabel(f"{targets[0]}({over['name']})" if targets[0].isidentifier() else
                        targets[0], parse_math=False)
    _legend(axes, handles, [curve["name"] for curve in answer["curves"]])


def joined(segments: list[Any]) -> Any:
    """Join the pieces in one array [points, 2], with NaN between them."""
    gap = np.full((1, 2), np.nan)
    return np.concatenate([part for s in segments for part in (np.array(s), gap)][:-1])


def _legend(axes: Any, handles: list[Any], names: list[str]) -> None:
    legend = axes.legend(handles, ["\u200b" + n if n.startswith("_") else n for n in names],
                         ncols=1 + (len(names) > IN_COLUMN))
    for text in legend.get_texts():
        text.set_parse_math(False)


def _draw_field(figure: Any, axes: Any, answer: dict[str, Any]) -> None:
    """Draw contours in colour, and arrows of the gradient."""
    from matplotlib.ticker import MaxNLocator

    across, up = answer["over"]
    field = answer["field"]
    low, high = answer["range"]
    xs, ys, values = (np.array(field[key], dtype=float) for key in ("x", "y", "values"))
    values = np.ma.masked_invalid(np.clip(values, low - (high - low), high + (high - low)))
    levels = MaxNLocator(LEVELS, min_n_ticks=2).tick_values(low, high)
    filled = axes.contourf(xs, ys, values, levels=levels, cmap="viridis", extend="both")
    axes.contour(xs, ys, values, levels=levels, colors="white", linewidths=0.5, alpha=0.7,
                 linestyles="solid")
    arrows = np.array(field["arrows"], dtype=float).reshape(-1, 4)
    if len(arrows):
        axes.quiver(*arrows.T, angles="xy", scale_units="xy", scale=1.0, width=0.003,
                    color="black", gid="gradient")
    axes.set_xlim(across["low"], across["high"])
    axes.set_ylim(up["low"], up["high"])
    axes.set_xlabel(across["name"], parse_math=False)
    axes.set_ylabel(up["name"], parse_math=False)
    axes.grid(False)
    bar = figure.colorbar(filled, ax=axes)
    bar.set_label(field["of"], parse_math=False)
