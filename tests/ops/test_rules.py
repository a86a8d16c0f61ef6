"""The form of the table's rows: what other parts of the project read off them without asking."""

from __future__ import annotations

import ast
import inspect
import string
from contextlib import suppress
from itertools import product

import numpy as np
import pytest
from conftest import folded
from test_ops_arrays import ARRAY_STEPS, ARRAYS
from test_ops_layers import CALLS, MADE

from gradcli import GradcliError, GradientTape, Tensor, Variable
from gradcli.ops import NAMES, PUBLIC, TABLE, kinds, lookup
from gradcli.ops.binding import array_rules
from gradcli.ops.describe import describe, differentiable, instead
from gradcli.ops.kinds import (
    BILINEAR,
    COMPOSITE,
    ELEMENTWISE,
    FLAT,
    GENERAL,
    LINEAR,
    STOP,
    Op,
)
from gradcli.ops.special import derivatives, floats
from gradcli.ops.values import dtype_of

ROWS = list(TABLE.values())
RULES = [pytest.param(op, k, id=f"{op.name}-{k}")
         for op in ROWS if op.kind == ELEMENTWISE
         for k, rule in enumerate(op.rules) if callable(rule)]
MAKERS = {"zeros", "ones", "full", "eye", "linspace", "arange", "normal", "uniform", "logspace",
          "geomspace", "global_norm", "clip_by_global_norm", *MADE}
# Rows that move elements: formulas show what they do, not a sign of their own.
WITHOUT_LATEX = {
    "left_engine", "isnan", "isfinite", "shape", "size", "zeros_like", "ones_like", "cast_float",
    "cast_other", "cast", "int", "float", "float32", "int32", "bool", "string", "lowered_exponent",
    "guarded_base", "reshape", "align", "broadcast_to", "sum_to", "index", "put", "concat", "stack",
    "sum_batch", "spread",
    "unbatch", "rebatch", *MAKERS, *ARRAYS, *ARRAY_STEPS, *CALLS}


def each(rows: list[Op]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("op", rows, ids=[op.name for op in rows])


@folded
@pytest.mark.parametrize(("op", "k"), RULES)
def test_a_rule_names_only_rows(op: Op, k: int) -> None:
    """Rules are bound to functions on floats and to NumPy's by these names (`ops.binding`)."""
    rule = op.rules[k]
    assert callable(rule)
    code = rule.__code__
    assert set(code.co_names) <= set(NAMES)
    assert code.co_freevars == (), "a closure is lost when the rule is bound"
    assert code.co_argcount == len(op.parameters) + 1
    assert code.co_varnames[code.co_argcount - 1] == "ans"
    for name in code.co_names:
        assert NAMES[name].floats is not None, f"`{name}` has no function on floats"


@pytest.mark.filterwarnings("error")
def test_a_rule_bound_to_functions_on_arrays_has_the_same_bits() -> None:
    special = [0.0, -0.0, 1.0, -2.0, 0.5, 1e-310, -1e200, 1e300, np.inf, -np.inf, np.nan]
    wrong = []
    for op in [op for op in ROWS if op.kind == ELEMENTWISE]:
        for dtype in (np.float64, np.float32):
            with np.errstate(all="ignore"):
                values = [np.array([*np.linspace(*bounds, 5), *np.roll(special, n)], dtype)
                          for n, bounds in enumerate(op.samples)]
                ans = op.compute(values, {})
                for rule, bound in zip(op.rules, array_rules(op), strict=True):
                    if callable(rule):
                        here, there = rule(*values, ans), bound(*values, ans)
                        if type(here) is not type(there) or np.asarray(here).tobytes() != (
                                np.asarray(there).tobytes()) or dtype_of(here) != dtype_of(there):
                            wrong.append((op.name, dtype.__name__))
                    else:
                        assert bound is rule
    assert wrong == []


@folded
@each([op for op in ROWS if op.kind in (LINEAR, BILINEAR, GENERAL)])
def test_rules_of_other_kinds_take_the_cotangent_the_answer_and_the_operands(op: Op) -> None:
    for rule in (r for r in op.rules if r is not None):
        names = list(inspect.signature(rule).parameters)
        assert names[:2] == ["g", "ans"]
        assert len(names) == 2 + len(op.parameters) + len(op.attributes)
        assert names[len(names) - len(op.attributes):] == list(op.attributes)
    assert (op.jvp is not None) == (op.kind == GENERAL)
    if op.kind == LINEAR and not op.variadic:
        assert op.rules[0] is not None


@folded
@each(ROWS)
def test_every_row_tells_about_itself(op: Op) -> None:
    assert op.doc
    assert not op.doc.endswith(".")
    assert len(op.doc) <= 100
    assert op.samples or op.name in MAKERS
    assert all(low < high for low, high in op.samples)
    assert bool(op.latex) == (op.name not in WITHOUT_LATEX)
    assert len(op.roles) == len(op.parameters)
    assert set(op.roles) <= {"data", "condition", "index", "shape", "text"}
    if op.kind in (FLAT, STOP) and op.latex and op.name != "stop_gradient":
        assert op.substitute, "a missing derivative says what to write instead"


@folded
@each(ROWS)
def test_templates_have_places_for_the_arguments_only(op: Op) -> None:
    for template in (op.latex, op.substitute):
        places = {int(name) for _, name, _, _ in string.Formatter().parse(template) if name}
        assert places <= set(range(len(op.parameters)))
    shown = op.latex.format(*[f"x_{k}" for k in range(len(op.parameters))])
    depth = 0
    for c in shown:
        depth += (c == "{") - (c == "}")
        assert depth >= 0
    assert depth == 0
    assert shown.count(r"\left") == shown.count(r"\right")


@folded
@each(ROWS)
def test_a_row_prints_as_plain_data(op: Op) -> None:
    told = describe(op)
    assert told["name"] == op.name
    for k, formula in enumerate(told["derivative"]):
        assert (formula is None) == (op.rules[k] is None)
        if formula is not None:
            # The formula is one that a file may contain, but for `^`.
            tree = ast.parse(formula.replace("^", "**"), mode="eval")
            names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
            assert names <= set(NAMES) | set(op.parameters)


SHAPES = (2.0, [0.5, 0.25, 0.75], [[2.0, 0.3], [0.3, 3.0]], [[[[0.5], [0.2]], [[0.1], [0.3]]]])


@folded
@each([op for op in ROWS if op.kind == COMPOSITE and op.parameters and not op.internal])
def test_a_composite_tells_whether_a_derivative_passes(op: Op) -> None:
    """By asking a tape, for the rows that take numbers of some shape in all arguments."""
    passes = set()
    for values in product(SHAPES, repeat=len(op.parameters)):
        sources = [Variable(v) for v in values]
        with suppress(GradcliError, TypeError):
            with GradientTape(persistent=True) as tape:
                made = op(*sources)
            for one in made if isinstance(made, list) else [made]:
                if isinstance(one, Tensor):
                    passes.add(any(g is not None for g in tape.gradient(one, sources)))
    if passes:
        assert differentiable(op) == ("yes" if True in passes else "no")
    else:
        assert op.name in TAKE_OTHERS or differentiable(op) == "no"


# What takes texts, masks, whole numbers, or several shapes.
TAKE_OTHERS = {
    "multi_dot", "einsum", "set_diag", "gather_nd", "scatter", "tensor_scatter_add",
    "tensor_scatter_update", "boolean_mask", "dynamic_partition", "moveaxis", "conv1d",
    "conv2d", "conv3d", "depthwise_conv2d",
    *[name for name in TABLE if "segment_" in name]}


def test_what_to_write_instead_is_told_where_a_derivative_is_missing() -> None:
    without = [op for op in PUBLIC.values() if differentiable(op) == "no"]
    # A shape, a text and what NaN is have none; sizes and bounds of what is drawn are no numbers
    # to differentiate by; stop_gradient is there to stop.
    assert {op.name for op in without if not instead(op)} == {
        "isnan", "isinf", "isfinite", "shape", "size", "zeros_like", "ones_like", "stop_gradient",
        "string", "zeros", "ones", "eye", "tri", "randint", "glorot_uniform", "glorot_normal",
        "he_uniform", "he_normal"}
    assert instead(TABLE["unique"]) == "a rule of your own: @gradient_of(unique)"


@folded
@each([op for op in ROWS if op.kind == COMPOSITE])
def test_a_composite_has_the_defaults_that_its_row_declares(op: Op) -> None:
    assert op.expand is not None
    parameters = inspect.signature(op.expand).parameters
    defaults = {k: p.default for k, p in parameters.items() if p.default is not p.empty}
    assert defaults == op.attributes
    assert not op.rules


def test_names_and_aliases_lead_to_their_row() -> None:
    for op in ROWS:
        for name in (op.name, *op.aliases):
            assert NAMES[name] is op
            assert lookup(name) is (None if op.internal else op)
            assert name.isidentifier()
    assert lookup("sinn") is None
    assert len(NAMES) == sum(1 + len(op.aliases) for op in ROWS)


def test_every_special_function_has_a_row() -> None:
    """And every row that asks for one by name gets it."""
    public = {*floats.__all__, "erfcx_derivative", "dawsn_derivative", "sphericalj",
              "gammainc_log", "gammaincl_log", "elliptic_moment"}
    public -= {"ellipe", "zeta"}  # a composite; no rule yet
    assert public <= set(TABLE)
    for name in public & {*dir(floats), *dir(derivatives)}:
        op = TABLE[name]
        assert isinstance(op.on_scalars([1.0] * len(op.parameters)), float)


def test_a_name_cannot_be_taken_twice() -> None:
    before = dict(NAMES), dict(TABLE)
    with pytest.raises(AssertionError):
        kinds.elementwise("psi", "x", lambda x, ans: 1.0, floats=float)
    NAMES.clear()
    TABLE.clear()
    NAMES.update(before[0])
    TABLE.update(before[1])
