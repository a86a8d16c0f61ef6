"""Calls that are no operations: print, range, zip, load, watch, trainable_variables."""

from __future__ import annotations

from gradcli.base.errors import GradcliError, error
from gradcli.engine.record.record import fresh_id
from gradcli.engine.record.tensor import Tensor, core_shape, flatten, leaf, value_of
from gradcli.lang.running.calls import as_tensor, guarded_value, is_number
from gradcli.lang.running.run import Printed
from gradcli.ops.table.shapes import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gradcli.lang.running.run import Running

    Verb = Callable[[Running, list[Any], Mapping[str, Any]], Any]

def _no_options(name: str, named: Mapping[str, Any]) -> None:
    for key in named:
        raise error("E0208", f"`{name}` has no option `{key}`", help="it has none",
                    about=("option", key))


def _print(run: Running, args: list[Any], named: Mapping[str, Any]) -> None:
    _no_options("print", named)
    doubtful = run.run.doubtful
    printed = Printed(run.at[2:], args, bool(doubtful) and any(
        getattr(v, "id", None) in doubtful for v in flatten(args)))
    if run.output is not None:
        run.output(printed)
    else:
        run.run.prints.append(printed)


def _range(run: Running, args: list[Any], named: Mapping[str, Any]) -> range:
    _no_options("range", named)
    if not 1 <= len(args) <= 3:
        raise error("E0207", f"`range` takes 1 to 3 arguments, not {len(args)}",
                    help="write range(n) or range(start, stop, step)", about=("beyond", 3))
    bounds = [whole(guarded_value(as_tensor(a)), "a bound of a range") for a in args]
    if len(bounds) == 3 and not bounds[2]:
        raise error("E0303", "the step of a range must not be 0", help="write 1 or -1",
                    about=("value", args[2]))
    return range(*bounds)


def _zip(run: Running, args: list[Any], named: Mapping[str, Any]) -> list[Any]:
    _no_options("zip", named)
    columns = [_items(a) for a in args]
    if any(len(c) != len(columns[0]) for c in columns):
        raise error("E0301", f"`zip` needs lists of one length, not"
                    f" {' and '.join(str(len(c)) for c in columns)}",
                    help="give each as many items")
    return [list(row) for row in zip(*columns, strict=True)]


def _items(value: Any) -> list[Any]:
    if isinstance(value, (list, range, tuple)):
        return list(value)
    if isinstance(value, dict):
        return list(value)
    if not is_number(value) or isinstance(value_of(value), str):
        raise error("E0317", "there is nothing to loop over", help="give a list or a tensor",
                    about=("value", value))
    tensor = as_tensor(value)
    shape = core_shape(tensor)
    if not shape:
        raise error("E0317", "one number has no items to loop over", help="give a list or a tensor",
                    about=("value", value))
    rows = tensor if isinstance(tensor, Tensor) else leaf(tensor)
    return list(rows)


def _trainable_variables(run: Running, args: list[Any], named: Mapping[str, Any]) -> list[Any]:
    _no_options("trainable_variables", named)
    if not args:
        return [v for v in run.run.variables.values() if v.trainable]
    return [v for v in flatten(args) if getattr(v, "trainable", False)]


def _watch(run: Running, args: list[Any], named: Mapping[str, Any]) -> None:
    """Note tensors that the implicit tape is to watch, which counts with --tf. Raises E0310."""
    _no_options("watch", named)
    for item in flatten(args):
        if not isinstance(item, Tensor):
            raise error("E0310", "only tensors and variables can be watched",
                        help="bind it to a name first", about=("value", item))
        if item.id is not None:
            id = getattr(item, "origin", lambda item=item: item)().id
            run.run.watched.setdefault(id, (fresh_id(), run.run.record.place))


def _load(run: Running, args: list[Any], named: Mapping[str, Any]) -> Any:
    from gradcli.lang.running.declare import load

    _no_options("load", named)
    if len(args) != 1 or not isinstance(args[0], str):
        raise error("E0207", "`load` takes the name of a file", help='write load("data.csv")')
    try:
        return load(run.source, args[0])
    except GradcliError as problem:
        problem.about = "value", args[0]
        raise


STATEMENTS: dict[str, Verb] = {
    "print": _print, "range": _range, "zip": _zip, "watch": _watch, "load": _load,
    "trainable_variables": _trainable_variables,
}
