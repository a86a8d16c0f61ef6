"""Which modules a command loads."""

from __future__ import annotations

import sys

from commands import run

# What is new in sys.modules after main() is printed on stderr; what the interpreter and the
# environment (a .pth file, say) loaded before it does not count.
PROBE = """\
import sys
before = set(sys.modules)
{action}
print(" ".join(sorted(set(sys.modules) - before)), file=sys.stderr)
"""
MAIN = """\
sys.argv = ["gradcli", *{arguments!r}]
from gradcli.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""

# DESIGN: start-up is most of what a small formula costs, and each of these takes 2 to 70 ms.
HEAVY = {
    "collections", "dataclasses", "enum", "functools", "importlib.metadata", "inspect", "json",
    "lark", "logging", "numpy", "pathlib", "pydantic", "re", "rich", "scipy", "sympy", "typer",
    "typing"}
FORMULA = ("-e", "x^2*sin(y)", "--wrt", "x,y", "--at", "x=1.5,y=0.5")


def loaded_by(action: str, home: dict[str, str | None], stdin: str = "") -> tuple[str, set[str]]:
    """What a piece of Python printed, and the modules it loaded."""
    ran = run(sys.executable, "-c", PROBE.format(action=action), env=home, stdin=stdin)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout, set(ran.stderr.splitlines()[-1].split())


def command(*arguments: str) -> str:
    return MAIN.format(arguments=list(arguments))
