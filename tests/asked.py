"""Questions to the command line, in this process, for the tests of its parts."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from transcripts import ROOT, in_process

SCHEMAS = {path.name.split(".")[0]: json.loads(path.read_text())
           for path in (ROOT / "gradcli/schemas").glob("*.json")}
USUAL = ["-e", "x^2*sin(y)", "--at", "x=1.5,y=0.5"]


def ok(*arguments: str, stdin: bytes = b"") -> str:
    """The output of a command that succeeds and has nothing to say besides."""
    status, out, err = in_process(list(arguments), stdin)
    assert (status, err) == (0, "")
    return out


def loaded(*arguments: str, stdin: bytes = b"") -> Any:
    """The JSON output of a command, held to its schema."""
    answer = json.loads(ok(*arguments, "--format", "json", stdin=stdin))
    jsonschema.validate(answer, SCHEMAS[answer["command"]])
    return answer


def gradients(*arguments: str) -> dict[str, Any]:
    """Source to gradient, of the first target."""
    sources = loaded("grad", *arguments)["results"][0]["sources"]
    return {source["wrt"]: source["gradient"] for source in sources}
