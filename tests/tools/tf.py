"""TensorFlow's names for gradcli's Python API: programs written for TensorFlow run unchanged.

A name is looked up by its last part, so `tf.math.sin` and `tf.sin` are gradcli's `sin`; the tables
below hold what is called or ordered otherwise, and what is not an operation is written as a small
function. There is no mathematics here that an operation of gradcli does, and no code for one case.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import reduce
from itertools import count
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

import gradcli
from gradcli import Module, Tensor, ops
from gradcli.engine.record import provenance
from gradcli.engine.record.tensor import DType, flatten, like
from gradcli.ops import PUBLIC

# What `why` tells of are the places of the programs, not those of this module.
provenance.skip(__file__)

# TensorFlow's name: gradcli's, where they differ.
NAMES = {
    "accumulate_n": "add_n", "adjoint": "matrix_transpose", "diag": "diag_embed",
    "invert_permutation": "argsort", "realdiv": "divide", "reduce_euclidean_norm": "norm",
    "scalar_mul": "multiply"}
# Its names of options: gradcli's. Other unknown keywords are operands, in order.
OPTIONS = {
    "perm": "axes", "reduction_indices": "axis", "keep_dims": "keepdims", "dim": "axis",
    "variance_epsilon": "epsilon", "fast": "", "name": "", "validate_indices": "",
    "data_format": "", "parallel_iterations": "", "full_matrices": "", "conjugate": "", "num": "",
    "output_type": "dtype", "out_type": "dtype"}
# Options in TensorFlow's order, where gradcli's is another ("" is dropped), and its defaults.
ORDERS = {
    "gather": ("", "axis", "batch_dims"), "sort": ("axis", "direction"),
    "argsort": ("axis", "direction", ""), "unstack": ("", "axis"),
    "moments": ("axes", "", "keepdims"), "argmax": ("axis", "dtype"),
    "argmin": ("axis", "dtype"), "zeros_like": ("dtype",), "ones_like": ("dtype",)}
DEFAULTS: dict[str, dict[str, Any]] = {
    "argmax": {"axis": 0}, "argmin": {"axis": 0}, "one_hot": {"dtype": "float32"},
    "leaky_relu": {"alpha": 0.2}}
# Options that TensorFlow keeps in float32.
SINGLE = ("alpha",)
# The type of the answer, where it is not that of the operands; what is asked for goes first.
ANSWERS = {
    "argmax": "int64", "argmin": "int64", "argsort": "int32", "count_nonzero": "int64",
    "searchsorted": "int32", "shape": "int32", "size": "int32", "zero_fraction": "float32",
    "bincount": "int32", "invert_permutation": "int32", "matrix_rank": "int32"}
WORDS = {"euclidean": 2.0}

tensorflow_semantics = True
"""Whether tapes answer as TensorFlow's where gradcli differs on purpose."""


# --- tensors and types ------------------------------------------------------------------------


def as_dtype(dtype: Any) -> DType:
    return DType(dtype if isinstance(dtype, str) else np.dtype(dtype).name)


float16, bfloat16, float32, float64, int8, uint8, int32, int64, complex64, complex128, string = map(
    DType, ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "int64",
            "complex64", "complex128", "string"))
double, half = float64, float16
newaxis = None
bool_ = DType("bool")
# The types that Python's numbers have in TensorFlow.
LITERALS = {"float64": "float32", "int64": "int32"}


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "") -> Tensor:
    """A tensor; literals are float32 and int32, arrays keep their type."""
    if isinstance(value, Tensor):
        return convert_to_tensor(value) if dtype in (None, value.dtype) else gradcli.constant(
            value, dtype)
    if dtype is None:
        own = np.asarray(value).dtype.name
        dtype = own if hasattr(value, "dtype") else LITERALS.get(own)
    made = gradcli.constant(np.asarray(value) if isinstance(value, tuple) else value, dtype)
    return made if shape is None else gradcli.constant(
        np.broadcast_to(made.numpy(), _plain(shape)))


def convert_to_tensor(value: Any, dtype: Any = None, **options: Any) -> Any:
    if isinstance(value, gradcli.Variable):
        return value.read_value()
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in flatten(value)):
        return stack([convert_to_tensor(v, dtype) for v in value])
    return constant(value, dtype)


class Variable(gradcli.Variable):
    __slots__ = ()

    def __init__(self, initial_value: Any, trainable: bool = True, validate_shape: bool = True,
                 caching_device: Any = None, name: str = "Variable", variable_def: Any = None,
                 dtype: Any = None, **options: Any) -> None:
        value = initial_value() if callable(initial_value) else initial_value
        super().__init__(convert_to_tensor(value, dtype), trainable, dtype, f"{name}:0")


class UnconnectedGradients(enum.Enum):
    NONE = "none"
    ZERO = "zero"


class Asked(NamedTuple):
    """A question to a tape: the answer, and why `None` where it is, by the path in the answer."""

    answer: Any
    reasons: dict[str, list[Any]]


asked: list[Asked] | None = None
"""The questions of the program that runs, where somebody wants them."""


def GradientTape(persistent: bool = False, watch_accessed_variables: bool = True
                 ) -> gradcli.GradientTape:
    kind = gradcli.GradientTape if asked is None else AskingTape
    return kind(persistent, watch_accessed_variables, tensorflow_semantics)


def ForwardAccumulator(primals: Any, tangents: Any) -> gradcli.ForwardAccumulator:
    kind = gradcli.ForwardAccumulator if asked is None else AskingAccumulator
    return kind(primals, tangents)


class AskingTape(gradcli.GradientTape):
    """A tape that asks itself why an answer is None."""

    __slots__ = ()

    def gradient(self, target: Any, sources: Any, *options: Any, **named: Any) -> Any:
        return self._ask_why(target, sources, super().gradient(target, sources, *options, **named))

    def jacobian(self, target: Any, sources: Any, *options: Any, **named: Any) -> Any:
        return self._ask_why(target, sources, super().jacobian(target, sources, *options, **named))

    def _ask_why(self, target: Any, sources: Any, answer: Any) -> Any:
        assert asked is not None
        reasons = {
            path: self.why(target, source) for (path, source), found in zip(
                _paths(sources), flatten(answer), strict=True)
            if found is None or self.past is not None or self.persistent}
        asked.append(Asked(answer, reasons))
        return answer


class AskingAccumulator(gradcli.ForwardAccumulator):
    """The same, of tangents."""

    __slots__ = ()

    def jvp(self, primals: Any, unconnected_gradients: Any = "none") -> Any:
        answer = super().jvp(primals, unconnected_gradients)
        assert asked is not None
        asked.append(Asked(answer, {} if answer is not None else {"": self.why(primals)}))
        return answer


def _paths(structure: Any) -> list[tuple[str, Any]]:
    """The leaves of a flat structure, by how they are reached."""
    if isinstance(structure, dict):
        return [(f"['{key}']", structure[key]) for key in structure]
    if isinstance(structure, (list, tuple)):
        return [(f"[{k}]", item) for k, item in enumerate(structure)]
    return [("", structure)]


class IndexedSlices:
    """Nothing is one: gradients of lookups are dense."""


def is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor)


def _plain(value: Any) -> Any:
    """An option without tensors: numbers, lists of numbers, words."""
    if isinstance(value, Tensor):
        value = value.numpy()
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value.lower() if isinstance(value, str) and value.isupper() and len(value) > 5 \
        else WORDS.get(value, value)


# --- operations -------------------------------------------------------------------------------


def operation(name: str) -> Callable[..., Any]:
    """A function that takes TensorFlow's arguments and gives them to the operation of gradcli."""
    op = PUBLIC.get(NAMES.get(name, name)) or PUBLIC.get(name.removeprefix("reduce_"))
    if op is None:
        raise AttributeError(f"gradcli has no operation for TensorFlow's `{name}`")
    open_ended = any(p.startswith("*") for p in op.parameters)
    wanted = len(op.parameters)

    def call(*args: Any, **keywords: Any) -> Any:
        if op.variadic and args and isinstance(args[0], Tensor):
            args = (list(args[0]),)
        operands = list(args if open_ended else args[:wanted])
        order = ORDERS.get(name, tuple(op.attributes))
        options = {**DEFAULTS.get(name, {}), **dict(zip(order, args[len(operands):], strict=False))}
        for key, value in keywords.items():
            key = OPTIONS.get(key, key) if key not in op.parameters else key
            if key in op.parameters:
                k = op.parameters.index(key)
                operands += [None] * (k + 1 - len(operands))
                operands[k] = value
            elif key in op.attributes or key in ("", "dtype"):
                options[key] = value
            elif None in operands:
                operands[operands.index(None)] = value
            else:
                operands.append(value)
        options.pop("", None)
        dtype = ANSWERS.get(name)
        if "dtype" in options and "dtype" not in op.attributes:
            dtype = options.pop("dtype")
        if not any(isinstance(v, Tensor) for v in flatten(operands)) and wanted:
            operands = [v if isinstance(v, str) or v is None else convert_to_tensor(v)
                        for v in operands]
        found = op(*operands, **{
            key: float(np.float32(v)) if key in SINGLE else _plain(v)
            for key, v in options.items() if v is not None or key == "axis"})
        return _tensors(found if dtype is None else ops.cast(found, dtype=as_dtype(dtype)))

    call.__name__ = name
    return call


def _tensors(found: Any) -> Any:
    """Answers of an operation as TensorFlow gives them: tensors, in lists."""
    if isinstance(found, (list, tuple)):
        return [None if part is None else _tensors(part) for part in found]
    return found if isinstance(found, Tensor) else gradcli.constant(found)


class Names:
    """A group of names, such as `tf.math`: its own, those of this module, then operations."""

    def __init__(self, **own: Any) -> None:
        self.__dict__.update(own)

    def __getattr__(self, name: str) -> Any:
        return OWN[name] if name in OWN else operation(name)


class Errors:
    """`tf.errors`: all of them are gradcli's one."""

    def __getattr__(self, name: str) -> type[Exception]:
        return gradcli.GradcliError


def __getattr__(name: str) -> Any:
    return OWN[name] if name in OWN else operation(name)


def stack(values: Any, axis: int = 0, name: str = "") -> Any:
    return ops.stack([convert_to_tensor(v) if not isinstance(v, Tensor) and not any(
        isinstance(w, Tensor) for w in values) else v for v in values], axis=axis)


def cast(x: Any, dtype: Any, name: str = "") -> Any:
    return _tensors(ops.cast(convert_to_tensor(x) if not isinstance(x, Tensor) else x,
                             dtype=as_dtype(dtype)))


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False,
           adjoint_a: bool = False, adjoint_b: bool = False, **options: Any) -> Any:
    return ops.matmul(
        ops.matrix_transpose(a) if transpose_a or adjoint_a else a,
        ops.matrix_transpose(b) if transpose_b or adjoint_b else b)


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str = "") -> Any:
    """s, u, v; NumPy and gradcli give u, s and v transposed."""
    if not compute_uv:
        return ops.svd(tensor, compute_uv=False)
    u, s, vt = ops.svd(tensor)
    return s, u, ops.matrix_transpose(vt)


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False,
         name: str = "") -> Any:
    of_matrix = ord == "fro" or (isinstance(axis, (list, tuple)) and len(axis) == 2)
    named = "fro" if ord == "euclidean" else ord
    if of_matrix and isinstance(axis, (list, tuple)) and not keepdims:
        tensor = ops.moveaxis(tensor, source=list(axis), destination=[-2, -1])
    if of_matrix:
        return operation("matrix_norm")(tensor, ord=named, keepdims=keepdims)
    return operation("norm")(tensor, ord=ord, axis=axis, keepdims=keepdims)


def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str = "") -> Any:
    length = norm(tensor, ord, axis, keepdims=True)
    return tensor / length, length


def slice_(input_: Any, begin: Any, size: Any, name: str = "") -> Any:
    return input_[tuple([
        slice(b, None if n == -1 else b + n)
        for b, n in zip(_plain(begin), _plain(size), strict=True)])]


def strided_slice(input_: Any, begin: Any, end: Any, strides: Any = None, **options: Any) -> Any:
    return input_[tuple(map(slice, _plain(begin), _plain(end), _plain(
        strides or [1] * len(begin))))]


def identity(input: Any, name: str = "") -> Any:
    return ops.positive(convert_to_tensor(input) if not isinstance(input, Tensor) else input)


def gather(params: Any, indices: Any, validate_indices: Any = None, axis: Any = None,
           batch_dims: int = 0, name: str = "") -> Any:
    return operation("gather")(params, indices, axis=batch_dims if axis is None else axis,
                               batch_dims=batch_dims)


def rank(input: Any, name: str = "") -> Tensor:
    return constant(len(input.shape))


def tensor_scatter_nd_sub(tensor: Any, indices: Any, updates: Any, name: str = "") -> Any:
    return ops.tensor_scatter_add(tensor, indices, -updates)


def where(condition: Any, x: Any = None, y: Any = None, name: str = "") -> Any:
    return operation("argwhere")(condition) if x is None else operation("where")(condition, x, y)


def polyval(coeffs: Sequence[Any], x: Any, name: str = "") -> Any:
    return reduce(lambda total, c: total * x + c, coeffs, ops.zeros_like(x))


def unique(x: Any, out_idx: Any = int32, name: str = "") -> Any:
    """The elements and, for each place of x, which one stands there."""
    found = ops.unique(x)
    return found, _made(ops.argmax(ops.equal(x[:, None], found[None]), axis=1), out_idx)


class TopK(NamedTuple):
    values: Any
    indices: Any


def top_k(input: Any, k: int = 1, sorted: bool = True, index_type: Any = int32, name: str = ""
          ) -> TopK:
    values, indices = ops.top_k(input, k=_plain(k), sorted=sorted)
    return TopK(values, cast(indices, index_type))


def silu(features: Any, beta: float = 1.0) -> Any:
    plain = isinstance(beta, float) and beta == 1.0
    return operation("silu")(features) if plain else features * ops.sigmoid(beta * features)


swish = silu


def lbeta(x: Any, name: str = "") -> Any:
    return ops.lgamma(x).sum(axis=-1) - ops.lgamma(ops.sum(x, axis=-1))


def meshgrid(*args: Any, indexing: str = "xy", **options: Any) -> Any:
    return _tensors(ops.meshgrid(*args, indexing=indexing))


def global_norm(t_list: Any, name: str = "") -> Any:
    return _tensors(ops.global_norm(t_list))


def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None, name: str = "") -> Any:
    return _tensors(ops.clip_by_global_norm(t_list, clip_norm, use_norm=use_norm))


# --- tensors from numbers ---------------------------------------------------------------------


def _made(value: Any, dtype: Any) -> Tensor:
    return gradcli.constant(value, as_dtype(dtype))


def zeros(shape: Any, dtype: Any = float32, name: str = "") -> Tensor:
    return _made(ops.zeros(_plain(shape)), dtype)


def ones(shape: Any, dtype: Any = float32, name: str = "") -> Tensor:
    return _made(ops.ones(_plain(shape)), dtype)


def fill(dims: Any, value: Any, name: str = "") -> Any:
    return ops.broadcast_to(convert_to_tensor(value), shape=_plain(dims))


def eye(num_rows: int, num_columns: int | None = None, batch_shape: Any = None,
        dtype: Any = float32, name: str = "") -> Any:
    shape = (num_rows, num_rows if num_columns is None else num_columns)
    one = _made(ops.set_diag(ops.zeros(shape), ops.ones(min(shape))), dtype)
    return one if batch_shape is None else ops.broadcast_to(
        one, shape=[*_plain(batch_shape), *shape])


def linspace(start: Any, stop: Any, num: Any, name: str = "", axis: int = 0) -> Any:
    return ops.linspace(convert_to_tensor(start), convert_to_tensor(stop), _plain(num))


def range_(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "") -> Any:
    given = [convert_to_tensor(v) for v in (start, limit, delta) if v is not None]
    types = [v.dtype for v in given]
    made = ops.arange(*[v.item() for v in given[:-1]], step=given[-1].item())
    return _made(made, dtype or next((t for t in types if t.startswith("float")), types[0]))


def _drawn(name: str) -> Callable[..., Any]:
    draw, seeds = getattr(ops, name), count(1)

    def call(shape: Any, *options: Any, dtype: Any = float32, seed: Any = None, **named: Any
             ) -> Tensor:
        names = ("mean", "stddev") if "normal" in name else ("minval", "maxval")
        return _made(draw(_plain(shape), **dict(zip(names, options, strict=False)), **named,
                          seed=next(seeds) if seed is None else seed), dtype)

    return call


# --- control flow -----------------------------------------------------------------------------


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str = "") -> Any:
    return true_fn() if pred else false_fn()


def case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, **options: Any) -> Any:
    return next((f for pred, f in pred_fn_pairs if pred), default)()


def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: str = "") -> Any:
    fns = dict(enumerate(branch_fns) if callable(branch_fns[0]) else branch_fns) \
        if not isinstance(branch_fns, dict) else branch_fns
    return fns.get(int(branch_index), default or fns[max(fns)])()


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any,
               maximum_iterations: int | None = None, **options: Any) -> Any:
    given, rounds = loop_vars, count()
    while cond(*given) and (maximum_iterations is None or next(rounds) < maximum_iterations):
        given = body(*given)
        given = given if isinstance(given, (list, tuple)) else [given]
    return like(loop_vars, [convert_to_tensor(v) for v in flatten(given)])


def map_fn(fn: Callable[[Any], Any], elems: Any, *options: Any, **named: Any) -> Any:
    return _stacked([fn(part) for part in _parts(elems)])


vectorized_map = map_fn


def foldl(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, **options: Any
          ) -> Any:
    return scan(fn, elems, initializer, last=True)


def foldr(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, **options: Any
          ) -> Any:
    return scan(fn, elems, initializer, reverse=True, last=True)


def scan(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, *,
         reverse: bool = False, last: bool = False, **options: Any) -> Any:
    parts = _parts(elems)[::-1] if reverse else _parts(elems)
    states = [] if initializer is not None else parts[:1]
    state = initializer if initializer is not None else parts[0]
    for part in parts[len(states):]:
        state = fn(state, part)
        states.append(state)
    return state if last else _stacked(states[::-1] if reverse else states)


def _parts(elems: Any) -> list[Any]:
    columns = [list(convert_to_tensor(e)) for e in flatten(elems)]
    return [like(elems, row) for row in zip(*columns, strict=True)]


def _stacked(rows: Sequence[Any]) -> Any:
    columns = zip(*[flatten(row) for row in rows], strict=True)
    return like(rows[0], [stack(list(column)) for column in columns])


class TensorArray:
    """A list of tensors."""

    def __init__(self, dtype: Any, size: Any = 0, **options: Any) -> None:
        self.items: list[Any] = [None] * int(size)

    def write(self, index: Any, value: Any) -> TensorArray:
        at = int(index)
        self.items += [None] * (at + 1 - len(self.items))
        self.items[at] = convert_to_tensor(value)
        return self

    def unstack(self, value: Any) -> TensorArray:
        self.items = list(convert_to_tensor(value))
        return self

    def read(self, index: Any) -> Any:
        return self.items[int(index)]

    def stack(self) -> Any:
        return stack(self.items)

    def size(self) -> Tensor:
        return constant(len(self.items))


# --- functions with gradients of their own -----------------------------------------------------

custom_gradient = gradcli.custom_gradient
recompute_grad = gradcli.recompute_grad


def function(func: Any = None, **options: Any) -> Any:
    """Code runs as it is written: there is no graph."""
    return func if func is not None else lambda f: f


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    return custom_gradient(lambda *args: (f(*args), lambda *upstream: upstream))


def RegisterGradient(op_type: str) -> Callable[..., Any]:
    name = op_type.rstrip("v2") if isinstance(op_type, str) else op_type
    register = gradcli.register_gradient(name if not isinstance(name, str) else "".join(
        f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_"))
    return lambda rule: register(
        lambda upstream, *inputs: rule(SimpleNamespace(inputs=inputs), upstream))


def no_gradient(op_type: str) -> None:
    RegisterGradient(op_type)(lambda op, upstream: [None] * len(op.inputs))


def py_function(func: Callable[..., Any], inp: Sequence[Any], Tout: Any = None, **options: Any
                ) -> Any:
    found = func(*inp)
    return convert_to_tensor(found, Tout) if not isinstance(found, (list, tuple)) else [
        convert_to_tensor(v) for v in found]


def numpy_function(func: Callable[..., Any], inp: Sequence[Any], Tout: Any = None,
                   **options: Any) -> Any:
    return constant(func(*[v.numpy() if isinstance(v, Tensor) else np.asarray(v) for v in inp]))


def gradients(*args: Any, **options: Any) -> Any:
    raise RuntimeError("tf.gradients is not supported when eager execution is enabled."
                       " Use tf.GradientTape instead.")


hessians = gradients


def compute_gradient(f: Callable[..., Any], x: Sequence[Any], delta: float | None = None) -> Any:
    """Jacobians as matrices, from the tape and by central differences, per argument."""
    exact, near = [], []
    for k in range(len(x)):
        with gradcli.GradientTape() as tape:
            given = [convert_to_tensor(v) for v in x]
            tape.watch(given)
            y = f(*given)
        value, step = given[k].numpy(), delta or 1.0 / 1024
        exact.append(tape.jacobian(y, given[k], "zero").numpy().reshape(y.size, -1))
        columns = []
        for n in np.ndindex(value.shape):
            ends = [value.copy(), value.copy()]
            ends[0][n] += step
            ends[1][n] -= step
            high, low = [f(*given[:k], constant(e), *given[k + 1:]).numpy() for e in ends]
            columns.append(((high - low) / (2 * step)).reshape(-1))
        near.append(np.stack(columns, axis=-1))
    return exact, near


# --- Keras ------------------------------------------------------------------------------------


class Dense(Module):
    """A layer; `build` makes its variables, from outside come their values."""

    def __init__(self, units: int, activation: Any = None, use_bias: bool = True,
                 dtype: Any = float32, **options: Any) -> None:
        self.units, self.dtype, self.use_bias = units, dtype, use_bias
        self.activation = operation(activation) if isinstance(activation, str) else activation

    def build(self, input_shape: Sequence[Any]) -> None:
        shape = (input_shape[-1], self.units)
        self.kernel = gradcli.Variable(
            ops.glorot_uniform(*shape, seed=1), dtype=self.dtype, name="kernel")
        if self.use_bias:
            self.bias = gradcli.Variable(ops.zeros(self.units), dtype=self.dtype, name="bias")

    @property
    def variables(self) -> list[gradcli.Variable]:
        """In the order in which they were made, as Keras has them."""
        return sorted(super().variables, key=lambda v: v.serial)

    def set_weights(self, weights: Iterable[Any]) -> None:
        for variable, value in zip(self.variables, weights, strict=True):
            variable.assign(value)

    def __call__(self, x: Any) -> Any:
        if not self.variables:
            self.build(x.shape)
        y = ops.dense(x, *self.variables)
        return self.activation(y) if self.activation else y


class Optimizer:
    """Gradient steps; `rule` says how far one goes. The formulas are those of Keras 3."""

    def __init__(self, rule: Callable[..., Any], learning_rate: float, options: dict[str, Any]
                 ) -> None:
        self.rule, self.learning_rate, self.options = rule, learning_rate, options
        self.slots: dict[Any, dict[str, Any]] = {}
        self.iterations = 0

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]]) -> None:
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        self.iterations += 1
        for g, v in pairs:
            v.assign_sub(self.rule(
                g.numpy(), self.slots.setdefault(v, {}), self.iterations, self.learning_rate,
                **self.options))


def _sgd(g: Any, slots: dict[str, Any], t: int, rate: float, momentum: float = 0.0,
         nesterov: bool = False) -> Any:
    slots["m"] = m = slots.get("m", 0.0) * momentum + rate * g
    return m * momentum + rate * g if nesterov else m


def _adam(g: Any, slots: dict[str, Any], t: int, rate: float, beta_1: float = 0.9,
          beta_2: float = 0.999, epsilon: float = 1e-7) -> Any:
    slots["m"] = m = slots.get("m", 0.0) * beta_1 + g * (1 - beta_1)
    slots["v"] = v = slots.get("v", 0.0) * beta_2 + g * g * (1 - beta_2)
    # Keras takes the powers of the betas as they are in float32.
    p1, p2 = (float(np.float32(b)) ** t for b in (beta_1, beta_2))
    return rate * np.sqrt(1 - p2) / (1 - p1) * m / (np.sqrt(v) + epsilon)


def _rmsprop(g: Any, slots: dict[str, Any], t: int, rate: float, rho: float = 0.9,
             momentum: float = 0.0, epsilon: float = 1e-7) -> Any:
    slots["v"] = v = slots.get("v", 0.0) * rho + g * g * (1 - rho)
    slots["m"] = m = slots.get("m", 0.0) * momentum + rate * g / np.sqrt(v + epsilon)
    return m


def _adagrad(g: Any, slots: dict[str, Any], t: int, rate: float,
             initial_accumulator_value: float = 0.1, epsilon: float = 1e-7) -> Any:
    slots["v"] = v = slots.get("v", initial_accumulator_value) + g * g
    return rate * g / np.sqrt(v + epsilon)


def _optimizer(rule: Callable[..., Any], rate: float) -> Callable[..., Optimizer]:
    return lambda learning_rate=rate, **options: Optimizer(rule, learning_rate, options)


# --- groups of names --------------------------------------------------------------------------


def map_structure(f: Callable[..., Any], *structures: Any) -> Any:
    return like(structures[0], [f(*parts) for parts in zip(*map(flatten, structures), strict=True)])


math = special = raw_ops = image = dtypes = nn = linalg = Names()
debugging = Names(
    enable_check_numerics=gradcli.enable_check_numerics,
    disable_check_numerics=gradcli.disable_check_numerics)
errors = Errors()
autodiff = Names(ForwardAccumulator=ForwardAccumulator, GradientTape=GradientTape)
random = Names(normal=_drawn("normal"), uniform=_drawn("uniform"),
               truncated_normal=_drawn("truncated_normal"), set_seed=lambda seed: None)
test = Names(compute_gradient=compute_gradient)
nest = Names(flatten=flatten, map_structure=map_structure)
config = Names(run_functions_eagerly=lambda eagerly: None)
optimizers = Names(SGD=_optimizer(_sgd, 0.01), Adam=_optimizer(_adam, 0.001),
                   RMSprop=_optimizer(_rmsprop, 0.001), Adagrad=_optimizer(_adagrad, 0.001))
keras = Names(layers=Names(Dense=Dense), optimizers=optimizers, activations=nn)
device = name_scope = control_dependencies = lambda *args: nullcontext()

OWN = {
    name.rstrip("_"): value for name, value in list(globals().items())
    if getattr(value, "__module__", "") == __name__ or isinstance(value, (DType, Names))}
"""What is written here; `slice_`, `range_` and `bool_` are names of Python too."""
