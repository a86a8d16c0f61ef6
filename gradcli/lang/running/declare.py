"""Declarations (`var`, `const` and `input`): a value with a type, a shape and a role; and
`load`.
"""

from __future__ import annotations

from gradcli.base.errors import Diagnostic, GradcliError, error
from gradcli.base.lazy import np
from gradcli.engine.record.tensor import Tensor, leaf
from gradcli.engine.record.variable import Variable
from gradcli.lang.running.calls import as_tensor, guarded_value, one_of
from gradcli.ops.values import (
    DTYPES,
    cast,
    check_bytes,
    dtype_of,
    held,
    is_array,
    shape_of,
    show,
    telling,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.base.errors import Source, Span
    from gradcli.lang.running.run import Running
    from gradcli.lang.syntax.code import Declaration

ATTRIBUTES = {"var": ("trainable", "name"), "const": (), "input": ("domain",)}
KINDS = {"var": "variable", "const": "constant", "input": "input"}


def declare(run: Running, d: Declaration, initial: Any, attributes: Mapping[str, Any],
            local: dict[str, Any] | None = None) -> None:
    """Bind the declared name.

    Raises E0203 (no value), E0208 (an attribute that does not exist), E0306 (type), E0301 (shape),
    E0405 (outside the domain), each with its own span.
    """
    place = d.spans["name"]
    for name in attributes:
        if name not in ATTRIBUTES[d.keyword]:
            raise _at(d.spans[f"{name} name"], "E0208", f"`{d.keyword}` has no attribute `{name}`",
                      one_of(name, ATTRIBUTES[d.keyword]))
    given = d.name in run.given and d.keyword != "const"
    value = run.given[d.name] if given else guarded_value(initial)
    if value is None:
        raise _at(place, "E0203", f"`{d.name}` has no value",
                  f"give it with --at {d.name}=... or write {d.keyword} {d.name} = ...")
    if isinstance(value, list):
        value = guarded_value(as_tensor(value))
    if isinstance(value, dict) or not (is_array(value) or isinstance(
            value, (float, int, bool, str))):
        raise _at(place if given else d.spans["value"], "E0306", f"`{d.name}` needs a number",
                  "write a number or a list of numbers")
    # The error marks the file's value, or, if the value is from outside, the declared type.
    own = "type" if given else "value"
    value = _typed(d, value, d.spans.get(own, place))
    _check_shape(d, shape_of(value), d.spans.get(own, place))
    if "domain" in attributes:
        _check_domain(d, value, attributes["domain"], given)
    kind = KINDS[d.keyword]
    trainable = attributes.get("trainable", True)
    if not isinstance(trainable, bool):
        raise _at(d.spans["trainable value"], "E0306", "`trainable` is true or false",
                  "write trainable=false")
    if not trainable:
        kind = "nontrainable"
    made: Tensor
    if d.keyword == "var":
        made = Variable(value, trainable, name=str(attributes.get("name", d.name)))
        if local is None:
            run.run.variables[d.name] = made
    else:
        made = leaf(value)
    if run.run.log is not None and isinstance(initial, Tensor) and not given:
        from gradcli.lang.running.log import Assignment

        run.run.log.states.append(Assignment(
            d.keyword, d.name, initial.read().id, None, made.id or 0, d.spans.get("value", place),
            made.value))
    run.bind(d.name, made, place, kind, d, local)


def _at(span: Span, code: str, message: str, help: str) -> GradcliError:
    return GradcliError(Diagnostic(code, message, span=span, help=help))


def _typed(d: Declaration, value: Any, span: Span) -> Any:
    if d.dtype is None:
        return value
    if d.dtype not in DTYPES:
        raise _at(d.spans.get("type", span), "E0306", f"there is no type `{d.dtype}`",
                  f"one of {', '.join(DTYPES)}")
    if dtype_of(value) == d.dtype:
        return value
    is_text = dtype_of(value) == "string"
    if is_text != (d.dtype == "string"):
        raise _at(span, "E0306", f"`{d.name}` is declared {d.dtype} and given"
                  f" {'a text' if is_text else 'a number'}", "give a value of that type")
    if dtype_of(value).startswith("complex"):
        raise _at(span, "E0306", f"`{d.name}` is declared {d.dtype} and given a complex number",
                  "take its real part: real(...)")
    try:
        typed = cast(value, d.dtype)
    except GradcliError:
        raise
    except (ValueError, OverflowError):
        shown = f"{value!r} is none" if isinstance(value, float) else "an element is none"
        raise _at(span, "E0306", f"`{d.name}` is declared {d.dtype}; {shown}",
                  held(d.dtype)) from None
    if d.dtype.startswith("int") and _fraction(value):
        raise _at(span, "E0306", f"`{d.name}` is declared {d.dtype}; {value!r} is a fraction",
                  f"drop the type: {d.keyword} {d.name} = {value!r}")
    return typed


def _fraction(value: Any) -> bool:
    return bool(value != value // 1) if isinstance(value, float) else bool(
        hasattr(value, "any") and (value != value // 1).any())


def _check_shape(d: Declaration, shape: tuple[int, ...], span: Span) -> None:
    if d.shape is None:
        return
    if len(shape) != len(d.shape) or any(
            n is not None and n != m for n, m in zip(d.shape, shape, strict=True)):
        wanted = ", ".join(":" if n is None else str(n) for n in d.shape)
        raise _at(span, "E0301", f"`{d.name}` is declared [{wanted}] and given {show(shape)}",
                  "give a value of the declared shape, or `:` for a free length")


def _check_domain(d: Declaration, value: Any, domain: Any, given: bool) -> None:
    from gradcli.base.lazy import np

    place = d.spans["domain value"]
    if isinstance(value, str):
        raise _at(place, "E0405", f"`{d.name}` is a text and has no domain", "leave domain out")
    try:
        ends = np.asarray(guarded_value(as_tensor(domain)), dtype=float)
    except (GradcliError, TypeError, ValueError):
        ends = np.zeros(0)
    if ends.shape != (2,) or not ends[0] <= ends[1]:
        raise _at(place, "E0405", "a domain is a pair [low, high]", "such as domain=[0, 5]")
    low, high = float(ends[0]), float(ends[1])
    inside = (np.asarray(value) >= low) & (np.asarray(value) <= high)
    if not np.all(inside):
        bad = value if isinstance(value, (int, float)) else np.asarray(value)[~inside].flat[0]
        raise _at(place if given else d.spans.get("value", place), "E0405",
                  f"`{d.name}` = {telling(float(bad))} is outside its domain"
                  f" [{telling(low)}, {telling(high)}]",
                  "give a value inside, or widen the domain")


# --------------------------------------------------------------------------------------------------
# `load("name.csv")`: numbers from a file beside the program, and from nowhere else.

SEPARATORS = {"csv": ",", "tsv": "\t"}


def load(source: Source, name: str) -> Any:
    """Return the numbers of a .csv or .tsv file below the program's own folder.

    Without a header a tensor [rows, columns]; with one, a dictionary of columns [rows]. Raises
    E0610 for a file elsewhere, E0611 for one that cannot be read, E0612 for a cell that is no
    number.
    """
    ending = name.rpartition(".")[2].lower()
    if ending not in SEPARATORS:
        raise error("E0611", f"`{name}` is neither .csv nor .tsv", help="give a file of numbers")
    rows = _rows(_path(source, name), name, SEPARATORS[ending])
    if not rows:
        raise error("E0611", f"`{name}` is empty", help="give a file of numbers")
    first = [_number(cell) for cell in rows[0][1]]
    header = None if None not in first else _header(name, rows, first)
    width = len(rows[0][1]) if header is None else len(header)
    table = np.empty((len(rows), width))
    for k, (line, row) in enumerate(rows):
        numbers = [_number(cell) for cell in row]
        if len(row) != width or None in numbers:
            raise _bad_row(name, line, row, width, numbers)
        table[k] = numbers
    if header is None:
        return table
    return {title: np.array(table[:, k]) for k, title in enumerate(header)}


def _path(source: Source, name: str) -> str:
    """Return the path of the file, links followed. Raises E0610 outside of the program's folder."""
    import os

    folder = os.path.realpath(os.path.dirname(source.name) or ".")
    if "\0" not in name and "\\" not in name and not os.path.isabs(name):
        path = os.path.realpath(os.path.join(folder, name))
        if os.path.commonpath([folder, path]) == folder:
            return path
    raise error("E0610", f"`{name}` lies outside the program's own folder",
                help="put the file beside the program")


def _rows(path: str, name: str, separator: str) -> list[tuple[int, list[str]]]:
    """Return (line, cells) of each line that is not blank. Raises E0611, E0403 if too large."""
    import csv
    import os

    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise OSError(0, "it is a folder" if os.path.isdir(path) else "it is no regular file")
        # A number takes a character and a separator at least.
        check_bytes(4.0 * os.path.getsize(path))
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=separator)
            return [(reader.line_num, row) for row in reader if row]
    except UnicodeDecodeError:
        reason = "it is not UTF-8 text"
    except csv.Error as problem:
        reason = str(problem)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
    raise error("E0611", f"cannot read `{name}`: {reason}",
                help="give the name of a file of numbers beside the program")


def _header(name: str, rows: list[tuple[int, list[str]]], numbers: list[float | None]) -> list[str]:
    """Remove the first row and return it as names.

    Raises E0612 for one that looks like a row of numbers, has no rows below it, or names a column
    twice or not at all.
    """
    line, cells = rows.pop(0)
    titles = [cell.strip() for cell in cells]
    if not rows or "" in titles:
        what = "" in titles and any(n is not None for n in numbers)
        raise (_bad_row(name, line, cells, len(cells), numbers) if what else error(
            "E0612", f"`{name}` has a header and no numbers" if not rows else
            f"`{name}`, line {line}: column {titles.index('') + 1} has no name",
            help="give lines of numbers, separated by commas, in tsv files by tabs"))
    for title in titles:
        if titles.count(title) > 1:
            raise error("E0612", f"`{name}`, line {line}: two columns are called `{title}`",
                        help="give each column a name of its own")
    return titles


def _number(cell: str) -> float | None:
    if not cell.isascii() or "_" in cell:       # Python reads 1_000 and the digits of all scripts
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def _bad_row(name: str, line: int, row: list[str], width: int, numbers: list[float | None]
             ) -> GradcliError:
    if len(row) != width:
        return error("E0612", f"`{name}`, line {line}: {len(row)} cells, not {width}",
                     help="give every line as many cells as the first")
    column = numbers.index(None)
    return error("E0612", f"`{name}`, line {line}, column {column + 1}: {row[column]!r:.30} is no"
                 " number", help="leave out the line, or write nan")
