"""The page of `gradcli why SCRIPT.py`: what its gradients show, one paragraph for each cause.

    4 of 6 gradients of loss are None, asked for at train.py:31
      model.dense.kernel, model.dense.bias, ...
      the path from x to y is cut by `argmax`, which returns an index
      --> train.py:12:9
       |
    12 | k = tf.argmax(logits, axis=1)
       = try: ...
"""

from __future__ import annotations

from gradcli.render.layouts.why import in_framework
from gradcli.render.page import MISSING, Code, Page, Preformatted, Remark, Title

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.render.page import Block

MOST = 6    # names of sources in one line


def pages(answer: dict[str, Any], digits: int | None = None) -> list[Page]:
    """Return one page of all findings."""
    found = list(_blocks(answer, indent=" "))
    return [Page(fields=_fields(found), records=_records(answer), blocks=_blocks(answer),
                 screen=lambda view: found)]


def _blocks(answer: dict[str, Any], indent: str = "") -> Iterator[Block]:
    """Yield the findings. indent: on terminals."""
    if not indent:
        yield Title(("Gradients of ", Code(answer["file"])))
    for at in answer["empty"]:
        yield Remark(f"asked for at {at['file']}:{at['line']}: the gradients of an empty list."
                     " A model has no variables before it is called: take the list after that")
    if not answer["findings"] and not (answer["empty"] and not answer["asked"]):
        yield Remark(_none(answer))
    for k, finding in enumerate(answer["findings"]):
        yield Remark(_head(finding, answer["file"]), "" if finding["answer"] == "0" else MISSING,
                     gap=k > 0)
        names = finding["sources"]
        if len(names) > 1:
            yield Remark(", ".join(names[:MOST]) + (
                f" and {len(names) - MOST} more" if len(names) > MOST else ""), head=indent)
        if finding["message"]:
            yield Remark(finding["message"], head=indent)
        for place in (finding, *finding["related"]):
            yield from _place(place, place is finding)
        if finding["fix"]:
            yield Remark(finding["fix"], head="  = try:" if indent else "try:")
        for which in ("behind", "beside"):
            for other in finding[which]:
                where = f" ({other['file']}:{other['line']})" if other["line"] else ""
                yield Remark(f"{other['message']}{where}",
                             head=f"  {which} it:" if indent else f"{which} it:")
    yield from in_framework(answer)


def _none(answer: dict[str, Any]) -> str:
    asked = answer["asked"]
    if not asked:
        return f"{answer['file']} " + (
            "asks no tape for a gradient" if not answer["ended"] else
            "ended where it asked a tape for a gradient" if answer["ended"]["asking"] else
            "ended before it asked a tape for a gradient")
    return "no gradient is None, NaN, infinite or 0 each time: " + (
        "the one that was asked for" if asked == 1 else f"all {asked} that were asked for") + (
        " before it ended" if answer["ended"] else "")


def _head(finding: dict[str, Any], file: str) -> str:
    """Return `4 of 6 gradients of loss are None, asked for at train.py:31`."""
    answer, names, total = finding["answer"], finding["sources"], finding["total"]
    of = f" of {finding['target']}" if finding["target"] else ""
    if len(names) == 1:
        short = of and f"d{finding['target']}/d{names[0]}".replace(".", "").replace(
            "/", "").isidentifier()
        who = f"d{finding['target']}/d{names[0]} is" if short else (
            f"the gradient{of} with respect to {names[0]} is")
    else:
        who = f"{len(names)} of {total} gradients{of} are" if total > len(names) else (
            f"all {total} gradients{of} are")
    often = "" if finding["asked"] < 2 else (
        " each time" if finding["times"] == finding["asked"] else
        f" {finding['times']} of {finding['asked']} times")
    at = finding["asked_at"]
    where = f", asked for at {at['file']}:{at['line']}" if at["line"] else ""
    return f"{who} {answer}{often}{where}"


def _place(place: dict[str, Any], first: bool) -> Iterator[Block]:
    if not place.get("line"):
        return
    text = place.get("text")
    pad = " " * len(str(place["line"]))
    said = "" if first else f"   {place.get('message') or ''}".rstrip()
    yield Preformatted([
        f" {pad}{'-->' if first else ':::'} {place['file']}:{place['line']}:{place['column']}"
        f"{said}",
        *([f" {place['line']} | {text}"] if text else [])])


def _fields(found: Sequence[Block]) -> Iterator[Sequence[str]]:
    for block in found:
        if isinstance(block, Remark):
            head = f"{block.head} " if block.head else ""
            yield (f"{head}{block.text}",)
        elif isinstance(block, Title):
            yield from ((), (block.pieces,))
        elif isinstance(block, Preformatted):
            for line in block.lines:
                yield (line,)


def _records(answer: dict[str, Any]) -> Iterator[Sequence[Any]]:
    """Yield a row for each source of each finding."""
    names = ("code", "file", "line", "column", "message", "fix")
    yield ("of", "wrt", "answer", "times", "asked", *names)
    for finding in answer["findings"]:
        for source in finding["sources"]:
            yield [finding["target"], source, finding["answer"], finding["times"],
                   finding["asked"], *map(finding.get, names)]
