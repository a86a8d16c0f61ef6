"""Questions to the command line, in this process, for the tests of its parts."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from folders import ROOT
from jsonschema.exceptions import best_match
from jsonschema.validators import validator_for
from transcripts import in_process

SCHEMAS = {path.name.split(".")[0]: json.loads(path.read_text())
           for path in (ROOT / "gradcli/schemas").glob("*.json")}
USUAL = ["-e", "x^2*sin(y)", "--at", "x=1.5,y=0.5"]


def valid(answer: Any, schema: str) -> None:
    """Hold an answer to a schema; the schema was held to the standard when it was first used."""
    problem = best_match(_validator(schema).iter_errors(_thinned(answer)))
    if problem is not None:
        raise problem


def _thinned(answer: Any) -> Any:
    """An answer whose long lists have one item of each kind after the first twenty: schemas bound
    no length beyond, and ask the same of all items. The thousand points of a curve take them half
    a second.
    """
    if isinstance(answer, dict):
        return {key: _thinned(value) for key, value in answer.items()}
    if not isinstance(answer, list):
        return answer
    rest = {_kind(item): item for item in answer[20:]}
    return [_thinned(item) for item in [*answer[:20], *rest.values()]]


def _kind(value: Any) -> Any:
    """What a schema can tell of a value, to be compared: of a float whether it is whole, and which
    whole numbers up to a thousand it lies between.
    """
    if isinstance(value, float):
        return float, value % 1 == 0, min(max(value, -1.0), 1001.0) // 1
    if isinstance(value, list):
        return list, min(len(value), 20), frozenset(map(_kind, value))
    if isinstance(value, dict):
        return dict, frozenset([(key, _kind(item)) for key, item in value.items()])
    return type(value), value


@cache
def _validator(schema: str) -> Any:
    kind = validator_for(SCHEMAS[schema])
    kind.check_schema(SCHEMAS[schema])
    return kind(SCHEMAS[schema])


def ok(*arguments: str, stdin: bytes = b"") -> str:
    """The output of a command that succeeds and has nothing to say besides."""
    status, out, err = in_process(list(arguments), stdin)
    assert (status, err) == (0, "")
    return out


def loaded(*arguments: str, stdin: bytes = b"") -> Any:
    """The JSON output of a command, held to its schema."""
    answer = json.loads(ok(*arguments, "--format", "json", stdin=stdin))
    valid(answer, answer["command"])
    return answer


def answered(*arguments: str) -> tuple[int, dict[str, Any]]:
    """The status and the JSON output of a command that answers, whatever else it says."""
    status, out, err = in_process([*arguments, "--format", "json"])
    assert out, err
    return status, json.loads(out)


def run_text(text: str, *arguments: str) -> tuple[int, str, str]:
    """Status, stdout and stderr of `gradcli run` with a program from standard input."""
    return in_process(["run", "-", *arguments], text.encode())


def gradients(*arguments: str) -> dict[str, Any]:
    """Source to gradient, of the first target."""
    sources = loaded("grad", *arguments)["results"][0]["sources"]
    return {source["wrt"]: source["gradient"] for source in sources}
