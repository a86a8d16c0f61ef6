"""The fields of a problem, as sheets, lines of JSON and options give them, and errors in these."""

from __future__ import annotations

from gradcli.base.errors import error, split
from gradcli.homework.checking.kinds import DERIVATIVE, GRADIENT, KINDS
from gradcli.homework.checking.problem import DEFAULTS, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gradcli.base.errors import Diagnostic

POLICIES = ("note", "reject", "review")
MAX_ORDER = 8
MAX_FUNCTION = 20_000


def from_fields(fields: Mapping[str, Any], defaults: Mapping[str, Any] | None = None) -> Problem:
    """Return a problem from the fields of a sheet, of a line of NDJSON or of the command line.

    defaults: fields for those that are missing or null. Raises E0701 for an unknown field or
    choice, E0702 for one that is missing, and E0703 for one of another type; the message names the
    field in backquotes.
    """
    given = {**(defaults or {}), **{k: v for k, v in fields.items() if v is not None}}
    for name in given:
        if name not in DEFAULTS:
            raise _unknown("field", name, tuple(DEFAULTS))
    found = {name: READERS[name](name, value) for name, value in given.items()}
    problem = Problem(**found)
    if not problem.function.strip():
        raise error("E0702", "`function` is missing", help='write function = "x^2 sin(x)"')
    if not problem.kind:
        problem.kind = _kind(problem)
    if problem.kind != "partial":       # by x, y, y is a mixed third derivative
        _once("wrt", problem.wrt)
    if problem.follows:     # what follows rightly from a wrong part counts
        problem.credit = {"followed_through": 1.0, **problem.credit}
    for name in ("at", "to"):
        point = getattr(problem, name)
        if "" in point:
            if len(problem.wrt) != 1:
                raise _wrong(name, "values by name", point[""])
            setattr(problem, name, {problem.wrt[0]: point[""]})
    needed = KINDS[problem.kind].needs
    if needed and not getattr(problem, needed):
        raise error("E0702", f"`{needed}` is missing", help=f"write {needed} = {EXAMPLES[needed]}")
    return problem


def _kind(problem: Problem) -> str:
    """Return the kind of a problem that does not say it."""
    given = [kind.name for kind in KINDS.values() if kind.own and getattr(problem, kind.own)]
    return given[-1] if given else GRADIENT if len(problem.wrt) > 1 else DERIVATIVE


def _unknown(what: str, name: str, known: tuple[str, ...]) -> Exception:
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    return error("E0701", f"there is no {what} `{name}`", help=f"did you mean `{near[0]}`?"
                 if near else f"there are {', '.join(known)}")


def _wrong(name: str, wanted: str, value: Any) -> Exception:
    shown = repr(value)
    return error("E0703", f"`{name}` must be {wanted}, not"
                 f" {shown if len(shown) <= 40 else shown[:39] + '…'}",
                 help=f"write {name} = {EXAMPLES.get(name, '...')}")


EXAMPLES = {"at": "{x = 2}", "to": "{x = 2.1}",
            "domain": "{x = [0, 5]}", "wrt": '"x,y"', "parameters": '"a,b"', "direction": "[3, 4]",
            "order": "2", "points": "2", "credit": "{sign_error = 0.5}",
            "rtol": "1e-8", "tolerance": "0.01", "unit": '"m/s"'}


def _text(name: str, value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and name in (
            "id", "title", "follows"):
        return str(value)
    if isinstance(value, (list, tuple)) and name == "function":
        return f"[{', '.join([_text(name, v) for v in value])}]"
    if not isinstance(value, str):
        raise _wrong(name, "a text", value)
    if len(value) > MAX_FUNCTION:
        raise _wrong(name, f"at most {MAX_FUNCTION} characters long", value)
    return value


def _choice(*known: str) -> Callable[[str, Any], str]:
    def read(name: str, value: Any) -> str:
        if value not in known:
            raise _unknown(name, value if isinstance(value, str) else repr(value), known)
        return str(value)
    return read


def _names(name: str, value: Any) -> tuple[str, ...]:
    parts = split(value) if isinstance(value, str) else value
    if not isinstance(parts, (list, tuple)) or not all(isinstance(p, str) for p in parts):
        raise _wrong(name, "names, such as x or x,y", value)
    found = tuple([p.strip() for p in parts if p.strip()])
    for p in found:
        if not p.isidentifier():
            raise _wrong(name, "names, such as x or x,y", value)
    if name != "wrt":
        _once(name, found)
    return found


def _once(name: str, names: Sequence[str]) -> None:
    """Raise E0703 for a name that is given twice."""
    twice = next((n for k, n in enumerate(names) if n in names[:k]), None)
    if twice is not None:
        raise error("E0703", f"`{name}` gives `{twice}` twice", help="leave one of them out")


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
        raise _wrong(name, "texts", value)
    return tuple(value)


def finite_number(name: str, value: Any) -> float:
    """Return a finite number; a text may be a constant expression, such as pi/2."""
    if isinstance(value, str):
        from gradcli.homework.checking.built import constant

        return constant(name, value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _wrong(name, "a number", value)
    try:
        found = float(value)
    except OverflowError:
        found = float("inf")
    if found - found != 0:
        raise _wrong(name, "a finite number", value)
    return found


def _share(name: str, value: Any) -> float:
    found = finite_number(name, value)
    if found < 0:
        raise _wrong(name, "at least 0", value)
    return found


def _tiny(name: str, value: Any) -> float:
    found = finite_number(name, value)
    if not 1e-14 <= found <= 0.1:
        raise _wrong(name, "between 1e-14 and 0.1", value)
    return found


def _order(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= MAX_ORDER:
        raise _wrong(name, f"a whole number from 1 to {MAX_ORDER}", value)
    return value


def _numbers(name: str, value: Any) -> tuple[float, ...]:
    if isinstance(value, str):
        text = value.strip()
        if text[:1] + text[-1:] in ("[]", "()", "<>", "{}"):
            text = text[1:-1]
        value = split(text)
    if not isinstance(value, (list, tuple)):
        raise _wrong(name, "a list of numbers", value)
    return tuple([finite_number(name, v) for v in value])


def _point(name: str, value: Any) -> dict[str, float]:
    if isinstance(value, str):
        value = _by_name(name, value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return {"": finite_number(name, value)}  # of the only variable there is
    if not isinstance(value, dict):
        raise _wrong(name, "values by name", value)
    return {str(k): finite_number(name, v) for k, v in value.items()}


def _by_name(name: str, text: str) -> dict[str, str]:
    pairs = [_assigned(name, part) for part in split(text)]
    _once(name, [key for key, _ in pairs])
    return dict(pairs)


def _assigned(name: str, part: str) -> tuple[str, str]:
    left, equal, right = part.partition("=")
    if not equal or not left.strip().isidentifier():
        raise _wrong(name, "values by name", part)
    return left.strip(), right.strip()


def _ranges(name: str, value: Any) -> dict[str, tuple[float, float]]:
    if isinstance(value, str):
        value = _by_name(name, value)
    if not isinstance(value, dict):
        raise _wrong(name, "ranges by name", value)
    found = {}
    for k, typed in value.items():
        limits = typed.split(":") if isinstance(typed, str) else typed
        if not isinstance(limits, (list, tuple)) or len(limits) != 2:
            raise _wrong(name, "ranges by name, each of two numbers", value)
        low, high = finite_number(name, limits[0]), finite_number(name, limits[1])
        if not low < high:
            raise _wrong(name, "ranges whose first number is the smaller", typed)
        found[str(k)] = (low, high)
    return found


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _wrong(name, "true or false", value)
    return value


def _credit(name: str, value: Any) -> dict[str, float]:
    if not isinstance(value, dict):
        raise _wrong(name, "shares by mistake", value)
    import difflib

    from gradcli.homework.mistakes.rules import SENTENCES

    found = {}
    for mistake, share in value.items():
        if mistake not in SENTENCES:
            near = difflib.get_close_matches(str(mistake), SENTENCES, n=1)
            raise error("E0701", f"there is no mistake `{mistake}`", help=(
                f"did you mean `{near[0]}`?" if near else
                "write one that results.ndjson names, such as missing_chain_factor"))
        found[str(mistake)] = finite_number(name, share)
        if not 0 <= found[str(mistake)] <= 1:
            raise _wrong(name, "shares from 0 to 1", share)
    return found


def _tolerance(name: str, value: Any) -> Any:
    from gradcli.homework.checking.compare import checked

    return checked(name, value)


READERS: dict[str, Callable[[str, Any], Any]] = {
    "id": _text, "title": _text, "kind": _choice(*KINDS), "function": _text, "wrt": _names,
    "at": _point, "to": _point, "order": _order, "direction": _numbers, "dependent": _text,
    "parameters": _names, "tolerance": _tolerance, "domain": _ranges, "positive": _names,
    "integer": _names, "points": _share, "expected": _text, "accept": _texts, "variants": _texts,
    "forms": _texts, "words": _texts, "follows": _text, "steps": _choice("review", "last"),
    "hidden": _flag, "log": _choice("natural", "ten"), "angle": _choice("radian", "degree"),
    "rtol": _tiny, "domain_policy": _choice(*POLICIES), "real_roots": _flag,
    "decimal_comma": _flag, "normalize": _flag, "credit": _credit,
    "unit": _text, "unit_required": _flag}


IN_JSON = {"at": '{"x": 2}', "to": '{"x": 2.1}',
           "domain": '{"x": [0, 5]}', "wrt": '"x,y"', "parameters": '"a,b"',
           "direction": "[3, 4]", "order": "2", "function": '"x^2 sin(x)"', "tolerance": "0.01",
           "rtol": "1e-8", "points": "2", "dependent": '"y"', "credit": '{"sign_error": 0.5}'}
IN_OPTIONS = {"at": "x=2", "to": "x=2.1", "domain": "x=0:5", "wrt": "x,y", "parameters": "a,b",
              "direction": "3,4", "order": "2", "tolerance": "0.01", "dependent": "y"}


def in_json(one: Diagnostic) -> str | None:
    """Return the help of a diagnostic; its advice to write a field in a sheet becomes JSON."""
    name = _advised(one)
    if _said(one):
        return f'write "{name}": {_said(one)}'
    return f'write "{name}": {IN_JSON[name]}' if name in IN_JSON else one.help


def in_options(one: Diagnostic) -> str | None:
    """Return the help of a diagnostic; its advice to write a field in a sheet becomes an option."""
    name = _advised(one)
    value = _said(one)[1:-1] or IN_OPTIONS.get(name)
    return f"give --{name.replace('_', '-')} {value}" if value else one.help


def in_cells(one: Diagnostic) -> str | None:
    """Return the help of a diagnostic; its advice to write a field in a sheet becomes a cell."""
    name = _advised(one)
    value = _said(one)[1:-1] or IN_OPTIONS.get(name)
    return f"write {value} in the column {name}" if value else one.help


def in_list(one: Diagnostic) -> str | None:
    """Return the help of a diagnostic; of fields, a list has functions alone."""
    name = _advised(one)
    if name == "function":
        return "write id: function, such as 1a: x^2 sin(x)"
    return f"a list has no `{name}`: make it a sheet in TOML, and {one.help}" if name else one.help


def _said(one: Diagnostic) -> str:
    """Return the text that the help advises for a field, in its quotes; else ""."""
    value = (one.help or "").partition(" = ")[2]
    quoted = _advised(one) in ("wrt", "dependent", "kind") and value.startswith('"')
    return value[:value.find('"', 1) + 1] if quoted else ""


def _advised(one: Diagnostic) -> str:
    """Return the field that the help advises how to write in a sheet, or ""."""
    before, equal, _ = (one.help or "").partition(" = ")
    word = before.rpartition(" ")[2]
    return word if equal and word in READERS else ""
