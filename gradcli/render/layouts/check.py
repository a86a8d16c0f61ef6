"""The result of a check as a page.

    wrong: at x = 1.3 this is -0.118922, and should be -0.309196
    read as   cos(x^2)
    mistake   missing_chain_factor

    point     expected      got
    ─────────────────────────────────
    x = 1.3   -0.309196   -0.118922

The witness is the point where an answer differs, with the right value and the one given; of vectors
and matrices each component has its own line or row. Green is right, red wrong, yellow what a person
has to look at.
"""

from __future__ import annotations

from gradcli.render import numbers
from gradcli.render.page import BAD, GOOD, UNLIMITED, Code, Facts, Page, Phrase, Table, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.render.page import Block
    from gradcli.render.view import View

    Result = dict[str, Any]

COLUMNS = ("id", "verdict", "mistake", "also", "confidence", "score", "message", "read_as", "at",
           "expected", "got", "usable", "agree", "disagree", "undefined", "error")
COUNTS = ("usable", "agree", "disagree", "undefined")
STYLES = {"correct": GOOD, "wrong": BAD}
OTHER = "bold yellow"
# Of two values that look alike, neither is what is wrong.
NEAR = 1e-6


def page(result: Result, quiet: bool = False, verbose: bool = False) -> Page:
    """Return the page of a result. quiet: its verdict only. verbose: other readings, counts, time.
    """
    return Page(fields=_fields(result, quiet), records=_records(result), blocks=_blocks(result),
                screen=lambda view: _screen(view, result, quiet, verbose))


def _records(result: Result) -> Iterator[Sequence[Any]]:
    yield COLUMNS
    yield row(result)


def row(result: Result) -> list[Any]:
    """Return the row of a result or of an error."""
    from gradcli.render.machine import dump

    witness, counts = result.get("witness") or {}, result.get("points") or {}
    error, id = result.get("error"), result.get("id")
    at = ", ".join([f"{name}={numbers.exact(x)}" for name, x in (witness.get("at") or {}).items()])
    return [id if id is None or isinstance(id, str) else dump(id), result.get("verdict"),
            result.get("mistake"), " ".join(result.get("also") or ()), result.get("confidence"),
            result.get("score"), result.get("message"), result.get("read_as"), at,
            witness.get("expected"), witness.get("got"), *map(counts.get, COUNTS),
            error and f"{error['code']}: {error['message']}"]


def components(witness: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield (index from 1 or "", right value, value given) of each component."""
    given = dict(numbers.elements(witness.get("got")))
    for index, expected in numbers.elements(witness.get("expected")):
        label = ",".join([str(int(at) + 1) for at in index])
        yield label, expected, given.get(index, given.get(()))


def _fields(result: Result, quiet: bool) -> Iterator[tuple[str, str]]:
    found = [("verdict", result["verdict"])]
    if not quiet:
        found += [("score", result["score"]), ("mistake", result["mistake"])]
        found += [("also", name) for name in result["also"]]
        found += [(name, result[name]) for name in ("confidence", "message", "read_as")]
        found += [("alternative", text) for text in result["alternatives"]]
        witness = result["witness"] or {"at": {}, "expected": []}
        found += [(f"at {name}", value) for name, value in witness["at"].items()]
        for index, expected, got in components(witness):
            place = f"[{index}]" if index else ""
            found += [(f"expected{place}", expected), (f"got{place}", got)]
        found += [(name, result["points"][name]) for name in COUNTS]
    for name, value in found:
        yield name, numbers.exact(value)


def _blocks(result: Result) -> Iterator[Block]:
    yield Verdict(result["verdict"], "", result["message"])
    also = [piece for name in result["also"] for piece in (", ", Code(name))][1:]
    yield Facts([(name, value) for name, value in (
        ("read as", Code(result["read_as"] or "")), ("mistake", Code(result["mistake"] or "")),
        ("also", tuple(also)), ("confidence", result["confidence"])) if value])
    witness = result["witness"]
    if witness:
        names, rows = list(map(Code, witness["at"])), list(components(witness))
        label = ["component"] if any(index for index, _, _ in rows) else []
        point = list(witness["at"].values())
        yield Table(
            [*names, *label, "expected", "got"],
            [[*point, *([index] if label else []), *map(numbers.exact, pair)]
             for index, *pair in rows], "r" * len(names) + "l" * len(label) + "rr")


# --- on a terminal --------------------------------------------------------------------------------


def _screen(view: View, result: Result, quiet: bool, verbose: bool) -> Iterator[Block]:
    if quiet:
        yield Verdict(result["verdict"], STYLES.get(result["verdict"], OTHER))
        return
    yield verdict(result)
    yield Facts(list(_facts(result, verbose)))
    yield from witness(view, result["witness"])


def verdict(result: Result, gap: bool = False) -> Verdict:
    """Return the block `wrong: at x = 2 this is 3, and should be 4`; the verdict alone if it has no
    message.
    """
    word, message = result["verdict"], result["message"] or ""
    if word == "correct" and message.startswith("right"):
        message = message[len("right"):].lstrip(":; ")
    return Verdict(word, STYLES.get(word, OTHER), message, gap)


def _facts(result: Result, verbose: bool) -> Iterator[tuple[str, str]]:
    if result["read_as"] is not None:
        yield "read as", result["read_as"]
    if result["mistake"] is not None:
        sure = f" ({result['confidence']} confidence)" if result["confidence"] else ""
        yield "mistake", result["mistake"] + sure
    if result["also"]:
        yield "also", ", ".join(result["also"])
    if verbose:
        for text in result["alternatives"]:
            yield "or read as", text
        yield "points", ", ".join([f"{result['points'][name]} {name}" for name in COUNTS])
        if result.get("ms") is not None:
            yield "time", f"{result['ms']:.3g} ms"


def witness(view: View, found: dict[str, Any] | None) -> Iterator[Table]:
    """Yield a table of the point, and of each component the right value and the one given."""
    if not found:
        return
    rows = list(components(found))
    point = ", ".join([f"{name} = {numbers.significant(value, view.digits)}"
                       for name, value in found["at"].items()])
    columns: dict[str, list[str]] = {}
    if point:
        columns["point"] = [point] + [""] * (len(rows) - 1)
    if any(index for index, _, _ in rows):
        columns["component"] = [index for index, _, _ in rows]
    digits = [numbers.apart(one[1], one[2], view.digits) for one in rows]
    for at, title in ((1, "expected"), (2, "got")):
        texts = numbers.aligned([numbers.significant(one[at], shown) for one, shown in zip(
            rows, digits, strict=True)])
        columns[title] = [
            Phrase(text.rstrip(), style="red" if at == 2 and _differ(one[1], one[2]) else "")
            for text, one in zip(texts, rows, strict=True)]
    yield Table(list(columns), zip(*columns.values(), strict=True), gap=True, limits={
        **dict.fromkeys(range(4), UNLIMITED), **({0: max(12, view.width // 2)} if point else {})})


def _differ(expected: Any, got: Any) -> bool:
    if not isinstance(expected, float) or not isinstance(got, float):
        return bool(expected != got)
    near: bool = abs(expected - got) <= NEAR * max(abs(expected), abs(got))
    return not near
