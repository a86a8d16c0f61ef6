"""Functions of a file with @custom_gradient."""

from __future__ import annotations

from gradcli.errors import error
from gradcli.lang.calls import NoGradient
from gradcli.tape.custom import custom_gradient

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.lang.code import Function
    from gradcli.lang.interpreter import Interpreter


def custom_call(run: Interpreter, function: Function, args: Mapping[str, Any],
                around: Mapping[str, Any] | None) -> Any:
    """The value of a call; its rule is the `def grad` that the function made on its way.

    Raises E0314 and E0316 as `gradcli.custom_gradient`, at the place of the function.
    """
    def computed(*xs: Any) -> Any:
        local = {**(around or {}), **dict(zip(function.parameters, xs, strict=True))}
        value = run.call_in(function, local)
        rule: Function | None = local.get("grad()")
        if rule is None:
            raise error("E0316", f"`{function.name}` made no `def grad` on its way",
                        function.decorated, help="define grad before the return")
        if value is None:
            raise error("E0316", f"`{function.name}` returns nothing",
                        (function.start, function.end), help="end it with return and the value")
        return value, _gradient(run, rule, local)

    computed.__name__ = function.name
    values = [args[name] for name in function.parameters]
    return custom_gradient(computed)(*values)


def _gradient(run: Interpreter, rule: Function, local: Mapping[str, Any]) -> Any:
    """The rule as a Python function; it takes `variables` only if the file's rule does."""
    with_variables = rule.parameters[-1:] == ("variables",)
    count = len(rule.parameters) - with_variables

    def called(*given: Any) -> Any:
        if len(given) != len(rule.parameters):
            raise error("E0207", f"`grad` takes {count} upstream gradient{'s' * (count != 1)}, the"
                        f" function has {len(given) - with_variables} value"
                        f"{'s' * (len(given) - with_variables != 1)}", (rule.start, rule.end),
                        help="one upstream gradient for each value")
        return _settled(run.call(rule, given, local))

    if not with_variables:
        return called

    def called_with(*upstream: Any, variables: Any = ()) -> Any:
        found = called(*upstream, list(variables))
        return found if variables else found[0] if isinstance(found, list) else found

    return called_with


def _settled(value: Any) -> Any:
    if isinstance(value, NoGradient):
        return None
    if isinstance(value, list):
        return [_settled(v) for v in value]
    return value
