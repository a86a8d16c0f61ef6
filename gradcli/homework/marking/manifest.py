"""manifest.json: what a run was made from, so that the next one checks only what changed.

Hashes of the sheet, of each problem, of the roster, of the overrides and of each submitted file;
the version of the tool and the seed. No clock and no path of the machine: the same input gives the
same manifest.
"""

from __future__ import annotations

import hashlib
import json

from gradcli.base.errors import GradcliError, Source, read
from gradcli.homework.marking.results import SCHEMA, TOOL, opened
from gradcli.homework.sheets.cells import failure
from gradcli.render.machine import dump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.homework.checking.problem import Problem
    from gradcli.homework.sheets.sheet import Sheet

NAME = "manifest.json"


class Manifest:
    """problems: id to hash. files: name below the folder of submissions to hash. roster,
    overrides: hashes, None where there was none. finished: whether every answer was checked.
    """

    __slots__ = ("files", "finished", "overrides", "problems", "roster", "seed", "sheet",
                 "sheet_hash", "tool")

    def __init__(self, sheet: str, sheet_hash: str, problems: Mapping[str, str], *,
                 seed: int | str = 0, roster: str | None = None, overrides: str | None = None,
                 files: Mapping[str, str] | None = None, tool: str = TOOL, finished: bool = True
                 ) -> None:
        self.tool = tool
        self.seed = seed
        self.sheet = sheet
        self.sheet_hash = sheet_hash
        self.problems = dict(problems)
        self.roster = roster
        self.overrides = overrides
        self.files = dict(files or {})
        self.finished = finished

    def text(self) -> str:
        """The file: one line for each key, one for each problem and submission."""
        head = {"schema": SCHEMA, "tool": self.tool, "seed": self.seed, "finished": self.finished,
                "sheet": {"id": self.sheet, "hash": self.sheet_hash}, "roster": self.roster,
                "overrides": self.overrides}
        parts = [f"  {dump(key)}: {dump(value)}" for key, value in head.items()]
        for key, table in (("problems", self.problems), ("files", self.files)):
            lines = ",\n".join([f"    {dump(k)}: {dump(v)}" for k, v in sorted(table.items())])
            body = f"\n{lines}\n  " if lines else ""
            parts.append(f"  {dump(key)}: {{{body}}}")
        return "{\n" + ",\n".join(parts) + "\n}\n"


def manifest(sheet: Sheet, **rest: Any) -> Manifest:
    """The manifest of a run with this sheet; `rest` as for `Manifest`."""
    return Manifest(sheet.id, sheet.hash, {p.id: problem_hash(p) for p in sheet.problems}, **rest)


def problem_hash(problem: Problem) -> str:
    """The same for problems that ask, check and pay the same."""
    fields = {key: problem.fields()[key] for key in sorted(problem.fields())}
    return text_hash(dump(fields))


def text_hash(text: str) -> str:
    """Of a text."""
    return data_hash(text.encode("utf-8", "surrogatepass"))


def data_hash(data: bytes) -> str:
    """Of the bytes of a file."""
    return hashlib.sha256(data).hexdigest()


def file_hash(path: str) -> str:
    """Of a file as it stands on the disk. Raises E0601."""
    with opened(path) as file:
        return data_hash(file.read())


def read_manifest(path: str) -> Manifest:
    """The manifest in a file. Raises E0747 for what is none, besides what `source.read` raises."""
    source = read(path)
    try:
        found = json.loads(source.text)
    except json.JSONDecodeError as problem:
        raise _bad(f"this is no JSON: {problem.msg[0].lower()}{problem.msg[1:]}", source,
                   problem.pos) from None
    except (ValueError, RecursionError):
        raise _bad("this is no manifest", source, 0) from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise _bad("this is no manifest of this version", source, 0)
    texts = (str, type(None))
    sheet = found.get("sheet")
    if not isinstance(sheet, dict) or not isinstance(sheet.get("id"), str) or not isinstance(
            sheet.get("hash"), str):
        raise _bad("`sheet` is not what it must be", source, _at(source, "sheet"))
    types: dict[str, tuple[type, ...]] = {
        "tool": (str,), "seed": (int, str), "finished": (bool,), "roster": texts,
        "overrides": texts, "problems": (dict,), "files": (dict,)}
    for key, kinds in types.items():
        value = found.get(key)
        whole = isinstance(value, kinds) and (key == "finished") == isinstance(value, bool)
        if not whole or (isinstance(value, dict) and not all(
                isinstance(text, str) for text in value.values())):
            raise _bad(f"`{key}` is not what it must be", source, _at(source, key))
    return Manifest(sheet["id"], sheet["hash"], found["problems"],
                    **{key: found[key] for key in types if key != "problems"})


def _at(source: Source, key: str) -> int:
    return max(0, source.text.find(f'"{key}"'))


def _bad(message: str, source: Source, at: int) -> GradcliError:
    return failure("E0747", message, source, (at, at + 1),
                   "run `gradcli hw run` again; it writes the file anew")
