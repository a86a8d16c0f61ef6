"""Gradients that a file defines: functions with @custom_gradient, rules with @gradient_of."""

from __future__ import annotations

from gradcli.base.errors import error
from gradcli.engine.record.tensor import Tensor
from gradcli.engine.tapes.custom import custom_gradient, give_rule
from gradcli.lang.running.calls import NoGradient, is_number, kind_of, one_each
from gradcli.lang.syntax import code as c
from gradcli.ops import lookup
from gradcli.ops.kinds import UNREGISTERED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gradcli.base.errors import Span
    from gradcli.lang.running.run import Running
    from gradcli.lang.syntax.code import Function


def custom_call(run: Running, function: Function, args: Mapping[str, Any],
                around: Mapping[str, Any] | None) -> Any:
    """Return the value of a call; its rule is the `def grad` that the function made on its way.

    around: the scope around the function.

    Raises E0302 for an argument that is no tensor, E0314 and E0316 as `gradcli.custom_gradient`, at
    the span of the function.
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
        return value, _gradient(run, function, rule, local)

    for name, value in args.items():
        if not isinstance(value, Tensor) and not is_number(value):
            raise error("E0302", f"`{function.name}` has a gradient of its own and takes tensors;"
                        f" `{name}` is {kind_of(value)}", help="give it one tensor for each name")
    computed.__name__ = function.name
    values = [args[name] for name in function.parameters]
    return custom_gradient(computed)(*values)


def _gradient(run: Running, function: Function, rule: Function, local: Mapping[str, Any]
              ) -> Any:
    """Return the rule as a Python function; it takes `variables` only if the file's rule does.

    That function raises E0207 and E0314 for other numbers of gradients, and E0316 where the file's
    function uses variables and its rule does not take them.
    """
    name, arguments = function.name, function.parameters
    with_variables = rule.parameters[-1:] == ("variables",)
    count = len(rule.parameters) - with_variables
    place = (rule.start, rule.end)

    def called(*given: Any) -> Any:
        if len(given) != len(rule.parameters):
            raise error("E0207", f"`grad` takes {count} upstream gradient{'s' * (count != 1)}, the"
                        f" function has {len(given) - with_variables} value"
                        f"{'s' * (len(given) - with_variables != 1)}", place,
                        help="one upstream gradient for each value")
        return _settled(run.call(rule, given, local), place)

    def called_without(*upstream: Any, variables: Any = ()) -> Any:
        if variables:
            names = ", ".join([f"`{v.name}`" for v in variables])
            raise error("E0316", f"`{name}` uses {names}, so its gradient must take `variables`",
                        place, help="def grad(upstream, variables): and return the gradients of"
                        " the arguments and a list of those of the variables")
        return of_arguments(called(*upstream))

    def of_arguments(found: Any) -> list[Any]:
        # `return 1, 2` is a tensor of two numbers, and means one for each.
        found = one_each([*arguments], found) if len(arguments) > 1 else found
        found = found if isinstance(found, list) else [found]
        if len(found) != len(arguments):
            raise error("E0314", f"the gradient of `{name}` gives {len(found)} gradient"
                        f"{'s' * (len(found) != 1)}, `{name}` has {len(arguments)} argument"
                        f"{'s' * (len(arguments) != 1)}", place,
                        help="return one for each argument, or none")
        return list(found)

    returns = [ins for ins in rule.code if ins[0] == c.RETURN]
    if not with_variables:
        called_without.place = returns[-1][2:] if returns else place  # type: ignore[attr-defined]
        return called_without

    def called_with(*upstream: Any, variables: Any = ()) -> Any:
        found = called(*upstream, list(variables))
        if not isinstance(found, list) or len(found) != 2:
            raise error("E0314", f"the gradient of `{name}` takes `variables` and returns one"
                        " value", place, help="return the gradients of the arguments and a list of"
                        " those of the variables")
        found[0] = of_arguments(found[0])
        return found if variables else found[0]

    called_with.place = returns[-1][2:] if returns else place  # type: ignore[attr-defined]
    return called_with


def _settled(value: Any, place: Span) -> Any:
    """Return the result of a rule, None for a missing gradient. Raises E0314 for no number."""
    if value is None or isinstance(value, NoGradient):
        return None
    if isinstance(value, list):
        return [_settled(v, place) for v in value]
    if not is_number(value):
        raise error("E0314", f"a gradient is a number, a tensor or none, not {kind_of(value)}",
                    place, help="return one gradient for each argument")
    return value


def register(run: Running, rule: Function, around: Mapping[str, Any] | None) -> None:
    """Register the rule of @gradient_of(op) for this run.

    Raises E0201 for an operation that does not exist, E0506 for one that has a gradient, E0207 for
    a rule with another number of parameters.
    """
    op = lookup(rule.operation)
    if op is None:
        raise error("E0201", f"unknown operation `{rule.operation}`", rule.decorated,
                    help="`gradcli ops` lists them all")
    if op.kind != UNREGISTERED or op.name in run.run.registered:
        raise error("E0506", f"`{op.name}` already has a gradient", rule.decorated,
                    help="write a function with @custom_gradient for another one")
    count = len(op.parameters)
    if len(rule.parameters) != count + 1:
        raise error("E0207", f"the gradient of `{op.name}` takes the upstream gradient and {count}"
                    f" argument{'s' * (count != 1)}, not {len(rule.parameters)} in all",
                    (rule.start, rule.end),
                    help=f"def {rule.name}(upstream, {', '.join(op.parameters)})")
    own = op.copy()
    give_rule(own, lambda *given: run.call(rule, given, around))
    run.run.registered[op.name] = own
