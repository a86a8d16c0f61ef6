"""The tables: ratios with targets, all figures, versions."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.harness.case import Ratio
from benchmarks.harness.rounds import Result

# What a page has around the newest table.
MARKS = ("<!-- the newest table: benchmarks/run.py --write -->", "<!-- the end of it -->")
SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (0.0, "ns"))


def quantity(figure: float, unit: str) -> str:
    """Three digits and a unit."""
    if unit == "s":
        scale, unit = next((s, u) for s, u in SCALES if figure >= s)
        figure /= scale or 1e-9
    return f"{three(figure)} {unit}"


def three(x: float) -> str:
    """Three digits, without an exponent."""
    text = f"{x:.3g}"
    return f"{x:.0f}" if "e" in text and x >= 1 else f"{x:.2g}" if "e" in text else text


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A markdown table; columns whose head begins with a blank are set to the right."""
    rule = ["---:" if h.startswith(" ") else "---" for h in head]
    return "\n".join(f"| {' | '.join(row)} |" for row in ([h.strip() for h in head], rule, *rows))


def ratios(results: Sequence[Result], all: bool = True) -> str:
    """One row for each ratio that a case names; all: those without a target, too."""
    return table(["what", "gradcli", " ", "beside", " ", " ratio", " target"],
                 [row(result, ratio) for result in results for ratio in result.case.ratios
                  if all or ratio.target])


def row(result: Result, ratio: Ratio) -> list[str]:
    unit = result.case.unit
    ours = result.median(ratio.ours)
    cells = [result.case.title, ratio.ours, quantity(ours, unit) if ours else state(
        result, ratio.ours)]
    if ratio.peer is None:
        return [*cells, "", "", "", quantity(ratio.target, unit) if ratio.target else ""]
    theirs = result.median(ratio.peer)
    return [
        *cells, ratio.peer, quantity(theirs, unit) if theirs else state(result, ratio.peer),
        three(ours/theirs) if ours and theirs else "", three(ratio.target) if ratio.target else ""]


def state(result: Result, side: str) -> str:
    """Why there is no figure."""
    if side in result.missing:
        return f"{result.missing[side]} missing"
    return "failed" if side in result.failed else "-"


def figures(results: Sequence[Result]) -> str:
    """All medians, with the range, and how many times the first side each is."""
    rows = []
    for result in results:
        unit = result.case.unit
        first = result.case.sides[0].name
        for side in result.case.sides:
            found = result.figures.get(side.name)
            if not found:
                rows.append([result.case.title, side.name, state(result, side.name), "", "", ""])
                continue
            times = result.ratio(side.name, first)
            rows.append([
                result.case.title, side.name, quantity(statistics.median(found), unit),
                f"{quantity(min(found), unit)} to {quantity(max(found), unit)}",
                three(times) if times else "", "wrong" if side.name in result.wrong else ""])
    return table(["what", "engine", " median", " range", " times the first", "numbers"], rows)


def notes(results: Sequence[Result]) -> str:
    """What is missing, failed or wrong."""
    lines = []
    gone = sorted({needs for r in results for needs in r.missing.values()})
    if gone:
        lines.append(f"Not installed, so missing: {', '.join(gone)}.")
    for r in results:
        lines += [f"{r.case.title}: {name} failed: {why}" for name, why in r.failed.items()]
        lines += [f"{r.case.title}: the numbers of {name} are not those of the others"
                  for name in r.wrong]
    return "\n".join(f"- {line}" for line in lines)


def machine() -> str:
    """The processor and how many cores of it there are."""
    name = platform.processor() or platform.machine()
    try:
        info = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
        name = next((line.partition(":")[2].strip() for line in info.splitlines()
                     if line.startswith("model name")), name)
        if " avx512f" in info:
            name += " with AVX-512"
    except OSError:
        pass
    return f"{os.cpu_count()} cores of {name}, {platform.system()}"


def whole(results: Sequence[Result], versions: Mapping[str, str], rounds: int) -> str:
    """The document, without a headline."""
    parts = [circumstances(versions, rounds), ratios(results), notes(results), "All figures:",
             figures(results)]
    return "\n\n".join(part for part in parts if part)


def short(results: Sequence[Result], versions: Mapping[str, str], rounds: int) -> str:
    """The ratios that have a target, for the README."""
    return f"{ratios(results, all=False)}\n\n{circumstances(versions, rounds)}"


def circumstances(versions: Mapping[str, str], rounds: int) -> str:
    """When, where, of what."""
    listed = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    return (f"{time.strftime('%Y-%m-%d')}, {machine()}; Python {platform.python_version()},"
            f" {listed}. Medians of up to {rounds} interleaved rounds.")


def between(page: str, text: str) -> str:
    """A page with the text between its two marks."""
    before, mark, rest = page.partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    return f"{before}{mark}\n{text}\n{MARKS[1]}{after}"


def sections(page: str) -> str:
    """What a page has from its first section on; they are written by scripts of their own."""
    _, mark, rest = page.partition("\n## ")
    return mark + rest


def write_section(path: Path, title: str, text: str) -> None:
    """Put a section in the place of the one of that title, or at the end."""
    page = path.read_text(encoding="utf-8")
    before, mark, rest = f"{page.rstrip()}\n".partition(f"\n## {title}\n")
    path.write_text(f"{before}\n## {title}\n\n{text}\n{sections(rest) if mark else ''}",
                    encoding="utf-8")
