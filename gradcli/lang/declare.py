"""`var`, `const` and `input`: a value with a type, a shape and a role."""

from __future__ import annotations

from gradcli.errors import Diagnostic, GradcliError
from gradcli.lang.calls import as_tensor, decided, one_of
from gradcli.ops.values import DTYPES, cast, dtype_of, held, is_array, shape_of, show, telling
from gradcli.tape.tensor import Tensor, leaf
from gradcli.tape.variable import Variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.errors import Span
    from gradcli.lang.code import Declaration
    from gradcli.lang.interpreter import Interpreter

ATTRIBUTES = {"var": ("trainable", "name"), "const": (), "input": ("domain",)}
KINDS = {"var": "variable", "const": "constant", "input": "input"}


def declared(run: Interpreter, d: Declaration, initial: Any, attributes: Mapping[str, Any],
             local: dict[str, Any] | None = None) -> None:
    """Bind the declared name. Raises E0203 (no value), E0208 (an attribute that does not exist),
    E0306 (type), E0301 (shape), E0405 (outside the domain), each at its own place.
    """
    place = d.spans["name"]
    for name in attributes:
        if name not in ATTRIBUTES[d.keyword]:
            raise _at(d.spans[f"{name} name"], "E0208", f"`{d.keyword}` has no attribute `{name}`",
                      one_of(name, ATTRIBUTES[d.keyword]))
    given = d.name in run.given and d.keyword != "const"
    value = run.given[d.name] if given else decided(initial)
    if value is None:
        raise _at(place, "E0203", f"`{d.name}` has no value",
                  f"give it with --at {d.name}=... or write {d.keyword} {d.name} = ...")
    if isinstance(value, list):
        value = decided(as_tensor(value))
    if isinstance(value, dict) or not (is_array(value) or isinstance(
            value, (float, int, bool, str))):
        raise _at(place if given else d.spans["value"], "E0306", f"`{d.name}` needs a number",
                  "write a number or a list of numbers")
    # What does not fit is the file's own value, or else, of the file, what it has to fit.
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
        from gradcli.lang.log import State

        run.run.log.states.append(State(
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
    from gradcli.ops.lazy import np

    place = d.spans["domain value"]
    if isinstance(value, str):
        raise _at(place, "E0405", f"`{d.name}` is a text and has no domain", "leave domain out")
    try:
        ends = np.asarray(decided(as_tensor(domain)), dtype=float)
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
