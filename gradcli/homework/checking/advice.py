"""What the help of an error says to write in a sheet, for those who write none."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.base.errors import Diagnostic

IN_JSON = {"at": '{"x": 2}', "domain": '{"x": [0, 5]}', "wrt": '"x,y"', "parameters": '"a,b"',
           "direction": "[3, 4]", "order": "2", "function": '"x^2 sin(x)"', "tolerance": "0.01",
           "rtol": "1e-8", "points": "2", "dependent": '"y"', "credit": '{"sign_error": 0.5}'}
IN_OPTIONS = {"at": "x=2", "domain": "x=0:5", "wrt": "x,y", "parameters": "a,b",
              "direction": "3,4", "order": "2", "tolerance": "0.01", "dependent": "y"}


def in_json(one: Diagnostic) -> str | None:
    """The help of a diagnostic; what it says to write in a sheet, in JSON."""
    name = _advised(one)
    if _text(one):
        return f'write "{name}": {_text(one)}'
    return f'write "{name}": {IN_JSON[name]}' if name in IN_JSON else one.help


def in_options(one: Diagnostic) -> str | None:
    """The same for a command line."""
    name = _advised(one)
    if name in IN_OPTIONS and _text(one):
        return f"give --{name} {_text(one)[1:-1]}"
    return f"give --{name} {IN_OPTIONS[name]}" if name in IN_OPTIONS else one.help


def _text(one: Diagnostic) -> str:
    """The text that the help tells to write for wrt or dependent, in its quotes; "" for all else.
    """
    value = (one.help or "").partition(" = ")[2]
    return value if _advised(one) in ("wrt", "dependent") and value[:1] == value[-1:] == '"' else ""


def _advised(one: Diagnostic) -> str:
    """The field that the help tells how to write in a sheet, or ""."""
    before, equal, _ = (one.help or "").partition(" = ")
    word = before.rpartition(" ")[2]
    return word if (equal and word in one.message) or before == f"write {word}" else ""
