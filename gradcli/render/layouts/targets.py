"""The page of one target: a title, a verdict, facts, a table and remarks.

Spreadsheets get one table of all targets, with a row for each field of the JSON. Columns: `of`, the
target; `quantity`, the field, with a path where it has parts (`at.x`, `curl[0]`,
`second_order.mean`); `value`. A list of objects, such as the iterates of Newton's method, has a row
for each under the name of the list, and their fields are columns of their own. Formulas are
quantities, too. A null is an empty cell.
"""

from __future__ import annotations

from gradcli.render import numbers
from gradcli.render.page import BAD, GOOD, Code, Facts, Page, Remark, Table, Title, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gradcli.render.page import Block

    Row = dict[str, Any]

# What has places of its own: the variables are those of `at`, notes go where messages go.
ELSEWHERE = ("of", "variables", "notes", "sources")


class TargetPage(Page):
    """The page of one target: a title, a verdict, facts, a table and remarks, in this order. name:
    the target; several: there are pages of others, too.
    """

    __slots__ = ("added", "facts", "name", "several", "table")
    blocks: list[Block]

    def __init__(self, name: str, title: Sequence[Any], digits: int | None, several: bool) -> None:
        self.added: list[tuple[str, Any]] = []
        self.name = name
        self.several = several
        self.facts, self.table = Facts([], gap=True), Table(split=True, gap=True)
        super().__init__(digits, fields=self._fields(),
                         blocks=[Title(tuple(title)), self.facts, self.table])

    def add(self, name: str, value: Any) -> None:
        """Add a field, or one for each element; the name contains the target's."""
        self.added.append((name, value))

    def add_own(self, name: str, value: Any) -> None:
        """Add a field with a name that is the same for each target."""
        self.add(f"{numbers.closed(self.name)}.{name}" if self.several else name, value)

    def _fields(self) -> Iterator[tuple[str, str]]:
        for name, value in self.added:
            for index, item in numbers.elements(value):
                yield numbers.indexed(name, index), numbers.exact(item)

    def judge(self, verdict: str, bad: bool) -> None:
        """Say how it went, below the title."""
        self.blocks.insert(1, Verdict(verdict, BAD if bad else GOOD))

    def remark(self, text: str, style: str = "") -> None:
        """Add a remark."""
        self.blocks.append(Remark(text, style, gap=True))


def with_records(answer: dict[str, Any], pages: list[TargetPage]) -> list[TargetPage]:
    """Return the pages, with the records of all in the first."""
    for page in pages:
        page.records = _records(answer, pages) if page is pages[0] else ()
        if not page.table.rows:
            page.blocks.remove(page.table)
    return pages


def _records(answer: dict[str, Any], pages: Sequence[TargetPage]) -> Iterator[Sequence[Any]]:
    """Yield a head and rows; the formulas are those of the pages."""
    rows = [row for result, page in zip(answer["results"], pages, strict=True)
            for row in _rows(result, page)]
    names = {"of": 0, "quantity": 1, "value": 2}
    for row in rows:
        for name in row:
            names.setdefault(name, len(names))
    yield list(names)
    for row in rows:
        yield [row.get(name) for name in names]


def _rows(result: dict[str, Any], page: TargetPage) -> Iterator[Row]:
    of = result["of"]
    for key, value in numbers.unsigned(result).items():
        if key in ELSEWHERE:
            continue
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for item in value:
                if "powers" in item:    # those that are 0 are not in the JSON
                    item["powers"] = {**dict.fromkeys(result["at"], 0), **item["powers"]}
                yield {"of": of, "quantity": key, **{
                    f"{key}.of" if name == "of" else name: one
                    for name, one in _flat(item).items()}}
            continue
        for path, one in _paths(key, value):
            yield {"of": of, "quantity": path, "value": one}
    for name, text in page.facts.rows:
        if isinstance(text, Code):
            yield {"of": of, "quantity": name, "value": text}
    for source in result.get("sources") or ():
        yield from _compared(of, source)


def _compared(of: str, source: dict[str, Any]) -> Iterator[Row]:
    """Yield the rows of `verify` on one source: its value, and each number that was compared."""
    for path, one in _paths(f"at.{source['wrt']}", source["at"]):
        yield {"of": of, "quantity": path, "value": one}
    for k, element in enumerate(source["elements"]):
        yield {"of": of, "quantity": name_of(of, source["wrt"], element, k), **{
            key: " ".join(map(str, value)) if isinstance(value, list) else value
            for key, value in element.items()}}
    if not source["elements"]:
        yield {"of": of, "quantity": numbers.first_derivative(of, source["wrt"]),
               "verdict": source["verdict"]}


def _flat(item: dict[str, Any]) -> Row:
    return {path: one for key, value in item.items() for path, one in _paths(key, value)}


def _paths(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (`at.x`, number), (`curl[0]`, number): a dot before names, brackets around indices."""
    for index, one in numbers.elements(value):
        path, places = key, []
        for part in index:
            if isinstance(part, int):
                places.append(part)
            else:
                path, places = f"{numbers.indexed(path, tuple(places))}.{part}", []
        yield numbers.indexed(path, tuple(places)), one


def along(one: dict[str, Any]) -> bool:
    """Return whether a compared number is a derivative along a direction, not of an element."""
    return one["of_index"] is None or one["wrt_index"] is None


def name_of(of: str, wrt: str, one: dict[str, Any], k: int) -> str:
    """Return `df/dx[0]`, or `df/dx*r1` for the product with the first random direction."""
    if along(one):
        return f"{numbers.first_derivative(of, wrt)}*r{k + 1}"
    return numbers.first_derivative(of, wrt, tuple(one["of_index"]), tuple(one["wrt_index"]))
