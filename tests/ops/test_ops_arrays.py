"""Rows that scan, arrange and select: values against NumPy, derivatives against complex steps and
differences, and TensorFlow 2.21's own numbers.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from conftest import folded
from test_ops_shapes import (
    Call,
    Case,
    arrays_of,
    case,
    check_first_derivatives,
    check_second_derivatives,
    close,
    complex_step,
    difference,
    plain,
)

from gradcli.base.errors import GradcliError
from gradcli.engine import calculus
from gradcli.engine.record.record import Record
from gradcli.engine.record.tensor import Tensor, leaf
from gradcli.ops import NAMES, TABLE
from gradcli.ops.kinds import COMPOSITE, ELEMENTWISE, PUBLIC, STOP, UNREGISTERED
from gradcli.ops.values import dtype_of
from gradcli.python.program import loads

S = slice(None)
INF, NAN = math.inf, math.nan
SHAPES: tuple[tuple[int, ...], ...] = ((4,), (2, 3), (3, 1, 2), (1,), (0,), (2, 0))


def of(name: str, *others: Any, **attributes: Any) -> Call:
    """The row with further operands after the first, as a function of the first."""
    return lambda x: NAMES[name](x, *others, **attributes)


def moved(name: str, theirs: Call, *shapes: tuple[int, ...], others: tuple[Any, ...] = (),
          label: str = "", **attributes: Any) -> Case:
    """A case whose further operands (indices, masks) are constants."""
    shown = [np.asarray(v).tolist() for v in others]
    return Case(f"{name} {shapes} {shown} {attributes}{label}", of(name, *others, **attributes),
                theirs, *shapes)


def part(name: str, item: int, theirs: Call, /, *shapes: tuple[int, ...], **attributes: Any
         ) -> Case:
    """One item of a row that answers a list."""
    return Case(f"{name} {shapes} {attributes} [{item}]",
                lambda *xs: NAMES[name](*xs, **attributes)[item], theirs, *shapes)


# --- references -------------------------------------------------------------------------------


def scanned(step: Call, first: float, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Element by element: y = step(y, x)."""
    lines = np.moveaxis(x, axis, 0)
    out = np.zeros(lines.shape, dtype=np.result_type(x, np.float64))
    y = np.full(lines.shape[1:], first, dtype=out.dtype)
    for k in range(len(lines))[::-1 if reverse else 1]:
        before, y = y, step(y, lines[k])
        out[k] = before if exclusive else y
    return np.moveaxis(out, 0, axis)


def logaddexp(y: Any, x: Any) -> Any:
    return np.log(np.exp(y) + np.exp(x))


def larger(y: Any, x: Any) -> Any:
    return np.where(x.real > y.real, x, y)


def smaller(y: Any, x: Any) -> Any:
    return np.where(x.real < y.real, x, y)


def scans(name: str, step: Call, first: float, flags: tuple[bool, ...] = (False, True)
          ) -> list[Case]:
    out = []
    for shape in SHAPES:
        for axis in range(-len(shape), len(shape)):
            for exclusive, reverse in itertools.product(flags, (False, True)):
                def theirs(x: Any, a: int = axis, e: bool = exclusive, r: bool = reverse) -> Any:
                    return scanned(step, first, x, a, e, r)

                out.append(case(name, theirs, shape, axis=axis, exclusive=exclusive,
                                reverse=reverse))
    return out


def running(name: str, step: Call, first: float) -> list[Case]:
    """The same for rows that are never exclusive."""
    return [case(name, lambda x, a=axis, r=reverse: scanned(step, first, x, a, False, r), shape,
                 axis=axis, reverse=reverse)
            for shape in ((4,), (2, 3), (3, 1, 2)) for axis in range(len(shape))
            for reverse in (False, True)]


def recurrence(x: Any, b: Any, axis: int, reverse: bool, late: bool) -> Any:
    xs, bs = np.moveaxis(x, axis, 0), np.moveaxis(b, axis, 0)
    out = np.zeros(bs.shape, dtype=np.result_type(x, b))
    y, factor = np.zeros(bs.shape[1:]), np.zeros(bs.shape[1:])
    for k in range(len(xs))[::-1 if reverse else 1]:
        y = bs[k] + (factor if late else xs[k]) * y
        factor = xs[k]
        out[k] = y
    return np.moveaxis(out, 0, axis)


def by_rank(x: Any, axis: int) -> Any:
    """Sorted by the real part: complex steps keep their element."""
    return np.take_along_axis(x, np.argsort(x.real, axis=axis, kind="stable"), axis)


def quantile(x: Any, q: float, axis: Any, keepdims: bool) -> Any:
    """Between neighbours in order, written with a matrix of weights."""
    axes = tuple(range(x.ndim)) if axis is None else (
        tuple(a % x.ndim for a in axis) if isinstance(axis, list) else (axis % x.ndim,))
    kept = [k for k in range(x.ndim) if k not in axes]
    outer = [x.shape[k] for k in kept]
    lines = by_rank(np.transpose(x, [*kept, *axes]).reshape([*outer, -1]), -1)
    place = q * (lines.shape[-1] - 1)
    weights = np.maximum(0.0, 1.0 - np.abs(np.arange(lines.shape[-1]) - place))
    y = lines @ weights
    return y.reshape([1 if k in axes else n for k, n in enumerate(x.shape)]) if keepdims else y


def segmented(function: Call, x: Any, ids: Any, n: int, empty: float) -> Any:
    """function(rows) per segment, each row being one slice."""
    ids = np.asarray(ids)
    rows = x.reshape(ids.size, *x.shape[ids.ndim:])
    out = np.full((n, *rows.shape[1:]), empty, dtype=x.dtype)
    for k in range(n):
        chosen = rows[ids.ravel() == k]
        if len(chosen):
            out[k] = function(chosen)
    return out


def largest(rows: Any) -> Any:
    return by_rank(rows, 0)[-1]


def smallest(rows: Any) -> Any:
    return by_rank(rows, 0)[0]


def root_n(rows: Any) -> Any:
    return rows.sum(axis=0) / np.sqrt(len(rows))


LOWEST, HIGHEST = -1.7976931348623157e308, 1.7976931348623157e308
SORTED_IDS = (([0, 0, 2], (3, 2), 3), ([0, 0, 0, 1], (4,), 2), ([1, 1, 1], (3, 1, 2), 2))
ANY_IDS = (([2, 0, 2, -1], (4, 2), 4), ([[2, 0, 2], [0, 1, -1]], (2, 3), 3),
           ([[1], [1]], (2, 1, 3), 3), ([0, 0, 0, 0, 0, 1, 0], (7,), 2))


def segments(name: str, function: Call, empty: float) -> list[Case]:
    return [moved(name, lambda x, i=ids, n=n: segmented(function, x, i, n, empty), shape,
                  others=(np.array(ids),)) for ids, shape, n in SORTED_IDS]


def unsorted(name: str, function: Call, empty: float) -> list[Case]:
    """Extrema of nothing are the ends of the type's range, which no difference stands: every
    segment has an element there.
    """
    out = []
    for ids, shape, n in ANY_IDS:
        count = n if abs(empty) < 2 else 1
        at = np.array(ids) if abs(empty) < 2 else np.minimum(np.array(ids), 0)
        out.append(moved(name, lambda x, i=at, n=count: segmented(function, x, i, n, empty), shape,
                         others=(at,), num_segments=count))
    return out


def scatter(places: Any, updates: Any, shape: tuple[int, ...], start: Any = None) -> Any:
    out = np.zeros(shape, dtype=updates.dtype) if start is None else start.astype(
        np.result_type(start, updates))
    for k, place in enumerate(places):
        out[tuple(place)] = out[tuple(place)] + updates[k]
    return out


def overwritten(tensor: Any, places: Any, updates: Any) -> Any:
    out = tensor.astype(np.result_type(tensor, updates))
    for k, place in enumerate(places):
        out[tuple(place)] = updates[k]
    return out


def grid(k: int, indexing: Any) -> Call:
    return lambda *xs: np.meshgrid(*xs, indexing=indexing)[k]


A = np.array([[2.0, 0.0], [1.0, 1.0]])  # indices may be whole floats
ROW = np.array([2, 0, -1, 2])
PLACES = np.array([[0, 2], [1, 0], [0, 2]])
MASK = np.array([[True, False, True], [False, True, True]])

# --- every row that carries a derivative ------------------------------------------------------

ARRAYS: dict[str, list[Case]] = {
    "cumsum": scans("cumsum", np.add, 0.0),
    "cumprod": scans("cumprod", np.multiply, 1.0),
    "running_product": running("running_product", np.multiply, 1.0),
    "cumulative_logsumexp": scans("cumulative_logsumexp", logaddexp, -INF, (False,)),
    "running_logsumexp": running("running_logsumexp", logaddexp, -INF),
    "excess": [],  # infinite in the first place: see below
    "cummax": running("cummax", larger, -INF),
    "cummin": running("cummin", smaller, INF),
    "diff": [case("diff", lambda x, n=n, a=a: np.diff(x, n, a), s, n=n, axis=a)
             for s, a in (((5,), -1), ((3, 4), 0), ((3, 4), 1)) for n in (0, 1, 2, 3)],
    "recurrence": [
        case("recurrence", lambda x, b, r=r, t=t, a=a: recurrence(x, b, a, r, t), s, s, axis=a,
             reverse=r, late=t)
        for s, a in (((4,), -1), ((3, 2), -2), ((2, 3), -1))
        for r in (False, True) for t in (False, True)],
    "shifted": [case("shifted", lambda x: np.concatenate([np.zeros((1, 3)), x[:-1]]), (4, 3),
                     axis=-2),
                case("shifted", lambda x: np.append(x[1:], 0.0), (4,), reverse=True)],
    "expand_dims": [case("expand_dims", lambda x, a=a: np.expand_dims(x, a), (2, 3), axis=a)
                    for a in (0, 1, 2, -1, (0, -1))]
    + [case("expand_dims", lambda x: x.reshape(1), ())],
    "squeeze": [case("squeeze", np.squeeze, (1, 3, 1)), case("squeeze", np.squeeze, (1, 1)),
                case("squeeze", lambda x: x[0], (1, 3, 1), axis=0),
                case("squeeze", lambda x: x[0, :, 0], (1, 3, 1), axis=[0, -1]),
                case("squeeze", lambda x: x, ()), case("squeeze", lambda x: x, (2, 0))],
    "moveaxis": [case("moveaxis", lambda x: np.moveaxis(x, 0, -1), (2, 3, 4), source=0,
                      destination=-1),
                 case("moveaxis", lambda x: np.moveaxis(x, [0, 1], [2, 0]), (2, 3, 4),
                      source=[0, 1], destination=[2, 0])],
    "swapaxes": [case("swapaxes", lambda x: np.swapaxes(x, 0, 2), (2, 3, 4), axis1=0, axis2=-1),
                 case("swapaxes", np.transpose, (2, 3))],
    "atleast_1d": [case("atleast_1d", np.atleast_1d, s) for s in ((), (2,), (2, 3))],
    "atleast_2d": [case("atleast_2d", np.atleast_2d, s) for s in ((), (2,), (2, 3), (2, 1, 2))],
    "flatten": [case("flatten", np.ravel, s) for s in ((), (2,), (2, 3, 2), (2, 0))],
    "flip": [case("flip", lambda x, a=a: np.flip(x, a), s, axis=list(a) if isinstance(a, tuple)
                  else a) for s, a in (((3,), None), ((2, 3), 0), ((2, 3), (0, 1)), ((), None),
                                       ((2, 3, 2), (-1, 0)), ((0, 2), 0))],
    "roll": [case("roll", lambda x, n=n, a=a: np.roll(x, n, a), s, shift=n, axis=a)
             for s, n, a in (((4,), 1, 0), ((4,), -6, None), ((2, 3), 2, None), ((2, 3), 1, -1),
                             ((2, 3), [1, -2], [0, 1]), ((2, 3), 1, [0, 1]),
                             ((2, 3), [1, 1], [1, 1]), ((), 2, None), ((0, 3), 1, None))],
    "tile": [case("tile", lambda x, m=m: np.tile(x, m), s, multiples=m)
             for s, m in (((3,), 2), ((3,), [2, 3]), ((2, 3), [2, 1]), ((2, 3), 2), ((), [2]),
                          ((), []), ((2, 3), [0, 2]), ((2, 1, 2), [1, 3, 2]))],
    "repeat": [case("repeat", lambda x, r=r, a=a: np.repeat(x, r, a), s, repeats=r, axis=a)
               for s, r, a in (((3,), 2, None), ((2, 3), 2, None), ((2, 3), 2, 0), ((), 3, None),
                               ((2, 3), [2, 0, 1], 1), ((2, 3), [3, 1], -2), ((2, 3), 0, 0))],
    "pad": [case("pad", lambda x, w=w, m=m: np.pad(x, w, mode=m), s, paddings=w, mode=m.upper())
            for s, w, m in (
                ((3,), [[1, 2]], "constant"), ((2, 3), [[1, 0], [0, 2]], "constant"),
                ((2, 3), 1, "constant"), ((2, 0), [[0, 0], [1, 1]], "constant"),
                ((3,), [[2, 1]], "reflect"), ((2, 3), [[1, 1], [2, 0]], "reflect"),
                ((2,), [[4, 3]], "reflect"), ((1,), [[1, 2]], "reflect"),
                ((2, 3), [[2, 1], [0, 3]], "symmetric"), ((2, 3), [[1, 1], [2, 0]], "edge"),
                ((3,), [[2, 4]], "wrap"))]
    + [case("pad", lambda x: np.pad(x, ((1, 0), (0, 2)), constant_values=7.5), (2, 3),
            paddings=[[1, 0], [0, 2]], constant_values=7.5),
       case("pad", lambda x: x, (), paddings=[])],
    "split": [part("split", k, lambda x, k=k: np.split(x, 2)[k], (4, 3)) for k in (0, 1)]
    + [part("split", k, lambda x, k=k: np.split(x, [1, 1], axis=1)[k], (2, 3), axis=1,
            num_or_size_splits=[1, 0, -1]) for k in (0, 1, 2)],
    "unstack": [part("unstack", k, lambda x, k=k: x[:, k], (2, 3), axis=1) for k in (0, 2)]
    + [part("unstack", 1, lambda x: x[1], (2,))],
    "meshgrid": [part("meshgrid", k, grid(k, i), *s, indexing=i)
                 for i in ("xy", "ij") for s in (((2,), (3,)), ((2,), (1,), (3,)), ((), (2,)))
                 for k in range(len(s))]
    + [part("meshgrid", 0, grid(0, "xy"), (3,))],
    "take_along_axis": [
        moved("take_along_axis", lambda x: np.take_along_axis(x, PLACES[:2], 1), (2, 3),
              others=(PLACES[:2],), axis=1),
        moved("take_along_axis", lambda x: x[ROW], (3,), others=(ROW.astype(float),)),
        moved("take_along_axis", lambda x: x[:, [1, 0]], (2, 3), others=(np.array([[1, 0]]),)),
        moved("take_along_axis", lambda x: np.take_along_axis(
            np.broadcast_to(x, (2, 3)), PLACES[:2], 1), (1, 3), others=(PLACES[:2],))],
    "add_along_axis": [
        moved("add_along_axis", lambda x: np.array([scatter(PLACES[i, :, None], x[i], (4,))
                                                    for i in range(2)]), (2, 2),
              others=(PLACES[:2],), length=4)],
    "gather": [
        moved("gather", lambda x: x[ROW], (3,), others=(ROW,)),
        moved("gather", lambda x: x[:, ROW], (2, 3), others=(ROW,), axis=1),
        moved("gather", lambda x: x[:, :, A.astype(int)], (2, 2, 3), others=(A,), axis=-1),
        moved("gather", lambda x: x[:, 1], (2, 3), others=(1.0,), axis=1),
        moved("gather", lambda x: np.array([x[0][[2, 0]], x[1][[1, 1]]]), (2, 3), others=(A,),
              batch_dims=1),
        moved("gather", lambda x: np.array([x[0][:, [2, 0]], x[1][:, [1, 1]]]), (2, 2, 3),
              others=(A,), axis=2, batch_dims=1),
        moved("gather", lambda x: np.array([x[0][[2, 0]], x[1][[1, 1]]]), (2, 3, 2), others=(A,),
              batch_dims=-1),
        moved("gather", lambda x: x[:0], (3,), others=(np.zeros(0),))],
    "gather_nd": [
        moved("gather_nd", lambda x: x[[0, 1, 0], [2, 0, 2]], (2, 3), others=(PLACES,)),
        moved("gather_nd", lambda x: x[[1, 0]], (2, 3), others=(np.array([[1], [0]]),)),
        moved("gather_nd", lambda x: x[1, 2], (2, 3), others=(np.array([1, 2]),)),
        moved("gather_nd", lambda x: np.array([x[0][2], x[1][0]]), (2, 3, 2),
              others=(np.array([[2], [0]]),), batch_dims=1),
        moved("gather_nd", lambda x: np.array([x, x]), (2, 3), others=(np.zeros((2, 0)),))],
    "scatter": [
        Case("scatter", lambda x: NAMES["scatter"]([[4], [1], [4]], x, [6]),
             lambda x: scatter([[4], [1], [4]], x, (6,)), (3,)),
        Case("scatter rows", lambda x: NAMES["scatter"]([[2.0], [2.0]], x, [4, 3]),
             lambda x: scatter([[2], [2]], x, (4, 3)), (2, 3)),
        Case("scatter places", lambda x: NAMES["scatter"](PLACES, x, [2, 3]),
             lambda x: scatter(PLACES, x, (2, 3)), (3,)),
        Case("scatter one number", lambda x: NAMES["scatter"]([[4], [-1]], x, [6]),
             lambda x: scatter([[4], [5]], np.array([x, x]), (6,)), ())],
    "tensor_scatter_add": [
        Case("add", lambda t, u: NAMES["tensor_scatter_add"](t, PLACES, u),
             lambda t, u: scatter(PLACES, u, (2, 3), t), (2, 3), (3,)),
        Case("add rows", lambda t, u: NAMES["tensor_scatter_add"](t, [[1], [1]], u),
             lambda t, u: scatter([[1], [1]], u, (2, 3), t), (2, 3), (2, 3))],
    "tensor_scatter_update": [
        Case("update", lambda t, u: NAMES["tensor_scatter_update"](t, [[0, 1], [1, 2]], u),
             lambda t, u: overwritten(t, [[0, 1], [1, 2]], u), (2, 3), (2,)),
        Case("duplicates", lambda t, u: NAMES["tensor_scatter_update"](t, PLACES, u),
             lambda t, u: overwritten(t, PLACES, u), (2, 3), (3,)),
        Case("rows", lambda t, u: NAMES["tensor_scatter_update"](t, [[1], [0], [-2]], u),
             lambda t, u: overwritten(t, [[1], [0], [0]], u), (2, 3), (3, 3)),
        Case("one number", lambda t, u: NAMES["tensor_scatter_update"](t, [[1], [3]], u),
             lambda t, u: overwritten(t, [[1], [3]], np.array([u, u])), (4,), ())],
    "overwrite": [Case("overwrite", lambda t, u: NAMES["overwrite"](t, np.array([[2]]), u),
                       lambda t, u: overwritten(t, [[2]], u), (4,), (1,))],
    "sort": [case("sort", lambda x, a=a: by_rank(x, a), s, axis=a)
             for s, a in (((4,), -1), ((3, 4), 0), ((3, 4), 1), ((2, 0), 1))]
    + [case("sort", lambda x: by_rank(x, 1)[:, ::-1], (3, 4), axis=1, **down)
       for down in ({"descending": True}, {"direction": "DESCENDING"})],
    "top_k": [part("top_k", 0, lambda x, k=k: by_rank(x, -1)[..., ::-1][..., :k], s, k=k)
              for s, k in (((4,), 2), ((2, 3), 3), ((2, 3), 0), ((2, 1, 3), 1))],
    "median": [case("median", lambda x, a=a, d=d: quantile(x, 0.5, a, d), s, axis=a, keepdims=d)
               for s, a in (((5,), None), ((4,), 0), ((2, 3), None), ((2, 3), -1), ((4, 3), 0),
                            ((2, 3, 2), [0, 2])) for d in (False, True)],
    "quantile": [case("quantile", lambda x, q=q, a=a: quantile(x, q, a, False), s, q=q, axis=a)
                 for s, a in (((5,), None), ((2, 3), 1), ((1,), 0)) for q in (0.0, 0.3, 0.5, 1.0)]
    + [case("quantile", lambda x: np.stack([quantile(x, q, 0, True) for q in (0.1, 0.9)]), (4, 2),
            q=[0.1, 0.9], axis=0, keepdims=True)],
    "percentile": [case("percentile", lambda x: quantile(x, 0.7, 1, False), (2, 4), q=70.0,
                        axis=1)],
    "boolean_mask": [
        moved("boolean_mask", lambda x: x[MASK], (2, 3), others=(MASK,)),
        moved("boolean_mask", lambda x: x[MASK], (2, 3, 2), others=(MASK,)),
        moved("boolean_mask", lambda x: x[MASK[:, 0]], (2, 3), others=(MASK[:, 0],)),
        moved("boolean_mask", lambda x: x[:, MASK[0]], (2, 3), others=(MASK[0],), axis=1),
        moved("boolean_mask", lambda x: x[:0], (3,), others=(np.zeros(3, dtype=bool),))],
    "dynamic_partition": [
        Case(f"partition {k}", lambda x, k=k: NAMES["dynamic_partition"](x, MASK * 1.0, 3)[k],
             lambda x, k=k: x[k == MASK], s) for s in ((2, 3), (2, 3, 2)) for k in (0, 1, 2)],
    "segment_sum": segments("segment_sum", lambda r: r.sum(axis=0), 0.0),
    "segment_mean": segments("segment_mean", lambda r: r.mean(axis=0), 0.0),
    "segment_max": segments("segment_max", largest, 0.0),
    "segment_min": segments("segment_min", smallest, 0.0),
    "segment_prod": segments("segment_prod", lambda r: r.prod(axis=0), 1.0),
    "unsorted_segment_sum": unsorted("unsorted_segment_sum", lambda r: r.sum(axis=0), 0.0),
    "unsorted_segment_mean": unsorted("unsorted_segment_mean", lambda r: r.mean(axis=0), 0.0),
    "unsorted_segment_sqrt_n": unsorted("unsorted_segment_sqrt_n", root_n, 0.0),
    "unsorted_segment_max": unsorted("unsorted_segment_max", largest, LOWEST),
    "unsorted_segment_min": unsorted("unsorted_segment_min", smallest, HIGHEST),
    "unsorted_segment_prod": unsorted("unsorted_segment_prod", lambda r: r.prod(axis=0), 1.0),
    "segment_largest": [
        moved("segment_largest", lambda x: np.array([largest(x[:2]), x[2]]), (3, 2),
              others=(np.array([0, 0, 1]),), count=2)],
    "segment_smallest": [
        moved("segment_smallest", lambda x: np.array([smallest(x[:2]), x[2]]), (3, 2),
              others=(np.array([0, 0, 1]),), count=2)],
}

CASES = [pytest.param(c, id=f"{name}-{c.label}") for name, cases in ARRAYS.items() for c in cases]


@folded
@pytest.mark.parametrize("case", CASES)
def test_values_and_first_derivatives(case: Case) -> None:
    with np.errstate(all="ignore"):
        check_first_derivatives(case)


@folded
@pytest.mark.parametrize("case", CASES)
def test_second_derivatives(case: Case) -> None:
    check_second_derivatives(case)


def test_exclusive_log_sums_start_at_log_of_nothing() -> None:
    x = np.array([[1.0, -2.0, 3.0, 0.5], [0.3, 0.1, -30.0, 30.0]])
    for reverse in (False, True):
        y = NAMES["cumulative_logsumexp"](x, axis=1, exclusive=True, reverse=reverse)
        inner = NAMES["cumulative_logsumexp"](x, axis=1, reverse=reverse)
        first = -1 if reverse else 0
        np.testing.assert_array_equal(y[:, first], [-INF, -INF])
        rest, kept = (S, slice(1, None)), (S, slice(0, -1))
        if reverse:
            rest, kept = kept, rest
        np.testing.assert_array_equal(y[rest], inner[kept])
        with Record():
            t = leaf(x)
            z = NAMES["cumulative_logsumexp"](t, axis=1, exclusive=True, reverse=reverse)
            total = NAMES["sum"](NAMES["index"](z, pattern=rest))
            got = calculus.gradient([total], [t])[0]
        weights = np.exp(x[:, None, :] - inner[:, :, None])  # d inner[k]/dx[i], where i counts
        order = np.arange(4)
        among = order <= order[:, None] if not reverse else order >= order[:, None]
        want = np.where(among, weights, 0.0)[kept].sum(axis=1)
        close(got, want, "gradient")


@pytest.mark.parametrize("reverse", [False, True])
def test_excess_over_what_came_before(reverse: bool) -> None:
    x = np.array([[0.5, -1.0, 2.0, 0.3], [1.5, 0.7, -0.2, 3.0]])
    one = (S, slice(None, -1)) if reverse else (S, slice(1, None))

    def theirs(v: Any) -> Any:
        sums = scanned(logaddexp, -INF, v[:, ::-1] if reverse else v, 1, False, False)
        if reverse:
            return (v[:, :-1] - sums[:, ::-1][:, 1:])
        return v[:, 1:] - sums[:, :-1]

    with np.errstate(divide="ignore"), Record():
        t = leaf(x)
        z = NAMES["excess"](t, axis=1, reverse=reverse)
        assert np.all(z.value[:, -1 if reverse else 0] == INF)
        y = NAMES["index"](z, pattern=one)
        close(y.value, theirs(x), "value")
        want = complex_step(theirs, [x], 0)
        for mode in ("reverse", "forward"):
            close(calculus.jacobian(y, [t], mode=mode)[0], want, mode)
        total = NAMES["sum"](NAMES["square"](y))
        second = difference(lambda v: complex_step(lambda u: np.sum(theirs(u) ** 2), [v], 0),
                            [x], 0)
        for mode in ("reverse", "forward"):
            close(calculus.hessian(total, [t], mode=mode).blocks[0, 0], second, mode, rtol=1e-8)


def test_log_sums_keep_their_digits_far_from_zero() -> None:
    """Slopes are those of the differences, however large the numbers are."""
    x = np.array([0.5, -1.0, 2.0, 0.25, 1.5])
    near, far = (loads("sum(cumulative_logsumexp(x)*[1, -2, 3, -4, 5])").gradient(
        at={"x": x + shift})["x"] for shift in (0.0, 2.0**40))
    np.testing.assert_allclose(far, near, rtol=1e-14)


# --- products with zeros ----------------------------------------------------------------------


@pytest.mark.parametrize("x", [[2.0, 0.0, 3.0], [0.0, 0.0, 3.0, 2.0], [0.0], [1e-200, 1e150, 1e150],
                               [4.0, -0.0, 5.0, 0.0, 7.0]])
def test_products_of_zeros_are_exact_to_second_order(x: list[float]) -> None:
    """Against the products of all other elements. TensorFlow 2.21 divides, and answers [1, 0, 0]
    for the sum of cumprod([2, 0, 3]) where the slope in the zero is 2 + 2*3.
    """
    n = len(x)

    def prod(k: int, *without: int) -> float:
        return math.prod(v for i, v in enumerate(x[:k + 1]) if i not in without)

    with Record():
        t = leaf(np.array(x))
        y = NAMES["cumprod"](t)
        np.testing.assert_array_equal(y.value, [prod(k) for k in range(n)])
        want = [[prod(k, i) if i <= k else 0.0 for i in range(n)] for k in range(n)]
        for mode in ("reverse", "forward"):
            close(calculus.jacobian(y, [t], mode=mode)[0], want, mode, rtol=1e-15)
        total = NAMES["sum"](y)
        second = [[sum(prod(k, i, j) for k in range(max(i, j), n)) if i != j else 0.0
                   for j in range(n)] for i in range(n)]
        for mode in ("reverse", "forward"):
            close(calculus.hessian(total, [t], mode=mode).blocks[0, 0], second, mode, rtol=1e-15)


def test_a_product_overflows_only_where_its_value_does() -> None:
    np.testing.assert_array_equal(NAMES["cumprod"](np.array([1e-300, 1e200, 1e200])),
                                  [1e-300, 1e-300 * 1e200, 1e-300 * 1e200 * 1e200])


def test_segment_products_with_zeros_are_exact() -> None:
    x = np.array([3.0, 0.0, 2.0, 0.0, 5.0, 0.0])
    program = loads("unsorted_segment_prod(x, [0, 0, 1, 2, 1, 2], 3)")
    np.testing.assert_array_equal(program.value(at={"x": x}), [0.0, 10.0, 0.0])
    np.testing.assert_array_equal(program.gradient(at={"x": x})["x"], [0, 3, 5, 0, 2, 0])


# --- what TensorFlow answers ------------------------------------------------------------------

X = [[1.0, 5.0, 5.0], [-2.0, 0.0, 3.0]]
V = [2.0, 0.0, 3.0, -1.5, 0.5]
G = [[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]]
H = [[1.0, 2.0], [1.0, -4.0], [5.0, 6.0]]
U = [[1.0, 0.0], [3.0, -4.0], [1.0, 6.0], [7.0, 8.0]]
L, R = "exclusive=true", "reverse=true"

# TensorFlow 2.21 on float64: (text, x, its value y, the gradient of sum(k*y^2), k = 1, 2, ...).
TENSORFLOW: list[tuple[str, Any, Any, Any]] = [
    ("cumsum(x, axis=1)", X, [[1, 6, 11], [-2, -2, 1]], [[92, 90, 66], [-24, -8, 12]]),
    ("cumprod(x)", V, [2, 0, 0, 0, 0], [4, 0, 0, 0, 0]),
    ("cumprod(x, axis=1)", X, [[1, 5, 25], [-2, 0, 0]], [[3852, 770, 750], [-16, 0, 0]]),
    ("cumulative_logsumexp(x, axis=1)", X,
     [[1, 5.0181499279178094, 5.702263321439095], [-2, 0.1269280110429725,
     3.0549852353771474]],
     [[2.671508474554633, 36.66312044226164, 16.95155072348954], [-15.614901514485156,
     2.845514313082463, 34.69849013635818]]),
    ("cumsum(x, axis=1, reverse=true)", X, [[11, 10, 5], [1, 3, 3]], [[22, 62, 92], [8, 38, 74]]),
    ("cumprod(x, reverse=true)", V, [0, 0, -2.25, -0.75, 0.5], [0, 0, 10.125, -23.25, 74.75]),
    ("cumprod(x, axis=1, reverse=true)", X,
     [[25, 25, 5], [0, 0, 3]],
     [[1250, 750, 780], [0, 0, 36]]),
    ("cumulative_logsumexp(x, axis=1, reverse=true)", X,
     [[5.702263321439095, 5.693147180559945, 5], [3.0549852353771474, 3.048587351573742, 3]],
     [[0.10349282721849831, 17.036811268949734, 47.03681126894974], [0.15586439165804755,
     2.5975099048517167, 88.1723811022448]]),
    ("cumsum(x, axis=1, exclusive=true)", X,
     [[0, 1, 6], [0, -2, -2]],
     [[40, 36, 0], [-44, -24, 0]]),
    ("cumprod(x, exclusive=true)", V, [1, 2, 0, 0, 0], [8, 0, 0, 0, 0]),
    ("cumprod(x, axis=1, exclusive=true)", X, [[1, 1, 5], [1, -2, 0]], [[154, 30, 0], [-20, 0, 0]]),
    ("cumulative_logsumexp(x, axis=1, exclusive=true)", X,
     [[-INF, 1, 5.0181499279178094], [-INF, -2, 0.1269280110429725]],
     [[4.541544989348706, 29.567354578158156, 0], [-19.818437722366653, 1.3415738548823348,
     0]]),
    ("cumsum(x, axis=1, exclusive=true, reverse=true)", X,
     [[10, 5, 0], [3, 3, 0]],
     [[0, 20, 40], [0, 24, 54]]),
    ("cumprod(x, exclusive=true, reverse=true)", V,
     [0, -2.25, -0.75, 0.5, 1],
     [0, 0, 6.75, -15.75, 51.25]),
    ("cumprod(x, axis=1, exclusive=true, reverse=true)", X,
     [[25, 5, 1], [0, 3, 1]],
     [[0, 250, 270], [0, 0, 30]]),
    ("cumulative_logsumexp(x, axis=1, exclusive=true, reverse=true)", X,
     [[5.693147180559945, 5, -INF], [3.048587351573742, 3, -INF]],
     [[0, 5.6931471805599445, 25.69314718055994], [0, 1.1566553368517636,
     53.23204347573819]]),
    ("cumprod(x)", [2, 0, 3, 0, 5], [2, 0, 0, 0, 0], [4, 0, 0, 0, 0]),
    ("gather(x, [2, 0, 2], axis=1)", X, [[5, 1, 5], [3, -2, 3]], [[4, 0, 40], [-20, 0, 60]]),
    ("gather(x, [[1, 0], [1, 1]])", X,
     [[[-2, 0, 3], [1, 5, 5]], [[-2, 0, 3], [-2, 0, 3]]],
     [[8, 50, 60], [-72, 0, 144]]),
    ("gather(x, [[2, 0], [1, 1]], axis=1, batch_dims=1)", X,
     [[5, 1], [0, 0]],
     [[4, 0, 10], [0, 0, 0]]),
    ("embedding_lookup(x, [1, 1, 0])", X,
     [[-2, 0, 3], [-2, 0, 3], [1, 5, 5]],
     [[14, 80, 90], [-20, 0, 54]]),
    ("gather_nd(x, [[0, 2], [1, 0], [0, 2]])", X, [5, -2, 5], [[0, 0, 40], [-8, 0, 0]]),
    ("gather_nd(x, [[[1]], [[0]]])", X, [[[-2, 0, 3]], [[1, 5, 5]]], [[8, 50, 60], [-4, 0, 18]]),
    ("gather_nd(x, [[2], [0]], batch_dims=1)", X, [5, -2], [[0, 0, 10], [-8, 0, 0]]),
    ("scatter_nd([[4], [1], [4]], x, [6])", [1, 2, 4], [0, 2, 0, 0, 5, 0], [50, 8, 50]),
    ("scatter_nd([[2], [2]], x, [4, 3])", X,
     [[0, 0, 0], [0, 0, 0], [-1, 5, 8], [0, 0, 0]],
     [[-14, 80, 144], [-14, 80, 144]]),
    ("tensor_scatter_nd_add(x, [[0, 1], [1, 2], [0, 1]], [10, 20, 30])", X,
     [[1, 45, 5], [-2, 0, 23]],
     [[2, 180, 30], [-16, 0, 276]]),
    ("tensor_scatter_nd_add(ones(5), [[1], [3], [1]], x)", [1, 2, 4],
     [1, 6, 1, 3, 1],
     [24, 24, 24]),
    ("tensor_scatter_nd_update(x, [[0, 1], [1, 2]], [10, 20])", X,
     [[1, 10, 5], [-2, 0, 20]],
     [[2, 0, 30], [-16, 0, 0]]),
    ("tensor_scatter_nd_update(ones(5), [[1], [3], [0]], x)", [1, 2, 4],
     [4, 1, 1, 2, 1],
     [4, 16, 8]),
    ("top_k(x, 2)[0]", X, [[5, 5], [3, 0]], [[0, 10, 20], [0, 0, 18]]),
    ("top_k(x, 2)[1]", X, [[1, 2], [2, 1]], None),
    ("pad(x, [[1, 0], [0, 2]], constant_values=7)", X,
     [[7, 7, 7, 7, 7], [1, 5, 5, 7, 7], [-2, 0, 3, 7, 7]],
     [[12, 70, 80], [-44, 0, 78]]),
    ('pad(x, [[1, 0], [2, 1]], "REFLECT")', X,
     [[3, 0, -2, 0, 3, 0], [5, 5, 1, 5, 5, 5], [3, 0, -2, 0, 3, 0]],
     [[18, 300, 180], [-72, 0, 216]]),
    ('pad(x, [[1, 2], [3, 1]], "SYMMETRIC")', X,
     [[5, 5, 1, 1, 5, 5, 5], [5, 5, 1, 1, 5, 5, 5], [3, 0, -2, -2, 0, 3, 3], [3, 0, -2, -2, 0,
     3, 3], [5, 5, 1, 1, 5, 5, 5]],
     [[182, 910, 1470], [-336, 0, 798]]),
    ("tile(x, [2, 3])", X,
     [[1, 5, 5, 1, 5, 5, 1, 5, 5], [-2, 0, 3, -2, 0, 3, -2, 0, 3], [1, 5, 5, 1, 5, 5, 1, 5,
     5], [-2, 0, 3, -2, 0, 3, -2, 0, 3]],
     [[156, 840, 900], [-528, 0, 864]]),
    ("repeat(x, [2, 0, 3], axis=1)", X,
     [[1, 1, 5, 5, 5], [-2, -2, 3, 3, 3]],
     [[6, 0, 120], [-52, 0, 162]]),
    ("repeat(x, 2)", X, [1, 1, 5, 5, 5, 5, -2, -2, 0, 0, 3, 3], [[6, 70, 110], [-60, 0, 138]]),
    ("roll(x, [1, -2], [0, 1])", X, [[3, -2, 0], [5, 1, 5]], [[10, 60, 40], [-8, 0, 6]]),
    ("roll(x, 4, 1)", X, [[5, 1, 5], [3, -2, 0]], [[4, 30, 10], [-20, 0, 24]]),
    ("split(x, [1, 2], axis=1)[1]", X, [[5, 5], [0, 3]], [[0, 10, 20], [0, 0, 24]]),
    ("split(x, 2)[1]", X, [[-2, 0, 3]], [[0, 0, 0], [-4, 0, 18]]),
    ("unstack(x, axis=1)[2]", X, [5, 3], [[0, 0, 10], [0, 0, 12]]),
    ("segment_mean(x, [0, 0, 2])", G, [[2, -1], [0, 0], [5, 6]], [[2, -2], [2, -2], [50, 72]]),
    ("segment_sum(x, [0, 0, 2])", G, [[4, -2], [0, 0], [5, 6]], [[8, -8], [8, -8], [50, 72]]),
    ("segment_max(x, [0, 0, 2])", H, [[1, 2], [0, 0], [5, 6]], [[1, 8], [1, 0], [50, 72]]),
    ("segment_min(x, [0, 0, 2])", H, [[1, -4], [0, 0], [5, 6]], [[1, 0], [1, -16], [50, 72]]),
    ("segment_prod(x, [0, 0, 2])", [[1, 0], [3, -4], [5, 6]],
     [[3, 0], [1, 1], [5, 6]],
     [[18, 0], [6, 0], [50, 72]]),
    ("unsorted_segment_sum(x, [2, 0, 2, -1], 4)", U,
     [[3, -4], [0, 0], [2, 6], [0, 0]],
     [[20, 72], [6, -16], [20, 72], [0, 0]]),
    ("unsorted_segment_mean(x, [2, 0, 2, -1], 4)", U,
     [[3, -4], [0, 0], [1, 3], [0, 0]],
     [[5, 18], [6, -16], [5, 18], [0, 0]]),
    ("unsorted_segment_max(x, [2, 0, 2, -1], 4)", U,
     [[3, -4], [LOWEST, LOWEST], [1, 6], [LOWEST, LOWEST]],
     [[5, 0], [6, -16], [5, 72], [0, 0]]),
    ("unsorted_segment_min(x, [2, 0, 2, -1], 4)", U,
     [[3, -4], [HIGHEST, HIGHEST], [1, 0], [HIGHEST, HIGHEST]],
     [[5, 0], [6, -16], [5, 0], [0, 0]]),
    ("unsorted_segment_prod(x, [2, 0, 2, -1], 4)", U,
     [[3, -4], [1, 1], [1, 0], [1, 1]],
     [[10, 0], [6, -16], [10, 0], [0, 0]]),
    ("unsorted_segment_sqrt_n(x, [2, 0, 2, -1], 4)", U,
     [[3, -4], [0, 0], [1.414213562373095, 4.242640687119285], [0, 0]],
     [[9.999999999999998, 36], [6, -16], [9.999999999999998, 36], [0, 0]]),
    ("unsorted_segment_sum(x, [[2, 0, 2], [0, 1, -1]], 3)", X, [3, 0, 6], [[36, 6, 36], [6, 0, 0]]),
    ('sort(x, axis=1, direction="DESCENDING")', X,
     [[5, 5, 1], [3, 0, -2]],
     [[6, 10, 20], [-24, 0, 24]]),
    ("sort(x, axis=0)", X, [[-2, 0, 3], [1, 5, 5]], [[8, 50, 60], [-4, 0, 18]]),
    ('argsort(x, axis=1, direction="DESCENDING")', X, [[1, 2, 0], [2, 1, 0]], None),
    ("argsort(x, axis=1)", X, [[0, 1, 2], [0, 1, 2]], None),
    ("reduce_sum(x, axis=1, keepdims=true)", X, [[11], [1]], [[22, 22, 22], [4, 4, 4]]),
    ("reduce_mean(x, axis=1, keepdims=true)", X,
     [[3.6666666666666665], [0.3333333333333333]],
     [[2.444444444444444, 2.444444444444444, 2.444444444444444], [0.4444444444444444,
     0.4444444444444444, 0.4444444444444444]]),
    ("reduce_max(x, axis=1, keepdims=true)", X, [[5], [3]], [[0, 5, 5], [0, 0, 12]]),
    ("reduce_min(x, axis=1, keepdims=true)", X, [[1], [-2]], [[2, 0, 0], [-8, 0, 0]]),
    ("reduce_prod(x, axis=1, keepdims=true)", X, [[25], [0]], [[1250, 250, 250], [0, 0, 0]]),
    ("reduce_logsumexp(x, axis=1, keepdims=true)", X,
     [[5.702263321439095], [3.0549852353771474]],
     [[0.10349282721849834, 5.650516907829846, 5.650516907829846], [0.07793219582902376,
     0.5758453668935059, 11.56616337878606]]),
    ("reduce_variance(x, axis=1, keepdims=true)", X,
     [[3.555555555555556], [4.222222222222222]],
     [[-12.641975308641976, 6.320987654320988, 6.320987654320988], [-26.271604938271608,
     -3.753086419753085, 30.02469135802469]]),
    ("reduce_std(x, axis=1, keepdims=true)", X,
     [[1.8856180831641267], [2.0548046676563256]],
     [[-1.7777777777777777, 0.8888888888888888, 0.8888888888888888], [-3.111111111111111,
     -0.4444444444444444, 3.5555555555555554]]),
    ("boolean_mask(x, [true, false, true], axis=1)", X,
     [[1, 5], [-2, 3]],
     [[2, 0, 20], [-12, 0, 24]]),
    ("boolean_mask(x, [false, true])", X, [[-2, 0, 3]], [[0, 0, 0], [-4, 0, 18]]),
    ("reverse(x, [0, 1])", X, [[3, 0, -2], [5, 5, 1]], [[12, 50, 40], [-12, 0, 6]]),
    ('meshgrid(x[0], x[1], indexing="ij")[1]', X,
     [[-2, 0, 3], [-2, 0, 3], [-2, 0, 3]],
     [[0, 0, 0], [-48, 0, 108]]),
    ("moveaxis(x[:, :, none]*x[1], 0, -1)", X,
     [[[-2, 4], [0, 0], [3, -6]], [[-10, 0], [0, 0], [15, 0]], [[-10, -6], [0, 0], [15, 9]]],
     [[98, 1270, 2050], [-2788, 0, 6654]]),
    ("zero_fraction(x)", X, 0.1666666716337204, None),
    ("count_nonzero(x, axis=1)", X, [3, 2], None),
    ("in_top_k([1, 0], x, 1)", X, [1, 0], None),
    ("in_top_k([2, 2], x, 1)", X, [1, 1], None),
    ("histogram_fixed_width(x, [0, 5], nbins=5)", X, [2, 1, 0, 1, 2], None),
    ("dynamic_partition(x, [[0, 1, 0], [1, 1, 0]], 2)[1]", X, [5, -2, 0], [[0, 10, 0], [-8, 0, 0]]),
    ("take_along_axis(x, [[2], [0]], 1)", X, [[5], [-2]], [[0, 0, 10], [-8, 0, 0]]),
    ("diff(x, axis=1)", X, [[4, 0], [2, 3]], [[-8, 8, 0], [-12, -12, 24]]),
    ("tile(x, [])", 3.0, 3, 6),
    ("reverse(x, [])", 3.0, 3, 6),
    ("repeat(x, 3)", 3.0, [3, 3, 3], 36),
]


@folded
@pytest.mark.parametrize(("text", "x", "value", "slope"), TENSORFLOW, ids=lambda v: v if isinstance(
    v, str) else "")
def test_as_tensorflow(text: str, x: Any, value: Any, slope: Any) -> None:
    at = {"x": np.array(x) if np.ndim(x) else x}
    np.testing.assert_allclose(loads(f"y = {text}\ny").value("y", at=at), value, rtol=1e-12)
    if slope is None:
        assert loads(f"y = {text}\ncast(y, \"float64\")").gradient(at=at, wrt="x")["x"] is None
        return
    k = np.arange(1.0, np.size(value) + 1).reshape(np.shape(value))
    program = loads(f"input k\ny = {text}\nsum(k*y^2)")
    got = program.gradient(at={**at, "k": k if k.shape else float(k)}, wrt="x")["x"]
    np.testing.assert_allclose(got, slope, rtol=1e-12, atol=1e-15)


# TensorFlow 2.21's recorded answers: (text, value, gradient of the sum), all at X.
RECORDED: list[tuple[str, Any, Any]] = [
    ("cumsum(x, axis=1, exclusive=true, reverse=true)", [[10, 5, 0], [3, 3, 0]],
     [[0, 1, 2], [0, 1, 2]]),
    ("reshape(x, [6])[2]*7", 35, [[0, 0, 7], [0, 0, 0]]),
    ("stack([x, 3*x])", [X, [[3, 15, 15], [-6, 0, 9]]], [[4, 4, 4], [4, 4, 4]]),
    ("x[:, 1:3:2]", [[5], [0]], [[0, 1, 0], [0, 1, 0]]),
    ("x[:, none, 0]", [[1], [-2]], [[1, 0, 0], [1, 0, 0]]),
    ("broadcast_to(x, [4, 2, 3])", [X] * 4, [[4, 4, 4], [4, 4, 4]]),
    ("reverse(x, [1])*[1, 2, 3]", [[5, 10, 3], [3, 0, -6]], [[3, 2, 1], [3, 2, 1]]),
    ("sort(x, axis=1)*[1, 2, 3]", [[1, 10, 15], [-2, 0, 9]], [[1, 2, 3], [1, 2, 3]]),
    ("squeeze(expand_dims(x, 0))", X, [[1, 1, 1], [1, 1, 1]]),
    ("where(x > 0, x*x, -x)", [[1, 25, 25], [2, 0, 9]], [[2, 10, 10], [-1, -1, 6]]),
    ("boolean_mask(x, x > 0)^2", [1, 25, 25, 9], [[2, 10, 10], [0, 0, 6]]),
    ("segment_sum(x, [0, 0])*3", [[-3, 15, 24]], [[3, 3, 3], [3, 3, 3]]),
    ("sum(one_hot([0, 1], 3)*x)", 1, [[1, 0, 0], [0, 1, 0]]),
    ("zero_fraction(x)", 0.1666666716337204, None),
    ("a, b = meshgrid(x[0], x[1])\na + b", [[-1, 3, 3], [1, 5, 5], [4, 8, 8]],
     [[3, 3, 3], [3, 3, 3]]),
]


@pytest.mark.parametrize(("text", "value", "slope"), RECORDED)
def test_as_tensorflow_recorded(text: str, value: Any, slope: Any) -> None:
    program = loads(text)
    at = {"x": np.array(X)}
    np.testing.assert_allclose(program.value(at=at), value, rtol=1e-12)
    got = program.gradient(at=at, wrt="x")["x"]
    assert (got is None) == (slope is None)
    if slope is not None:
        np.testing.assert_allclose(got, slope, rtol=1e-12)


def test_the_last_of_duplicate_updates_gets_the_derivative() -> None:
    """TensorFlow 2.21 answers 16 for both updates of one place, also for the one that is lost."""
    program = loads("input k\ny = tensor_scatter_update(ones(5), [[1], [3], [1]], x)\nsum(k*y^2)")
    got = program.gradient(at={"x": [1.0, 2.0, 4.0], "k": np.arange(1.0, 6.0)}, wrt="x")["x"]
    np.testing.assert_array_equal(got, [0, 16, 16])


# --- rows without a derivative ----------------------------------------------------------------

T, F = True, False
Y = np.array([[-2.5, 0.0, 0.5], [1.5, 2.0, 0.0]])

# name: operands, value, attributes; NumPy's functions or counted by hand.
ARRAY_STEPS: dict[str, list[tuple[tuple[Any, ...], Any, dict[str, Any]]]] = {
    "argsort": [((Y,), np.argsort(Y, axis=-1, kind="stable"), {}),
                ((np.array([5.0, 1.0, 5.0]),), np.array([0, 2, 1]), {"descending": True}),
                ((np.array([5.0, 1.0, 5.0, 1.0]),), np.array([1, 3, 0, 2]), {"axis": 0})],
    "running_place": [((np.array([1.0, 3.0, 3.0, 2.0]),), np.array([0, 1, 1, 1]), {"axis": -1}),
                      ((np.array([1.0, 3.0, 3.0, 2.0]),), np.array([2, 2, 2, 3]),
                       {"axis": -1, "reverse": True}),
                      ((np.array([1.0, NAN, 3.0, NAN]),), np.array([0, 1, 1, 1]), {"axis": -1}),
                      ((np.array([1.0, 1.0, 0.0]),), np.array([0, 0, 2]),
                       {"axis": -1, "largest": False})],
    "segment_share": [((np.array([2.0, 2.0, 1.0, 5.0]), np.array([0, 0, 0, 1]),
                        np.array([2.0, 5.0])), np.array([0.5, 0.5, 0.0, 1.0]), {"count": 2})],
    "isinf": [((np.array([1.0, INF, -INF, NAN]),), np.array([F, T, T, F]), {})],
    "logical_xor": [((np.array([T, T, F]), np.array([T, F, F])), np.array([F, T, F]), {})],
    "any": [((Y,), np.array([T, T]), {"axis": 1}), ((Y == 0,), T, {}),
            ((Y == 9,), np.array([[F]]), {"keepdims": True}), ((0.5,), T, {}),
            ((np.zeros((0, 2)),), np.array([F, F]), {"axis": 0})],
    "all": [((Y,), np.array([T, F, F]), {"axis": 0}), ((Y > -9,), T, {}), ((0.0,), F, {})],
    "count_nonzero": [((Y,), np.array([2, 2]), {"axis": 1}), ((Y,), 4, {}),
                      ((Y,), np.array([[2, 1, 1]]), {"axis": 0, "keepdims": True}),
                      ((0.5,), 1, {})],
    "zero_fraction": [((Y,), np.float32(2) / np.float32(6), {})],
    "argwhere": [((Y,), np.argwhere(Y), {}), ((Y == 9,), np.zeros((0, 2), dtype=np.int64), {})],
    "isclose": [((Y, Y * (1 + 1e-6)), np.ones((2, 3), dtype=bool), {}),
                ((Y, Y[0]), np.array([[T, T, T], [F, F, F]]), {}),
                ((Y, Y + 0.1), np.isclose(Y, Y + 0.1, 0.1, 0.01), {"rtol": 0.1, "atol": 0.01}),
                ((np.array([NAN]), np.array([NAN])), np.array([T]), {"equal_nan": True})],
    "searchsorted": [
        ((np.array([1.0, 2.0, 2.0, 3.0]), Y), np.searchsorted([1.0, 2.0, 2.0, 3.0], Y), {}),
        ((np.array([1.0, 2.0, 2.0, 3.0]), 2.0), 3, {"side": "right"}),
        ((np.array([[1.0, 2.0], [5.0, 6.0]]), Y[:, :2]), np.array([[0, 0], [0, 0]]), {}),
        ((np.array([[1.0, 2.0], [0.0, 1.0]]), Y[:, :2]), np.array([[0, 0], [2, 2]]), {}),
        ((np.zeros(0), Y[0]), np.array([0, 0, 0]), {})],
    "shuffle": [((Y,), np.random.default_rng(3).permutation(Y), {"seed": 3.0}), ((0.5,), 0.5, {})],
    "one_hot": [
        ((np.array([0.0, 2.0, -1.0, 5.0]),), np.eye(3)[[0, 2, 0, 0]] * [[1], [1], [0], [0]],
         {"depth": 3.0}),
        ((np.array([0, 2]),), np.eye(3)[[0, 2]].T, {"depth": 3, "axis": 0}),
        ((np.array([[1], [0]]),), np.array([[[5.0], [7.0]], [[7.0], [5.0]]]),
         {"depth": 2, "axis": 1, "on_value": 7.0, "off_value": 5.0}),
        ((1.0,), np.array([F, T]), {"depth": 2, "dtype": "bool"})],
    "sequence_mask": [((np.array([1.0, 3.0]),), np.array([[T, F, F], [T, T, T]]), {}),
                      ((np.array([[2], [0]]),), np.array([[[1, 1, 0]], [[0, 0, 0]]]),
                       {"maxlen": 3, "dtype": "int64"})],
    "in_top_k": [((np.array([1.0, 2.0]), Y), np.array([T, F]), {"k": 2}),
                 ((np.array([2, 2]), np.array(X)), np.array([T, T]), {}),
                 ((np.array([5, 0]), np.array([[1.0, INF], [NAN, 1.0]])), np.array([F, F]), {})],
    "bincount": [((np.array([1.0, 1.0, 4.0]),), np.array([0, 2, 0, 0, 1]), {}),
                 ((np.array([1, 1]),), np.array([0, 2, 0]), {"minlength": 3}),
                 ((np.zeros(0),), np.zeros(0, dtype=np.int64), {})],
    "histogram": [((Y,), np.histogram(Y, 4)[0], {"bins": 4}),
                  ((Y,), np.histogram(Y, 3, (0, 2))[0], {"bins": 3.0, "low": 0, "high": 2.0})],
    "histogram_fixed_width": [((np.array([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0]),),
                               np.array([2, 1, 1, 0, 2]),
                               {"value_range": [0.0, 5.0], "nbins": 5})],
    "unique": [((np.array([2.0, 1.0, 2.0, 3.0, 1.0]),), np.array([2.0, 1.0, 3.0]), {})],
    "nonzero": [], "allclose": [],  # composites: see below
}

STEP_CASES = [pytest.param(name, *rest, id=f"{name}-{k}") for name, cases in ARRAY_STEPS.items()
              for k, rest in enumerate(cases)]


@folded
@pytest.mark.parametrize(("name", "arguments", "want", "attributes"), STEP_CASES)
def test_steps_have_a_value_and_no_derivative(name: str, arguments: tuple[Any, ...], want: Any,
                                              attributes: dict[str, Any]) -> None:
    op = TABLE[name]
    got = op(*arguments, **attributes)
    np.testing.assert_array_equal(got, want)
    assert np.shape(got) == np.shape(want)
    assert np.asarray(got).dtype == np.asarray(want).dtype
    with Record():
        xs = [leaf(a) for a in arguments]
        y = op(*xs, **attributes)
        np.testing.assert_array_equal(y.value, want)
        assert op.kind in (STOP, UNREGISTERED)
        if op.kind == STOP:
            assert calculus.gradient([y], xs) == [None] * len(xs)
            assert calculus.jvp(y, [xs[0]], [np.ones(xs[0].shape)]) is None


@pytest.mark.parametrize("name", ["isinf", "logical_xor"])
def test_steps_on_scalars_agree_with_arrays(name: str) -> None:
    arguments, want, _ = ARRAY_STEPS[name][0]
    got = [TABLE[name](*scalars) for scalars in zip(*[a.tolist() for a in arguments], strict=True)]
    assert got == want.tolist()
    assert TABLE[name].kind == STOP != ELEMENTWISE


def test_composites_without_a_derivative() -> None:
    for got, want in zip(NAMES["nonzero"](Y), np.nonzero(Y), strict=True):
        np.testing.assert_array_equal(got, want)
    assert NAMES["nonzero"](0.5) == []
    assert NAMES["allclose"](Y, Y + 1e-9) is True
    assert NAMES["allclose"](Y, Y + 1e-9, rtol=0.0, atol=1e-12) is False
    with Record():
        x = leaf(Y)
        assert calculus.gradient([NAMES["allclose"](x, Y)], [x]) == [None]
        assert calculus.gradient(NAMES["nonzero"](x), [x]) == [None]


def test_a_derivative_through_unique_is_an_error() -> None:
    """TensorFlow: LookupError, the gradient registry has no entry for Unique."""
    with Record():
        x = leaf(np.array([2.0, 1.0, 2.0]))
        y = NAMES["unique"](x)
        with pytest.raises(GradcliError, match="unique") as caught:
            calculus.gradient([y], [x])
        assert caught.value.code == "E0503"


# --- batch axes -------------------------------------------------------------------------------

BATCHED = [(c.label, c, k) for name in (
    "cumsum", "shifted", "recurrence", "running_product", "running_logsumexp", "cummax", "cummin",
    "flip", "roll", "take_along_axis", "add_along_axis", "overwrite", "sort", "segment_largest",
    "segment_smallest", "gather", "gather_nd", "scatter", "boolean_mask", "median", "repeat",
    "tile", "pad", "segment_prod", "unsorted_segment_mean", "tensor_scatter_update", "diff")
    for c in ARRAYS[name] if 0 not in c.shapes[0]
    for k in itertools.product((False, True), repeat=len(c.shapes)) if any(k)]


@folded
@pytest.mark.parametrize(("label", "case", "which"), BATCHED)
def test_leading_batch_axes_are_left_alone(label: str, case: Case, which: tuple[bool, ...]
                                           ) -> None:
    """On any of the operands, two of them: the same as one by one."""
    arrays = arrays_of(case)
    factors = np.array([[1.0, -0.5, 2.0], [0.3, -1.7, 0.9]])
    batched = [np.multiply.outer(factors, a) if wide else a
               for a, wide in zip(arrays, which, strict=True)]
    with Record():
        y = case.ours(*[Tensor(b if b.shape else float(b), None, 2) if wide else plain(b)
                        for b, wide in zip(batched, which, strict=True)])
    assert y.batch == 2
    for i, j in itertools.product(range(2), range(3)):
        want = case.ours(*[plain(b[i, j]) if wide else plain(b)
                           for b, wide in zip(batched, which, strict=True)])
        np.testing.assert_allclose(y.value[i, j], want, rtol=1e-15, err_msg=label)


@folded
@pytest.mark.parametrize(("name", "arguments", "want", "attributes"), [
    p for p in STEP_CASES if p.values[0] in (
        "argsort", "running_place", "segment_share", "any", "all", "count_nonzero",
        "zero_fraction", "isclose", "searchsorted", "one_hot", "in_top_k", "shuffle")])
def test_steps_leave_batch_axes_alone(name: str, arguments: tuple[Any, ...], want: Any,
                                      attributes: dict[str, Any]) -> None:
    for k, role in enumerate(TABLE[name].roles):
        if role == "index" and name == "segment_share":
            continue
        wide = [np.stack([a, a]) if j == k else a for j, a in enumerate(arguments)]
        y = TABLE[name](*[Tensor(a, None, 1) if j == k else a for j, a in enumerate(wide)],
                        **attributes)
        np.testing.assert_array_equal(y.value, np.stack([want, want]))


@pytest.mark.parametrize("case", [pytest.param(c, id=f"{name}-{c.label}") for name, cases in {
    name: ARRAYS[name][:6] for name in (
        "cumsum", "cumprod", "cumulative_logsumexp", "cummax", "sort", "recurrence", "overwrite",
        "take_along_axis", "segment_largest", "unsorted_segment_prod", "roll")}.items()
    for c in cases])
def test_a_recorded_jacobian_has_a_derivative(case: Case) -> None:
    """The gradient of the sum of squares of the Jacobian of y^2, which has seed axes inside."""
    arrays = arrays_of(case)

    def squares(*values: Any) -> Any:
        return sum(np.sum(complex_step(lambda *v: case.theirs(*v) ** 2, values, k) ** 2)
                   for k in range(len(values)))

    with Record():
        xs = [leaf(plain(a)) for a in arrays]
        y = NAMES["square"](case.ours(*xs))
        total: Any = 0.0
        for jacobian in calculus.jacobian(y, xs, emit=True):
            total = NAMES["add"](NAMES["sum"](NAMES["square"](jacobian)), total)
        got = calculus.gradient([total], xs)
    for k, g in enumerate(got):
        close(g, difference(squares, arrays, k), f"argument {k}", rtol=1e-7)


# --- types ------------------------------------------------------------------------------------

IDS = np.array([0, 0, 1])
TYPED: list[tuple[str, Call]] = [
    *[(name, of(name)) for name in (
        "cumsum", "cumprod", "cummax", "cummin", "diff", "expand_dims", "squeeze", "atleast_2d",
        "flatten", "flip", "roll", "sort")],
    ("cumsum exclusive", of("cumsum", exclusive=True)),
    ("cumprod exclusive", of("cumprod", exclusive=True, reverse=True)),
    ("tile", of("tile", multiples=2)), ("repeat", of("repeat", repeats=2)),
    ("pad", of("pad", paddings=1, constant_values=7)),
    ("pad reflect", of("pad", paddings=1, mode="reflect")),
    ("split", lambda x: NAMES["split"](x, 3)[1]), ("unstack", lambda x: NAMES["unstack"](x)[1]),
    ("meshgrid", lambda x: NAMES["meshgrid"](x, x)[0]),
    ("top_k", lambda x: NAMES["top_k"](x, 2)[0]),
    ("gather", of("gather", [0, 2])), ("gather_nd", of("gather_nd", [[0], [2]])),
    ("take_along_axis", of("take_along_axis", [0, 2])),
    ("scatter", lambda x: NAMES["scatter"]([[0], [4], [4]], x, [5])),
    ("tensor_scatter_add", lambda x: NAMES["tensor_scatter_add"](
        x, [[0]], NAMES["index"](x, pattern=(slice(1),)))),
    ("tensor_scatter_update", lambda x: NAMES["tensor_scatter_update"](x, [[1], [0], [1]], x)),
    ("boolean_mask", of("boolean_mask", np.array([T, F, T]))),
    ("segment_sum", of("segment_sum", IDS)), ("segment_max", of("segment_max", IDS)),
    ("segment_prod", of("segment_prod", IDS)),
    ("unsorted_segment_min", of("unsorted_segment_min", IDS, num_segments=2)),
]
FLOATING: list[tuple[str, Call]] = [
    ("cumulative_logsumexp", of("cumulative_logsumexp")),
    ("cumulative_logsumexp exclusive", lambda x: NAMES["index"](
        NAMES["cumulative_logsumexp"](x, exclusive=True), pattern=(slice(1, None),))),
    ("median", of("median")), ("quantile", of("quantile", q=[0.1, 0.6])),
    ("segment_mean", of("segment_mean", IDS)),
    ("unsorted_segment_sqrt_n", of("unsorted_segment_sqrt_n", IDS, num_segments=2))]


@pytest.mark.parametrize(("label", "ours"), TYPED + FLOATING)
def test_float32_is_kept_to_second_order(label: str, ours: Call) -> None:
    x = np.array([1.5, -0.5, 2.0], dtype=np.float32)
    assert np.asarray(ours(x)).dtype == np.float32
    blocks = []
    for value in (x, x.astype(np.float64)):
        with Record():
            t = leaf(value)
            y = ours(t)
            assert y.dtype == value.dtype
            z = NAMES["sum"](NAMES["square"](y))
            assert calculus.gradient([z], [t])[0].dtype == value.dtype
            blocks.append([calculus.hessian(z, [t], mode=mode).blocks[0, 0]
                           for mode in ("forward", "reverse")])
    np.testing.assert_allclose(blocks[0], blocks[1], rtol=1e-5, atol=1e-5)


@folded
@pytest.mark.parametrize("dtype", ["int64", "int32"])
@pytest.mark.parametrize(("label", "ours"), TYPED)
def test_integers_stay_integers(label: str, ours: Call, dtype: str) -> None:
    x = np.array([3, -1, 2], dtype=dtype)
    got = np.asarray(ours(x))
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, ours(x.astype(np.float64)))
    with Record():
        t = leaf(x)
        y = ours(t)
        assert y.dtype == dtype
        assert calculus.gradient([y], [t]) == [None]


LARGEST = {"int64": 2**63 - 1, "int32": 2**31 - 1}


@folded
@pytest.mark.parametrize("dtype", LARGEST)
@pytest.mark.parametrize("name", sorted(
    row.name for row in TABLE.values() if row.kind not in (COMPOSITE, STOP, UNREGISTERED)
    and set(row.roles) == {"data"}))
def test_no_integer_wraps_around(name: str, dtype: str) -> None:
    """What integers make is near what the same numbers make as floats, or refused."""
    row = NAMES[name]
    for x in ([LARGEST[dtype], 3], [2, LARGEST[dtype] // 3], [-LARGEST[dtype] - 1, -1],
              [[LARGEST[dtype] // 2, 3], [7, LARGEST[dtype] // 2 + 9]]):
        given = [np.array(x, dtype=dtype)] * (2 if row.variadic else len(row.parameters))
        try:
            got = row(*given)
        except (GradcliError, ValueError, TypeError, IndexError):
            continue
        if dtype_of(got) == dtype:
            want = row(*[g.astype(float) for g in given])
            np.testing.assert_allclose(np.asarray(got, float), want, rtol=1e-6)


def test_statistics_of_integers_are_floats() -> None:
    assert NAMES["median"](np.array([1, 2, 4, 9])) == 3.0
    np.testing.assert_array_equal(NAMES["segment_mean"](np.array([1, 2, 5]), [0, 0, 1]), [1.5, 5])
    np.testing.assert_allclose(NAMES["cumulative_logsumexp"](np.array([0, 0])), [0, math.log(2)])


# --- ties and edges ---------------------------------------------------------------------------

EDGES: list[tuple[str, Any, Any, Any]] = [
    # ties: the first, except in segments, which share as reductions do
    ("cummax(x)", [1, 3, 3, 2], [1, 3, 3, 3], [1, 3, 0, 0]),
    ("cummax(x, reverse=true)", [1, 3, 3, 2], [3, 3, 3, 2], [0, 0, 3, 1]),
    ("cummin(x)", [2, 1, 1], [2, 1, 1], [1, 2, 0]),
    ("sort(x)[0]", [1, 1, 2], 1, [1, 0, 0]),
    ("sort(x, descending=true)[0]", [2, 2, 1], 2, [1, 0, 0]),
    ("top_k(x, 1)[0]", [2, 5, 5], [5], [0, 1, 0]),
    ("median(x)", [1, 7, 7, 9], 7, [0, 0.5, 0.5, 0]),
    ("segment_max(x, [0, 0, 0])", [4, 4, 1], [4], [0.5, 0.5, 0]),
    ("segment_min(x, [0, 0, 0])", [4, 1, 1], [1], [0, 0.5, 0.5]),
    # infinities and missing numbers
    ("cumulative_logsumexp(x)", [800, 800], [800, 800 + math.log(2)], [1.5, 0.5]),
    ("cumulative_logsumexp(x)", [-INF, 0], [-INF, 0], [1, 1]),
    ("cumulative_logsumexp(x)", [INF, 0], [INF, INF], [2, 0]),
    ("cumulative_logsumexp(x)", [-INF, -INF, 1], [-INF, -INF, 1], [1.5, 0.5, 1]),
    ("cumprod(x)", [INF, 2], [INF, INF], [3, INF]),
    ("cumulative_logsumexp(x)", [-800, 800], [-800, 800], [1, 1]),
    ("quantile(x, 0.5)", [1, 2, INF], 2, [0, 1, 0]),
    ("max(cummax(x)[0:2])", [1, 3, NAN], 3, [0, 1, 0]),
    ("unsorted_segment_max(x, [0, 0], 1)", [-INF, -INF], [-INF], [0.5, 0.5]),
]


@pytest.mark.parametrize(("text", "x", "value", "slope"), EDGES)
def test_ties_and_edges(text: str, x: Any, value: Any, slope: Any) -> None:
    program = loads(text)
    at = {"x": np.array(x, dtype=np.float64)}
    np.testing.assert_allclose(program.value(at=at), value, rtol=1e-14)
    np.testing.assert_allclose(program.gradient(at=at)["x"], slope, rtol=1e-14)


def test_missing_numbers_come_through() -> None:
    x = np.array([1.0, NAN, 0.5])
    np.testing.assert_array_equal(NAMES["sort"](x), [0.5, 1.0, NAN])
    np.testing.assert_array_equal(NAMES["cummax"](x), [1.0, NAN, NAN])
    assert math.isnan(NAMES["median"](x))
    np.testing.assert_array_equal(NAMES["median"](np.stack([x, x * 0 + 1, [1, 2, 3]]), axis=1),
                                  [NAN, NAN, 2.0])
    np.testing.assert_array_equal(NAMES["segment_max"](x, IDS), [NAN, 0.5])


def test_quantiles_agree_with_numpy() -> None:
    x = np.random.default_rng(5).normal(size=(7, 6))
    for q in (0.0, 0.05, 1 / 3, 0.5, 0.77, 1.0):
        np.testing.assert_allclose(NAMES["quantile"](x, q, 0), np.quantile(x, q, 0), rtol=1e-14)
        np.testing.assert_allclose(NAMES["percentile"](x, 100 * q), np.percentile(x, 100 * q),
                                   rtol=1e-14)
    several = np.array([[0.1, 0.2], [0.5, 0.9]])
    np.testing.assert_allclose(NAMES["quantile"](x, several, 1), np.quantile(x, several, 1),
                               rtol=1e-14)
    np.testing.assert_allclose(NAMES["median"](x, keepdims=True), np.median(x, keepdims=True))


KINKS = [
    ("sort", [3.0, 1.0, 3.0, 3.0], 3), ("sort", [3.0, 1.0, 2.0], 0),
    ("cummax", [1.0, 3.0, 3.0, 2.0], 1), ("cummin", [1.0, 3.0, 3.0], 0),
]


@pytest.mark.parametrize(("name", "x", "count"), KINKS)
def test_ties_are_seen(name: str, x: list[float], count: int) -> None:
    op = TABLE[name]
    value = np.array(x)
    attributes = op.prepare([value.shape], **op.attributes) if op.prepare else op.attributes
    assert op.kink is not None
    assert np.sum(op.kink(op(value), value, **attributes)) == count


def test_ties_in_segments_are_seen() -> None:
    op = TABLE["segment_largest"]
    x, ids = np.array([4.0, 4.0, 1.0, 2.0]), np.array([0, 0, 0, 1])
    assert op.kink is not None
    assert np.sum(op.kink(np.array([4.0, 2.0]), x, ids, count=2, empty=0)) == 2


def test_random_programs_of_scans_agree_with_sums() -> None:
    """A long recurrence of both kinds of lines: Python floats and NumPy rows."""
    rng = np.random.default_rng(11)
    x, b = rng.normal(size=(2, 300))
    one = NAMES["recurrence"](x, b)
    rows = NAMES["recurrence"](np.stack([x, x]), np.stack([b, 2 * b]), axis=-1)
    np.testing.assert_allclose(rows, [one, 2 * one], rtol=1e-13)
    np.testing.assert_allclose(one, recurrence(x, b, 0, False, False), rtol=1e-13)


# --- errors -----------------------------------------------------------------------------------

# (text, code, what the message says), x being a matrix [2, 3] and v a vector [3].
ERRORS: list[tuple[str, str, str]] = [
    ("cumsum(x, axis=2)", "E0304", "axis 2 does not exist"),
    ("cumsum(x[0, 0])", "E0304", "0 axes"),
    ("cumprod(x[0, 0])", "E0304", "0 axes"),
    ("cummax(x, axis=-3)", "E0304", "axis -3"),
    ("diff(v, n=-1)", "E0404", "no order -1"),
    ("diff(v, n=0.5)", "E0303", "whole number"),
    ("expand_dims(x, 4)", "E0304", "axis 4 does not exist"),
    ("expand_dims(x, [0, 0])", "E0304", "twice"),
    ("squeeze(x, 0)", "E0301", r"axis 0 of \[2, 3\]: its length is 2"),
    ("moveaxis(x, [0, 1], [0])", "E0304", "each axis once"),
    ("moveaxis(x)", "E0303", "None"),
    ('moveaxis(x, "a", 0)', "E0303", "numbers were expected"),
    ("flip(x, 2)", "E0304", "axis 2"),
    ("roll(x, [1, 2, 3], [0, 1])", "E0301", "3 shifts for 2 axes"),
    ("roll(x, 0.5)", "E0303", "whole number"),
    ("tile(x, -1)", "E0303", "cannot be negative: -1"),
    ("repeat(v, [1, 2])", "E0301", "2 numbers for an axis of length 3"),
    ("repeat(v, -2)", "E0303", "cannot be negative: -2"),
    ("pad(x, [[1, 1]], mode=3)", "E0404", "no mode 3"),
    ('pad(x, 1, "mirror")', "E0404", "no mode 'mirror'"),
    ("pad(x, [[1, 2, 3]])", "E0301", r"paddings of shape \[2, 2\], not \[1, 3\]"),
    ("pad(x, -1)", "E0303", "cannot be negative"),
    ('pad(v[5:], 1, "reflect")', "E0301", r"nothing to repeat along axis 0 of \[0\]"),
    ('pad(v, 1, constant_values="a")', "E0303", "numbers were expected"),
    ("pad(int(v), 1, constant_values=0.5)", "E0302", "mixes int64 with 0.5"),
    ("split(v, 2)", "E0301", "a length of 3 into 2 equal parts"),
    ("split(v, 0)", "E0301", "into 0 equal parts"),
    ("split(v, [1, 1])", "E0301", r"add up to 3, not \[1, 1\]"),
    ("split(v, [5, -1, -1])", "E0301", "add up to 3"),
    ("unstack(x[0, 0])", "E0304", "0 axes"),
    ('meshgrid(v, v, indexing="yx")', "E0404", "no indexing 'yx'"),
    ("meshgrid(x, v)", "E0301", r"needs vectors, not \[2, 3\]"),
    ("take_along_axis(x, [0, 1])", "E0301", r"cannot take \[2\] indices from \[2, 3\]"),
    ("take_along_axis(v, [0, 3])", "E0305", r"the index 3 at \[1\] is out of range"),
    ("gather(v, [0, 7])", "E0305", r"the index 7 at \[1\] is out of range for an axis of length 3"),
    ("gather(v, -4)", "E0305", "the index -4 is out of range"),
    ("gather(v, [[0, 1], [9, 0]])", "E0305", r"the index 9 at \[1, 0\]"),
    ("gather(v, [0.5])", "E0303", "not `0.5`"),
    ("gather(v, [nan])", "E0303", "whole number"),
    ("gather(v, v > 0)", "E0302", "not bool"),
    ("gather(x, [0], axis=2)", "E0304", "axis 2"),
    ("gather(x, [0], axis=0, batch_dims=1)", "E0301", "batch_dims=1"),
    ("gather(x, [[0], [1], [2]], axis=1, batch_dims=1)", "E0301", "batch_dims=1"),
    ("gather(x[0, 0], [0])", "E0304", "0 axes"),
    ("gather_nd(x, [[0, 3]])", "E0305", r"the index 3 at \[0\] is out of range"),
    ("gather_nd(x, [[0, 1, 1]])", "E0301", r"indices of shape \[1, 3\] in \[2, 3\]"),
    ("gather_nd(x, 1)", "E0301", r"indices of shape \[\]"),
    ("gather_nd(x, [[0]], batch_dims=1)", "E0301", "batch_dims=1"),
    ("gather_nd(x, [[0]], batch_dims=-1)", "E0404", "batch_dims cannot be -1"),
    ("scatter([[4]], [1], [3])", "E0305", "the index 4"),
    ("scatter([[1]], [1, 2], [3])", "E0301", r"updates of shape \[1\], not \[2\]"),
    ("scatter([[1]], [1], [-3])", "E0303", "cannot be negative: -3"),
    ("scatter([[1]], [1])", "E0301", "needs the shape"),
    ("scatter(zeros(2, 0), 1, [3])", "E0301", "at least one number"),
    ("tensor_scatter_add(v, [[5]], [1])", "E0305", "the index 5"),
    ("tensor_scatter_update(v, [[5]], [1])", "E0305", "the index 5"),
    ("tensor_scatter_update(v, [[0]], [1, 2])", "E0301", r"updates of shape \[1\], not \[2\]"),
    ("tensor_scatter_update(v, zeros(1, 0), 1)", "E0301", "at least one number"),
    ("sort(x[0, 0])", "E0304", "0 axes"),
    ('sort(v, direction="up")', "E0404", "no sort direction 'up'"),
    ("top_k(v, 4)", "E0404", "no 4 largest of 3"),
    ("top_k(v, -1)", "E0404", "k cannot be -1"),
    ("top_k(x[0, 0])", "E0304", "0 axes"),
    ("quantile(v, 1.5)", "E0404", "fractions between 0 and 1"),
    ("quantile(v, nan)", "E0404", "fractions between 0 and 1"),
    ("percentile(v, 101)", "E0404", "fractions between 0 and 100"),
    ("median(v[5:])", "E0404", "no elements"),
    ("median(x, axis=2)", "E0304", "axis 2"),
    ('searchsorted(v, v, side="up")', "E0404", "no side 'up'"),
    ("searchsorted(x, v)", "E0301", r"cannot place \[3\] in \[2, 3\]"),
    ("boolean_mask(x, v)", "E0302", "not float64"),
    ("boolean_mask(x, v > 0)", "E0301", r"a mask of shape \[3\] on \[2, 3\] from axis 0"),
    ("boolean_mask(v, true)", "E0301", r"a mask of shape \[\]"),
    ("dynamic_partition(v, [0, 1, 2])", "E0305", r"the index 2 at \[2\]"),
    ("dynamic_partition(v, [0, 1])", "E0301", r"cut \[3\] by \[2\]"),
    ("dynamic_partition(v, [0, 0, 0], 0)", "E0404", "num_partitions cannot be 0"),
    ("one_hot([0, 1])", "E0303", "needs its depth"),
    ("one_hot([0, 1], -1)", "E0404", "the depth cannot be -1"),
    ("one_hot([0.5], 2)", "E0303", "whole number"),
    ('one_hot([0], 2, dtype="real")', "E0306", "no type `real`"),
    ('one_hot([0], 2, on_value=inf, dtype="int64")', "E0404", "cannot write inf and 0.0 as int64"),
    ('one_hot([0], 2, on_value="a")', "E0303", "numbers were expected"),
    ("one_hot([0], 2, axis=5)", "E0304", "axis 5"),
    ('sequence_mask([1], 2, dtype="real")', "E0306", "no type `real`"),
    ("sequence_mask([1], -2)", "E0404", "maxlen cannot be -2"),
    ("in_top_k([0], x)", "E0301", r"targets \[1\] in \[2, 3\]"),
    ("segment_sum(x, [1, 0])", "E0305", "not sorted"),
    ("segment_sum(x, [0])", "E0301", r"shape \[2, 3\] by \[1\]"),
    ("segment_sum(x, [-1, 0])", "E0305", r"the index -1 at \[0\]"),
    ("segment_max(x > 0, [0, 1])", "E0302", "not bool"),
    ("unsorted_segment_sum(x, [0, 4], 3)", "E0305", r"the index 4 at \[1\]"),
    ("unsorted_segment_sum(x, [0, 1])", "E0303", "needs the number of segments"),
    ("unsorted_segment_sum(x, [0, 1], -1)", "E0404", "num_segments cannot be -1"),
    ("unsorted_segment_prod(x, [[0], [1]], 3)", "E0301", r"by \[2, 1\] segment ids"),
    ("isclose(v, x[:, 0:2])", "E0301", "cannot combine shapes"),
    ('isclose(v, v, rtol="a")', "E0303", "numbers were expected"),
    ("bincount([-1])", "E0305", "negative number -1"),
    ("bincount([0.5])", "E0303", "whole number"),
    ("bincount([1], minlength=-1)", "E0404", "minlength cannot be -1"),
    ("histogram(v, 0)", "E0404", "bins cannot be 0"),
    ("histogram(v, 3, low=0)", "E0404", "both ends"),
    ("histogram(v, 3, low=1, high=1)", "E0404", "low < high"),
    ("histogram(v/0)", "E0404", "needs a range"),
    ("histogram([1e200, 1e200])", "E0404", r"1e\+200 to 1e\+200 into 10 bins"),
    ("histogram([-1e308, 1.7e308], 5)", "E0404", "into 5 bins"),
    ("histogram(v, 3, low=-1e308, high=1.7e308)", "E0404", "a finite distance apart"),
    ("histogram_fixed_width(v, [-1e308, 1.7e308])", "E0404", "a range"),
    ("histogram(string(v))", "E0302", "does not take string"),
    ("histogram(complex(v, v))", "E0302", "needs real numbers"),
    ("histogram_fixed_width(v, [1, 0])", "E0404", "a range"),
    ("histogram_fixed_width(v, [0, 1], 0)", "E0404", "bins cannot be 0"),
    ("histogram_fixed_width([nan], [0, 1])", "E0404", "no bin for NaN"),
    ("any(x, axis=2)", "E0304", "axis 2"),
    ("shuffle(v, seed=0.5)", "E0303", "a seed must be a whole number"),
]


@folded
@pytest.mark.parametrize(("text", "code", "message"), ERRORS, ids=[text for text, _, _ in ERRORS])
def test_errors(text: str, code: str, message: str) -> None:
    at = {"x": np.array(X), "v": np.array([1.0, 2.0, 3.0])}
    program = loads(text)
    names = [name for name in at if program.default_sources and name in program.default_sources]
    with pytest.raises(GradcliError, match=message) as caught:
        program.value(at={name: at[name] for name in names})
    assert caught.value.code == code
    assert caught.value.help


@folded
@pytest.mark.parametrize("name", [
    name for name, op in sorted(TABLE.items()) if len(op.parameters) == 1 and name in PUBLIC])
@pytest.mark.parametrize("kind", ["bool", "complex128"])
def test_what_is_no_real_number_is_computed_with_or_refused(name: str, kind: str) -> None:
    """As the real numbers that it stands for, where they have an answer."""
    for value in (np.array([1, 2]), np.array([[2, 1], [1, 2]])):
        given = value.astype(kind)
        found = answer(name, given)
        if found is None or name in OF_TYPES:
            continue
        want = TABLE[name](given.real.astype(float))
        for one, other in zip(parts(found), parts(want), strict=True):
            known = np.isfinite(other)
            # NumPy computes with numbers of 16 bits for truth values, special functions with 32.
            precision = 5e-3 if one.dtype == np.float16 else 1e-6
            assert np.allclose(one[known], other[known], rtol=precision, atol=precision)


# The letters of a number; eigenvectors and factors are another choice for another routine.
OF_TYPES = {"string", "eigh", "svd", "lu"}
REFUSED = {"E0301", "E0302", "E0303", "E0304", "E0404"}
# What arranges and compares takes texts, and so does what is asked for a number.
TEXTS = set("""
    add_n all any argmax argmin argsort argwhere atleast_1d atleast_2d band_part bool cast
    check_numerics concat count_nonzero diag diag_embed diag_part expand_dims flatten flip float
    float32 int int32 matrix_transpose meshgrid nonzero ones_like pad permutation real repeat
    roll shape shuffle size sort split squeeze stack stop_gradient string swapaxes tensor_diag
    tensor_diag_part tile top_k transpose tril triu unique unstack zero_fraction zeros_like
""".split())


def answer(name: str, value: Any) -> Any:
    """None where an operation refuses a value for its type or shape."""
    try:
        return TABLE[name](value)
    except GradcliError as refused:
        code = refused.code
    assert code in REFUSED
    return None


def parts(found: Any) -> list[Any]:
    """The arrays of a result, which may be several."""
    return [np.asarray(x) for x in found] if isinstance(found, list | tuple) else [
        np.asarray(found)]


@folded
@pytest.mark.parametrize("name", [
    name for name, op in sorted(TABLE.items()) if len(op.parameters) == 1 and name in PUBLIC])
def test_texts_are_refused_where_numbers_are_computed(name: str) -> None:
    found = [answer(name, value) for value in (
        np.array(["1", "2"]), np.array([["2", "1"], ["1", "2"]]))]
    assert any(one is not None for one in found) == (name in TEXTS)


@pytest.mark.parametrize("name", ["sum", "mean", "reduce_max", "cumsum", "norm", "std", "det",
                                  "softmax", "trace", "histogram"])
def test_texts_are_no_numbers(name: str) -> None:
    with pytest.raises(GradcliError, match="does not take string") as caught:
        NAMES[name](np.array([["1", "2"], ["3", "4"]]))
    assert caught.value.code == "E0302"


def test_lists_of_different_lengths_are_no_option() -> None:
    with pytest.raises(GradcliError, match="different lengths") as caught:
        NAMES["pad"](np.zeros((2, 2)), [[1, 1], [1]])
    assert caught.value.code == "E0301"


def test_large_results_keep_to_the_memory_budget() -> None:
    x, record = np.zeros(10), Record()
    record.max_bytes = 10_000.0
    large: list[Call] = [
        of("tile", multiples=1000), of("repeat", repeats=1000), of("pad", paddings=[[0, 10_000]]),
        of("gather", np.zeros(5000)), of("unsorted_segment_sum", np.zeros(10),
                                         num_segments=10_000),
        lambda x: NAMES["scatter"]([[0]], [1.0], [10_000]),
        lambda x: NAMES["one_hot"]([0, 1], 10_000), lambda x: NAMES["sequence_mask"]([10_000]),
        lambda x: NAMES["bincount"]([10_000]),
        lambda x: NAMES["meshgrid"](np.zeros(100), np.zeros(100))]
    for ours in large:
        with record, pytest.raises(GradcliError, match="memory budget") as caught:
            ours(x)
        assert caught.value.code == "E0403"


# --- in a file --------------------------------------------------------------------------------


def test_an_index_that_is_computed_has_no_derivative_and_says_so() -> None:
    program = loads("y = gather([1, 2, 3], floor(x))\ny")
    assert program.gradient(at={"x": 1.5})["x"] is None


def test_lists_of_results_unpack() -> None:
    text = "a, b, c = split(x, [1, 1, 2])\nd, e = unstack(stack([b, a]))\nsum(c)*d[0] + e[0]^2"
    got = loads(text).gradient(at={"x": [3.0, 5.0, 1.0, 2.0]})["x"]
    np.testing.assert_array_equal(got, [6, 3, 5, 5])


def test_shapes_and_counts_may_be_tensors() -> None:
    program = loads("k = int(2)\nsum(tile(x, [k, 1])*repeat(x, k, 0))")
    np.testing.assert_array_equal(program.gradient(at={"x": np.array(X)})["x"],
                                  loads("sum(tile(x, [2, 1])*repeat(x, 2, 0))").gradient(
                                      at={"x": np.array(X)})["x"])
