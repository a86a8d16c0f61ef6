"""Print the oldest version of each dependency that pyproject.toml allows, for pip to hold to."""

from __future__ import annotations

import re
import tomllib

from folders import ROOT

PROJECT = ROOT / "pyproject.toml"
REQUIREMENT = re.compile(r"([\w-]+)>=([0-9.]+)(?:,<[0-9.]+)?")


def oldest() -> dict[str, str]:
    """Name to version, of the project and its extras; each is declared once, or twice the same."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    found: dict[str, str] = {}
    for text in sum(project["optional-dependencies"].values(), project["dependencies"]):
        match = REQUIREMENT.fullmatch(text)
        assert match, f"{text} has no oldest version"
        name, version = match.groups()
        assert found.setdefault(name, version) == version, f"{name} has two oldest versions"
    return found


if __name__ == "__main__":
    for name, version in oldest().items():
        print(f"{name}=={version}")
