"""Control flow as functions. There is no graph: Python code runs as it is written."""

from __future__ import annotations

from itertools import count

from gradcli.base.lazy import np
from gradcli.engine.record import tensor as engine
from gradcli.tf.dtypes import as_dtype
from gradcli.tf.tensor import constant, convert_to_tensor, refused, stacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any


def function(func: Any = None, input_signature: Any = None, autograph: bool = True,
             jit_compile: Any = None, reduce_retracing: bool = False,
             experimental_implements: Any = None, experimental_autograph_options: Any = None,
             experimental_attributes: Any = None, experimental_relax_shapes: Any = None,
             experimental_compile: Any = None, experimental_follow_type_hints: Any = None) -> Any:
    """Return the function itself: code runs as it is written."""
    return func if func is not None else lambda f: f


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: Any = None
         ) -> Any:
    """Return what one of two functions returns."""
    return _tensors(true_fn() if pred else false_fn())


def case(pred_fn_pairs: Iterable[Any], default: Any = None, exclusive: bool = False,
         strict: bool = False, name: Any = "case") -> Any:
    """Return what the function of the first true predicate returns, else the default's."""
    for pred, f in pred_fn_pairs:
        if pred:
            return _tensors(f())
    if default is None:
        raise ValueError("no predicate of tf.case is true and it has no default")
    return _tensors(default())


def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: Any = "switch_case"
                ) -> Any:
    """Return what the function of this number returns; for a number without one, the default's
    or the last one's.
    """
    if isinstance(branch_fns, dict):
        fns = branch_fns
    else:
        fns = dict(enumerate(branch_fns) if callable(branch_fns[0]) else branch_fns)
    return _tensors(fns.get(int(branch_index), default or fns[max(fns)])())


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any,
               shape_invariants: Any = None, parallel_iterations: int = 10,
               back_prop: bool = True, swap_memory: bool = False,
               maximum_iterations: Any = None, name: Any = None) -> Any:
    """Return the variables after as many rounds of `body` as `cond` is true."""
    if not back_prop:
        raise refused("tf.while_loop", "back_prop")
    given, rounds = _tensors(loop_vars), count()
    while cond(*given) and (maximum_iterations is None or next(rounds) < int(maximum_iterations)):
        given = body(*given)
        given = given if isinstance(given, (list, tuple)) else [given]
    return engine.like(loop_vars, [convert_to_tensor(v) for v in engine.flatten(given)])


def map_fn(fn: Callable[[Any], Any], elems: Any, dtype: Any = None, parallel_iterations: Any = None,
           back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True,
           name: Any = None, fn_output_signature: Any = None) -> Any:
    """Apply a function to each element along the first axis, and stack what it returns."""
    if not back_prop:
        raise refused("tf.map_fn", "back_prop")
    return _stacked([fn(part) for part in _parts(elems)])


def vectorized_map(fn: Callable[[Any], Any], elems: Any, fallback_to_while_loop: bool = True,
                   warn: bool = True) -> Any:
    """Apply a function to each element along the first axis, and stack what it returns."""
    return _stacked([fn(part) for part in _parts(elems)])


def foldl(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None,
          parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
          name: Any = None) -> Any:
    """Return the last state of `scan`."""
    return _states(fn, elems, initializer, False)[-1]


def foldr(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None,
          parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
          name: Any = None) -> Any:
    """Return the last state of `scan` from the last element to the first."""
    return _states(fn, elems, initializer, True)[-1]


def scan(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None,
         parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
         infer_shape: bool = True, reverse: bool = False, name: Any = None) -> Any:
    """Return all states: each is `fn(state before, element)`."""
    states = _states(fn, elems, initializer, reverse)
    return _stacked(states[::-1] if reverse else states)


def _states(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any, reverse: bool
            ) -> list[Any]:
    parts = _parts(elems)[::-1] if reverse else _parts(elems)
    states = [] if initializer is not None else parts[:1]
    state = _tensors(initializer) if initializer is not None else parts[0]
    for part in parts[len(states):]:
        state = _tensors(fn(state, part))
        states.append(state)
    return states


def _tensors(found: Any) -> Any:
    return engine.like(found, [v if v is None else convert_to_tensor(v)
                               for v in engine.flatten(found)])


def _parts(elems: Any) -> list[Any]:
    columns = [list(convert_to_tensor(e)) for e in engine.flatten(elems)]
    return [engine.like(elems, row) for row in zip(*columns, strict=True)]


def _stacked(rows: Sequence[Any]) -> Any:
    columns = zip(*[engine.flatten(row) for row in rows], strict=True)
    return engine.like(rows[0], [
        stacked([convert_to_tensor(v) for v in column]) for column in columns])


class TensorArray:
    """A list of tensors, as tf.TensorArray; its methods return the array."""

    def __init__(self, dtype: Any, size: Any = 0, dynamic_size: Any = None,
                 clear_after_read: Any = None, tensor_array_name: Any = None, handle: Any = None,
                 flow: Any = None, infer_shape: bool = True, element_shape: Any = None,
                 colocate_with_first_write_call: bool = True, name: Any = None) -> None:
        self.dtype = as_dtype(dtype)
        self.items: list[Any] = [None] * int(size)
        self.is_dynamic = dynamic_size is None or bool(dynamic_size)

    def write(self, index: Any, value: Any, name: Any = None) -> TensorArray:
        """Put a tensor at a place."""
        at = int(index)
        self.items += [None] * (at + 1 - len(self.items))
        self.items[at] = convert_to_tensor(value, self.dtype)
        return self

    def unstack(self, value: Any, name: Any = None) -> TensorArray:
        """Take the parts of a tensor along its first axis."""
        self.items = list(convert_to_tensor(value, self.dtype))
        return self

    def read(self, index: Any, name: Any = None) -> Any:
        """Return the tensor at a place."""
        return self.items[int(index)]

    def stack(self, name: Any = None) -> Any:
        """Return all tensors as one."""
        return stacked(self.items)

    def concat(self, name: Any = None) -> Any:
        """Return all tensors one after the other along their first axis."""
        from gradcli.ops.kinds import PUBLIC

        return PUBLIC["concat"](*self.items, axis=0)

    def gather(self, indices: Any, name: Any = None) -> Any:
        """Return the tensors at some places as one."""
        return stacked([self.items[int(k)] for k in indices])

    def size(self, name: Any = None) -> Any:
        """Return how many there are."""
        return constant(len(self.items))

    def __len__(self) -> int:
        return len(self.items)


def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: Any = None) -> Any:
    """Call a Python function on tensors: what it does is on the tape."""
    return _of_types(func(*[convert_to_tensor(x) for x in inp]), Tout)


def numpy_function(func: Any = None, inp: Any = None, Tout: Any = None, stateful: bool = True,
                   name: Any = None) -> Any:
    """Call a Python function on NumPy arrays: what it does is off the tape."""
    found = func(*[x.numpy() if isinstance(x, engine.Tensor) else np.asarray(x) for x in inp])
    return _of_types(found, Tout)


def _of_types(found: Any, types: Any) -> Any:
    if not isinstance(found, (list, tuple)):
        return convert_to_tensor(found, types)
    return [convert_to_tensor(v, t) for v, t in zip(found, types, strict=True)]
