"""The numbers of an answer one by one, for the formats that list them.

What `plain`, `delimited` and `markdown` print differs in dress only; here the arrays are taken
apart once for all of them.
"""

from __future__ import annotations

from itertools import product

from gradcli.render import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    Index = tuple[int | str, ...]
    Label = tuple[str, Index]
    Matrix = tuple[list[Label], list[Label], list[list[Any]]]
    Named = list[tuple[str, Any, dict[str, Any]]]
    Comment = tuple[list[str], Any, dict[str, Any], int]

# The relative difference above which --verify fails, as in gradcli.questions, which is out of reach
# for this layer.
TOLERANCE = 1e-5
# What says that a target does not use a source.
UNUSED = " does not depend on "


FIELDS = {"jac": "jacobian", "hess": "hessian"}


def derivatives_of(command: str, result: dict[str, Any]) -> Sequence[dict[str, Any]]:
    """Return the parts of a result that have a derivative: its blocks, or its sources."""
    return result.get("blocks" if command == "hess" else "sources") or ()


def elements(command: str, result: dict[str, Any]
             ) -> Iterator[tuple[dict[str, Any], Index, Index, Any, Any]]:
    """Yield (source or block, index of the row, index of the column, value, checked value) of each
    element of the derivatives; of a gradient the row has no index. A None is one element without
    indices; the checked value is None without a check.
    """
    field = FIELDS.get(command, "gradient")
    for part in derivatives_of(command, result):
        shape = source_shape(result, part["row"]) if command == "hess" else (
            result.get("shape") or () if command == "jac" else ())
        verify = part.get("verify") or {}
        check = verify.get(field, verify.get("gradient"))
        for row, column, value in _places(part, field, len(shape)):
            yield part, row, column, value, pick(check, row + column)


def pair(result: dict[str, Any], part: dict[str, Any]) -> tuple[str, str]:
    """Return the names beside and above the matrix of a derivative: target and source, or the two
    sources of a block.
    """
    return (part["row"], part["col"]) if "row" in part else (result["of"], part["wrt"])


def name(result: dict[str, Any], part: dict[str, Any], row: Index = (), column: Index = ()) -> str:
    """Return the name of a derivative, or of an element of it: `dy/dx`, `d2y/dx[0]dx[1]`."""
    if "row" in part:
        return numbers.second_derivative(result["of"], part["row"], part["col"], row, column)
    return numbers.first_derivative(result["of"], part["wrt"], row, column)


def _places(item: dict[str, Any], field: str, rank: int) -> Iterator[tuple[Index, Index, Any]]:
    """Yield (index of the row, index of the column, value) of each element, or of each triple."""
    sparse = item.get("sparse")
    if sparse is not None:
        for row, column, value in zip(
                sparse["rows"], sparse["columns"], sparse["values"], strict=True):
            yield tuple(row), tuple(column), value
        return
    for index, value in numbers.elements(item.get(field)):
        yield index[:rank], index[rank:], value


def matrix(result: dict[str, Any]) -> Matrix:
    """Return (rows, columns, values) of all derivatives together: elements of the target by those
    of all sources, or of Hessians of all sources by each other. Labels are (name, index); a
    Jacobian of None has None everywhere, and "" is where there is no block at all.
    """
    return _hessians(result) if "blocks" in result else _jacobians(result)


def _jacobians(result: dict[str, Any]) -> Matrix:
    target = tuple(result.get("shape") or numbers.shape(result.get("value")))
    rows = _labels(result["of"], target)
    columns: list[Label] = []
    values: list[list[Any]] = [[] for _ in rows]
    for source in result.get("sources") or ():
        jacobian, inner = source.get("jacobian"), source.get("shape")
        found = _labels(source["wrt"], numbers.shape(jacobian)[len(target):]
                        if inner is None else tuple(inner))
        columns += found
        for line, (_, row) in zip(values, rows, strict=True):
            line += [pick(jacobian, row + column) for _, column in found]
    return rows, columns, values


def _hessians(result: dict[str, Any]) -> Matrix:
    blocks = {(block["row"], block["col"]): block for block in result.get("blocks") or ()}
    rows, columns = [
        [label for name in dict.fromkeys([pair[side] for pair in blocks])
         for label in _labels(name, source_shape(result, name))] for side in (0, 1)]
    return rows, columns, [[
        pick(blocks[row, column].get("hessian"), at + to) if (row, column) in blocks else ""
        for column, to in columns] for row, at in rows]


def has_triples(result: dict[str, Any]) -> bool:
    """Return whether only elements that can differ from 0 stand there, one by one."""
    return any("sparse" in part for key in ("sources", "blocks") for part in result.get(key) or ())


def triples(result: dict[str, Any]) -> Iterator[tuple[Label, Label, Any]]:
    """Yield (row, column, value), labels as (name, index); a None is one for the whole."""
    for part, row, column, value, _ in elements("hess" if "blocks" in result else "jac", result):
        above, beside = pair(result, part)
        yield (above, row), (beside, column), value


def _labels(name: str, shape: Sequence[int]) -> list[Label]:
    return [(name, index) for index in product(*map(range, shape))]


def source_shape(result: dict[str, Any], name: str) -> tuple[int, ...]:
    """Return the shape of a Hessian's source, from its value or else from its own block."""
    at = (result.get("at") or {}).get(name)
    if at is not None:
        return numbers.shape(at)
    for block in result.get("blocks") or ():
        if block["row"] == block["col"] == name:
            whole = tuple(block.get("shape") or numbers.shape(block.get("hessian")))
            return whole[:len(whole) // 2]
    return ()


def eigen(result: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield (`eigenvalue[0]`, number), ..., (`definiteness`, word); nothing without --eig."""
    for index, value in enumerate(result.get("eigenvalues") or ()):
        yield f"eigenvalue[{index}]", value
    if result.get("definiteness") is not None:
        yield "definiteness", result["definiteness"]


def pick(value: Any, index: Index) -> Any:
    """Return the element at `index`; the whole if it is no array; None if there is no such element.
    """
    for position in index:
        if not isinstance(value, list):
            break
        if not isinstance(position, int) or position >= len(value):
            return None
        value = value[position]
    return value


def named(command: str, result: dict[str, Any]) -> Named:
    """Return (name, value, item) of whatever can have reasons and notes: `dy/dx`, 6.0, the source.
    """
    if command == "eval":
        return [(result["of"], result.get("value"), result)]
    field = FIELDS.get(command, "gradient")
    return [*[(name(result, part),
               part["sparse"]["values"] if "sparse" in part else part.get(field), part)
              for part in derivatives_of(command, result)],
            ("", "", {"notes": result.get("notes")})]     # what concerns all of them


def reasons(items: Named) -> list[Comment]:
    """Return a remark for each distinct reason: (names, value, reason, its place among the causes
    of the first name).
    """
    return _shared([(name, value, reason, at, item.get("wrt")) for name, value, item in items
                    for at, reason in enumerate(item.get("reasons") or ())])


def notes(items: Named) -> list[Comment]:
    """Return a remark for each distinct note, once per line of the file. A note without a
    derivative's name is left out where a derivative has a note with the same code and location.
    """
    once: dict[Any, Any] = {}
    for name, value, item in items:
        for note in item.get("notes") or ():
            once.setdefault((name, note.get("code"), note["message"], note.get("line")),
                            (name, value, note, 0, item.get("wrt")))
    found = list(once.values())
    causes = {_cause(note) for name, _, note, *_ in found if name}
    return _shared([one for one in found if one[0] or _cause(one[2]) not in causes])


def _cause(note: dict[str, Any]) -> tuple[Any, ...]:
    return note.get("code"), note.get("line"), note.get("column")


def _shared(found: list[tuple[str, Any, dict[str, Any], int, Any]]) -> list[Comment]:
    """Return the remarks, those that are equal as one with all their names, in order of the first.
    Messages about different sources are equal if all else is, and become one about all of them.
    """
    groups: dict[Any, list[Any]] = {}
    for name, value, remark, at, wrt in found:
        key = same(remark, wrt), value is None, at > 0
        names, remarks, sources, *_ = groups.setdefault(key, [[], [], [], value, at])
        names.append(name)
        remarks.append(remark)
        sources.append(wrt)
    return [(names, value, _merged(remarks, sources), at)
            for names, remarks, sources, value, at in groups.values()]


def unused(remarks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the remarks, those on sources that one target does not use as one, in place of the
    first.
    """
    groups: dict[Any, list[dict[str, Any]]] = {}
    for at, remark in enumerate(remarks):
        key = same(remark, None) if _is_unused(remark) else at
        groups.setdefault(key, []).append(remark)
    return [_merged(group, [None]*len(group)) for group in groups.values()]


def same(remark: dict[str, Any], wrt: Any) -> tuple[Any, ...]:
    """Return a key that is equal for remarks that say the same about two sources."""
    before, way, _, after = _about(remark, wrt)
    place = () if _is_unused(remark) else (remark.get("line"), remark.get("column"))
    return remark.get("code"), before, way, after, place, remark.get("fix")


def _is_unused(remark: dict[str, Any]) -> bool:
    return remark.get("code") == "source-unrelated" and UNUSED in remark["message"]


def _about(remark: dict[str, Any], wrt: Any) -> tuple[str, str, str, str]:
    """Return the parts of a message about one source, whose name is the third: on the path from it
    to the target, or that the target does not use it. Other messages are the first part.
    """
    message = remark["message"]
    if _is_unused(remark):
        before, _, source = message.partition(UNUSED)
        return before, UNUSED, source, ""
    before, way, after = message.partition(f"path from {wrt} to ")
    return (before, "path from ", str(wrt), f" to {after}") if way else (before, "", "", "")


def _merged(remarks: list[dict[str, Any]], sources: list[Any]) -> dict[str, Any]:
    """Return equal remarks as one; one on sources that a target does not use has no line."""
    first = remarks[0]
    before, way, _, after = _about(first, sources[0])
    if len(remarks) == 1 or not way:
        return first
    names = listed([_about(*one)[2] for one in zip(remarks, sources, strict=True)])
    merged = {**first, "message": f"{before}{way}{names}{after}"}
    if not _is_unused(first):
        return merged
    fix = f"; try: {first['fix']}" if first.get("fix") else ""
    return {**merged, "message": f"{merged['message']}{fix}", "line": None, "related": [],
            "fix": None}


def listed(names: list[str]) -> str:
    """Return at most four names, and how many more there are."""
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return ", ".join(names[:4]) + more


def count(items: Named) -> int:
    """Return the number of derivatives; items without a name concern all of them and do not count.
    """
    return sum([1 for name, _, _ in items if name])


def sentence(names: list[str], remark: dict[str, Any]) -> str:
    """Return `dy/dx: the message (line 3)`, without a name if it concerns all."""
    who = listed(names)
    return f"{f'{who}: ' if who else ''}{remark['message']}{line(remark)}"


def disagrees(check: dict[str, Any]) -> bool:
    """Return whether an independent result differs: by its field `agrees`, or else by TOLERANCE."""
    difference = check.get("difference")
    if check.get("agrees") is not None or difference is None:
        return check.get("agrees") is False
    return not difference <= TOLERANCE


def derivatives(operation: dict[str, Any]) -> list[str]:
    """Return the formulas of an operation's derivatives, `None` for an argument without one."""
    return [numbers.exact(text) for text in operation.get("derivative") or ()]


def line(remark: dict[str, Any]) -> str:
    """Return ` (line 3)`, or "" if a remark has no line."""
    return f" (line {remark['line']})" if remark.get("line") else ""
