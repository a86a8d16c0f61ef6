"""Jacobians and Hessians as triples: the elements that can differ from 0, one by one."""

from __future__ import annotations

from gradcli.render import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Triple = tuple[entries.Label, entries.Label, Any]


def are_in(result: dict[str, Any]) -> bool:
    """Whether derivatives of a result stand as triples."""
    return any("sparse" in part for key in ("sources", "blocks") for part in result.get(key) or ())


def of(result: dict[str, Any]) -> Iterator[Triple]:
    """(row, column, value) of each triple, labels as (name, index); a None is one for the whole."""
    for block, row, column, value, _ in entries.hessians(result):
        yield (block["row"], row), (block["col"], column), value
    for source, row, column, value, _ in entries.jacobians(result):
        yield (result["of"], row), (source["wrt"], column), value
