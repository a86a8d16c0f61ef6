"""Operations: the rows of the table, their kinds, and how one is applied.

An operation is one row of one table: an `Op` holds all that the project knows about it. The
constructors below (`elementwise`, `linear`, ...) name its kind, and the kind supplies all that can
be derived, so that most rows are one statement.

Rules are ordinary Python lambdas written with the same operations: `sin` has `lambda x, ans:
cos(x)`. Given tensors they record, given numbers they compute, so one rule serves the reverse
sweep, the tangent sweep and derivatives of derivatives.

| kind | the row gives | derived |
|---|---|---|
| elementwise | one partial per argument, `(*arguments, ans)` | JVP, VJP |
| linear | its VJP `(g, ans, *arguments, **attributes)` | JVP: itself, on the tangent |
| bilinear | a VJP per argument | JVP: itself with one tangent at a time |
| general | a VJP per argument, and a JVP `(tangents, ans, *arguments, **attributes)` | |
| flat | value in steps, derivative 0 almost everywhere | None, explained |
| stop | no derivative by nature: the reason and a smooth substitute | None, explained |
| unregistered | value only, of something smooth that has no rule yet | E0503 on a path |
| composite | how it expands into other operations | everything: only its parts are recorded |

A slope that is the same everywhere is a number instead of a lambda: `add` has 1.0 and 1.0. An
argument whose rule is None carries no derivative; its role (condition, index, shape) says why. The
engine sums cotangents back to the shape of the operand; rules never do.

Array functions of other than elementwise rows are called as `(cores, *values, **attributes)`:
`cores` holds the core rank of each value; all axes before the core are batch axes. Axes in
attributes are negative: they count from the right, where the core is.
"""

from __future__ import annotations

from math import inf

from gradcli.base.errors import GradcliError, error
from gradcli.base.lazy import np, quiet, quietly, silent
from gradcli.ops.rows import LazyRows
from gradcli.ops.values import (
    SCALAR_TYPES,
    alike,
    broadcast_shape,
    check_bytes,
    dtype_of,
    is_integer,
    plain,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Rule = Callable[..., Any] | float | None

ELEMENTWISE, LINEAR, BILINEAR, GENERAL, FLAT, STOP, COMPOSITE, UNREGISTERED = (
    "elementwise", "linear", "bilinear", "general", "flat", "stop", "composite", "unregistered")

TABLE: LazyRows[Op] = LazyRows()
"""Canonical name to operation, in order of definition."""

NAMES: LazyRows[Op] = LazyRows()
"""Every name and alias to operation."""

PUBLIC: LazyRows[Op] = LazyRows()
"""Every name that a file can call."""

INT64 = 2**63

_applied: dict[type, Callable[..., Any]] = {}
"""How operations are applied to operands of a class, its `__gradcli_apply__`: found once."""

# What Python's own arithmetic raises where NumPy answers inf or NaN.
EDGE = (ZeroDivisionError, OverflowError, ValueError)


class Op:
    """One operation.

    name, aliases: what a file may write.
    parameters: names of the tensor arguments; `*xs` takes a list.
    attributes: other arguments with their defaults.
    floats: function on Python floats.
    integers: function on Python integers, where the result is one.
    arrays: function on NumPy arrays (see the module), or the name of a NumPy function.
    rules: for each argument, as the kind requires.
    jvp: for general rows.
    roles: "data", "condition", "index" or "shape" for each argument.
    prepare: function from (shapes, attributes) to the attributes with axes negative and defaults
        filled in.
    domain, kinks, doc, latex: for people.
    kink: predicate on the arguments (of other than elementwise rows on the value, arguments and
        attributes), true where a convention was used.
    samples: for each argument a range (low, high) to test in.
    substitute: what to write where the derivative is missing; it may name `{0}`, the operand.
    expand: for composite rows, the function of the operations that it stands for.
    internal: whether only rules and the interpreter use it: no file can call it.
    holomorphic: false where rules are written for complex numbers already.
    on_complex: the row that takes complex numbers in place of this one.
    traits: what else holds of it, in words of `ops.describe.TRAITS`.
    steep: the argument near 0 of which it is steep.
    whole: whole numbers at which the value is a whole number, and that number.
    undoes: the operation g with f(g(x)) = x, and behind it the x of which that holds.
    guard: its argument "inside" of the domain, "off_edge" (a little off it, where the slope is
        finite), and a "harmless" one for a branch that is not used, where 1 is none.
    names: what other languages call it: `c` if that is its own name, `c:fabs` if not.
    complex_form: the function on complex arrays with tiny imaginary parts, for the complex step, or
        its name in `ops.continued`; `arrays` if that of arrays is analytic.
    reference: for tests, the same said in mpmath (`mp`, `mpf`), where that has no function of this
        name.
    """

    __slots__ = (
        "_kernel", "aliases", "array_rules", "arrays", "attributes", "batching", "by_arrays",
        "by_parts", "complex_form", "doc", "domain", "edges", "elementwise", "expand", "fast_rules",
        "floats", "guard", "holomorphic", "integers", "internal", "jvp", "kind", "kink", "kinks",
        "latex", "least", "most", "name", "names", "on_complex", "parameters", "partial", "prepare",
        "reference", "roles", "rules", "samples", "smooth", "steep", "substitute", "traits",
        "undoes", "variadic", "whole",
    )

    def __init__(
        self,
        name: str,
        kind: str,
        parameters: str,
        *,
        aliases: str = "",
        floats: Callable[..., Any] | None = None,
        integers: Callable[..., Any] | None = None,
        arrays: Callable[..., Any] | str | None = None,
        rules: Sequence[Rule] = (),
        jvp: Callable[..., Any] | None = None,
        attributes: Mapping[str, Any] | None = None,
        prepare: Callable[..., Any] | None = None,
        roles: Sequence[str] | None = None,
        batching: str = "",
        domain: str = "",
        kinks: str = "",
        kink: Callable[..., Any] | None = None,
        doc: str = "",
        latex: str = "",
        samples: Sequence[tuple[float, float]] = (),
        substitute: str = "",
        expand: Callable[..., Any] | None = None,
        is_elementwise: bool | None = None,
        internal: bool = False,
        holomorphic: bool = True,
        traits: str = "",
        steep: int | None = None,
        whole: Mapping[int, int] | None = None,
        undoes: str = "",
        guard: Mapping[str, str] | None = None,
        names: str = "",
        complex_form: Callable[..., Any] | str = "",
        reference: str = "",
    ) -> None:
        self.name = name
        self.kind = kind
        self.parameters = tuple(parameters.split())
        self.variadic = parameters.startswith("*")
        # The numbers of arguments that it takes.
        starred = "*" in parameters
        self.most = len(self.parameters) if parameters and not starred else inf
        self.least = len(self.parameters) - starred if expand is None else 0
        self.aliases = tuple(aliases.split())
        self.floats = floats
        self.integers = integers
        self.arrays = _by_name(arrays) if isinstance(arrays, str) else arrays
        self._kernel: Any = arrays  # a name until it is looked up
        self.rules = tuple(rules)
        self.fast_rules: tuple[Any, ...] | None = None
        self.array_rules: tuple[Any, ...] | None = None
        self.jvp = jvp
        self.expand = expand
        self.internal = internal
        self.holomorphic = holomorphic
        self.on_complex: Op | None = None
        # One rule gives the cotangents of all arguments at once.
        self.by_parts = self.variadic and bool(rules)
        self.attributes = dict(attributes or {})
        self.prepare = prepare
        self.roles = tuple(roles) if roles else ("data",) * len(self.parameters)
        self.batching = batching
        self.domain = domain
        self.kinks = kinks
        self.kink = kink
        self.doc = doc
        self.latex = latex
        self.samples = tuple(samples)
        self.substitute = substitute
        self.traits = tuple(traits.split())
        self.steep = steep
        self.whole = whole or {}
        self.undoes = undoes
        self.guard = guard or {}
        self.names = names
        self.complex_form = complex_form
        self.reference = reference
        self.elementwise = kind == ELEMENTWISE if is_elementwise is None else is_elementwise
        # Whether arrays that are `alike` go through its function on arrays as they are.
        self.by_arrays = self.elementwise and arrays is not None
        # Whether a derivative passes from argument k to the value.
        self.edges = tuple(rule is not None for rule in self.rules) or (
            kind == UNREGISTERED,) * len(self.parameters)
        self.smooth = all(self.edges)
        # Whether a number may move it that has no rule, beside others that have one.
        self.partial = self.elementwise and "index" in self.roles and not self.smooth
        TABLE[name] = self
        for alias in (name, *self.aliases):
            assert not dict.__contains__(NAMES, alias), alias
            NAMES[alias] = self
            if not internal:
                PUBLIC[alias] = self

    def copy(self) -> Op:
        """Return a row of the same contents outside the table: it may be given other rules."""
        other = Op.__new__(Op)
        for name in Op.__slots__:
            setattr(other, name, getattr(self, name))
        return other

    def edge(self, k: int) -> bool:
        """Return whether a derivative passes from argument k to the value."""
        return self.edges[min(k, len(self.edges) - 1)]

    def role(self, k: int) -> str:
        """Return the role of argument k: data, condition, index or shape."""
        return self.roles[min(k, len(self.roles) - 1)]

    def __call__(self, *args: Any, **attributes: Any) -> Any:
        """Apply: recorded if an argument is a tensor, computed otherwise.

        An operation hands itself and the arguments to the first operand whose class knows how to
        apply it; so this table imports nothing of the tape and rules still record.
        """
        if attributes and not attributes.keys() <= self.attributes.keys():
            from gradcli.ops.calling import check_options

            check_options(self, attributes)
        if len(args) > self.most:
            return self._from_python(args, attributes)
        apply = first = None
        for a in args:
            kind = type(a)
            knows = _applied.get(kind)
            if knows is None:
                if kind in SCALAR_TYPES or kind.__name__ == "ndarray":
                    continue
                knows = getattr(kind, "__gradcli_apply__", None)
                if knows is not None:
                    _applied[kind] = knows
                elif self.parameters and (  # without any, lists arrive as they are
                        kind is list or kind is tuple
                        or (self.expand is None and not hasattr(a, "__array_interface__"))):
                    return self._from_python(args, attributes)
                else:
                    continue
            if apply is None:
                apply, first = knows, a
        if len(args) < self.least:
            raise error("E0207", f"`{self.name}` takes {' and '.join(self.parameters)}",
                        help=f"{len(args)} given")
        if self.expand is not None:
            with quiet():
                try:
                    return self.expand(*args, **attributes)
                except GradcliError:
                    raise
                except TypeError:
                    from gradcli.ops.calling import check_count

                    check_count(self, args, attributes)
                    raise
        if apply is None:
            return self.compute(args, attributes)
        return apply(first, self, args, attributes)

    def _from_python(self, args: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        """Apply to lists as tensors, with attributes by position. Raises E0207 for too many."""
        from gradcli.ops.calling import arranged

        operands, named = arranged(self, args, attributes, NAMES["stack"])
        return self(*operands, **named)

    def compute(self, values: Sequence[Any], attributes: Mapping[str, Any],
                cores: Sequence[int] | None = None) -> Any:
        """Return the value for plain operands; `cores`: their core ranks, by default all axes."""
        if self.elementwise:
            for v in values:
                if type(v) not in SCALAR_TYPES:
                    break
            else:
                return self.on_scalars(values)
            if self.by_arrays and alike(values):
                return self.on_alike(values)
            self._check_broadcast(values)
            try:
                return self._kept_whole(plain(quietly(on_arrays(self), *values)), values)
            except GradcliError:
                raise
            except (ValueError, OverflowError):  # what NumPy refuses, such as int ** -1
                raise error("E0404", f"`{self.name}` has no such value for integers",
                            help="make an operand a float: float(...)") from None
            except TypeError:
                self._refuse_types(values)
                raise
        if cores is None:
            cores = [0 if type(v) in SCALAR_TYPES else v.ndim for v in values]
            if self.prepare is not None:
                shapes = [() if type(v) in SCALAR_TYPES else v.shape for v in values]
                attributes = self.prepare(shapes, **{**self.attributes, **attributes})
            elif self.attributes:
                attributes = {**self.attributes, **attributes}
        assert self.arrays is not None
        try:
            found = plain(quietly(self.arrays, cores, *values, **attributes))
            return self._kept_whole(found, values, attributes, cores)
        except GradcliError:
            raise
        except TypeError:
            self._refuse_types(values)
            raise

    def kernel(self) -> Any:
        """Return the function on arrays itself: NumPy's, where the row has its name."""
        if type(self._kernel) is str:
            self._kernel = getattr(np, self._kernel)
        return self._kernel

    def on_alike(self, values: Sequence[Any]) -> Any:
        """Apply an elementwise operation to values that are `alike`, by its function on arrays."""
        kernel = self._kernel
        if type(kernel) is str:
            kernel = self.kernel()
        try:
            found = silent.run(kernel, *values)
        except (AttributeError, RuntimeError):
            found = quietly(kernel, *values)
        return found if found.shape else plain(found)

    def _kept_whole(self, found: Any, values: Sequence[Any],
                    attributes: Mapping[str, Any] | None = None, cores: Sequence[int] = ()) -> Any:
        """Return the value unless NumPy has wrapped integers around, which raises E0404.

        The same in floats is then far from it.
        """
        if not is_integer(found) or self.kind == STOP:
            return found
        bits = int(dtype_of(found)[3:])
        floats = [np.asarray(v, float) if self.role(k) == "data" and is_integer(v) else v
                  for k, v in enumerate(values)]
        assert self.elementwise or self.arrays is not None
        rough = (quietly(on_arrays(self), *floats) if self.elementwise
                 else quietly(self.kernel(), cores, *floats, **attributes or {}))
        limit = 2**(bits - 1)
        apart = quietly(np.subtract, rough, found, dtype=float)
        if (type(found) is not int or -limit <= found < limit) and np.all(
                np.abs(apart) < limit / 2):
            return found
        if not self.elementwise:
            what = "this" if self.internal else f"`{self.name}` of these"
            raise error("E0404", f"{what} is not an integer of {bits} bits",
                        help="make them floats: float(...)")

        def alone(*xs: Any) -> Any:
            made = self.on_scalars(xs)
            if not -limit <= made < limit:
                raise self._no_integer(xs, bits)
            return made

        np.frompyfunc(alone, len(values), 1)(*values)
        return found    # a remainder of large numbers is far from the one of floats

    def _refuse_types(self, values: Sequence[Any]) -> None:
        """Raise E0302 if NumPy may have refused the operands for their types, such as text."""
        kinds = [dtype_of(v) for v in values]
        if not all(kind.startswith("float") for kind in kinds):
            raise error("E0302", f"`{self.name}` does not take {' and '.join(kinds)}",
                        help="make it a float: float(...)") from None

    def _check_broadcast(self, values: Sequence[Any]) -> None:
        shapes = [v.shape for v in values if type(v) not in SCALAR_TYPES]
        if len(shapes) > 1 and any(s != shapes[0] for s in shapes):
            elements = 8.0
            for n in broadcast_shape(self.name, shapes):
                elements *= n
            check_bytes(elements)

    def on_scalars(self, values: Sequence[Any]) -> Any:
        """Apply an elementwise operation to Python numbers, as NumPy does at the edges."""
        whole = self.integers is not None and all(type(v) is int for v in values)
        try:
            found = (self.integers if whole else self.floats)(*values)  # type: ignore[misc]
        except EDGE:
            if whole:
                raise self._no_integer(values) from None
            return self.at_edge(values)
        if type(found) is int and not -INT64 <= found < INT64:
            raise self._no_integer(values)
        return found

    def _no_integer(self, values: Sequence[Any], bits: int = 64) -> Exception:
        return error(
            "E0404",
            f"`{self.name}` of {' and '.join(map(repr, values))} is not an integer of {bits}"
            " bits", help="make an operand a float: float(...)")

    def at_edge(self, values: Sequence[Any]) -> Any:
        """Return NumPy's value where `math` raises: log(0) is -inf, log(-1) NaN, exp(1000) inf.

        NaN for a function that NumPy does not have.
        """
        if self.arrays is None:
            return float("nan")
        return plain(quietly(self.arrays, *[
            np.float64(v) if type(v) in (float, int, bool) else v for v in values]))

    def __repr__(self) -> str:
        return f"<operation {self.name}>"


def _by_element(op: Op, values: Sequence[Any]) -> Any:
    """Apply an operation element by element to arrays, where NumPy does not have it."""
    kind = np.result_type(*values, np.float32)
    if kind.kind == "U":
        raise TypeError("float() would read a text as a number")
    scalar = np.frompyfunc(lambda *xs: op.on_scalars([float(x) for x in xs]), len(values), 1)
    return np.asarray(scalar(*values)).astype(kind)


def on_arrays(op: Op) -> Callable[..., Any]:
    """Return the function of an elementwise operation on arrays."""
    return op.arrays or (lambda *values: _by_element(op, values))


def checked(op: Op, attributes: Mapping[str, Any] | None = None, cores: Sequence[int] = ()
            ) -> Callable[..., Any]:
    """Return an operation on arrays of integers, which raises E0404 for an integer out of range."""
    def function(*values: Any) -> Any:
        return np.asarray(op.compute(values, attributes or {}, cores))

    return function


def _by_name(name: str) -> Callable[..., Any]:
    """Return a NumPy function, looked up when called: the table must not load NumPy."""
    def call(*values: Any) -> Any:
        return getattr(np, name)(*values)

    call.__qualname__ = f"np.{name}"
    return call


def elementwise(name: str, parameters: str, *rules: Rule, **row: Any) -> Op:
    """Return a row applied element by element, with broadcasting; one partial per argument."""
    return Op(name, ELEMENTWISE, parameters, rules=rules, **row)


def linear(name: str, parameters: str, *rules: Rule, **row: Any) -> Op:
    """Return a row linear in all its tensor arguments together, given by one VJP per argument."""
    return Op(name, LINEAR, parameters, rules=rules, **row)


def bilinear(name: str, parameters: str, *rules: Rule, **row: Any) -> Op:
    """Return a row that is linear in each of two arguments."""
    return Op(name, BILINEAR, parameters, rules=rules, **row)


def general(name: str, parameters: str, *rules: Rule, **row: Any) -> Op:
    """Return any other smooth row, given by VJPs and a JVP."""
    return Op(name, GENERAL, parameters, rules=rules, **row)


def flat(name: str, parameters: str, **row: Any) -> Op:
    """Return the row of a step function, elementwise."""
    return Op(name, FLAT, parameters, is_elementwise=True, **row)


def stop(name: str, parameters: str, **row: Any) -> Op:
    """Return a row that has no derivative by nature."""
    return Op(name, STOP, parameters, **row)


def unregistered(name: str, parameters: str, **row: Any) -> Op:
    """Return a smooth row without a rule: a derivative through it is an error, never a None."""
    return Op(name, UNREGISTERED, parameters, **row)


def composite(name: str, parameters: str, expand: Callable[..., Any], **row: Any) -> Op:
    """Return a row that is a name for several operations, which are recorded in its place."""
    return Op(name, COMPOSITE, parameters, expand=expand, **row)
