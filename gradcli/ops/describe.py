"""A row of the table as text: its derivative is traced from the rule itself, so it cannot drift.

`reference()` is the whole table as a Markdown page, docs/operations.md.
"""

from __future__ import annotations

from gradcli.ops import TABLE
from gradcli.ops.kinds import COMPOSITE, UNREGISTERED, Op
from gradcli.ops.text import Text, applied, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def derivatives(op: Op) -> list[str | None]:
    """Return the partials of an elementwise row as formulas, None for an argument without one.

    Empty for other kinds, whose rules are about shapes.
    """
    if not op.elementwise or not op.rules:
        return []
    names = [Text(p) for p in op.parameters]
    # Traced with the value's own formula in place of `ans`: 1/(2*sqrt(x)), not 0.5/ans.
    ans = applied(op, names, {})
    return [
        None if rule is None else text_of(rule(*names, ans) if callable(rule) else rule).text
        for rule in op.rules]


def arguments(op: Op) -> list[str]:
    """Return the arguments of a call, options with their defaults, as a file would write them."""
    names = list(op.parameters)
    if not names and op.expand is not None:
        # Rows that make tensors from plain numbers declare these in their function only.
        code = op.expand.__code__
        takes_shape = bool(code.co_flags & 4)
        first = code.co_argcount
        names = [n for n in code.co_varnames[:first] if n not in op.attributes]
        if takes_shape:
            names.append("*" + code.co_varnames[first + code.co_kwonlyargcount])
    return [*names, *[f"{k}={_literal(v)}" for k, v in op.attributes.items()]]


def _literal(value: Any) -> str:
    """Return a default as a file would write it."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_literal(v) for v in value)}]"
    return f"{value:g}"


def describe(op: Op) -> dict[str, Any]:
    """Return a row as plain data, as `gradcli ops` prints it."""
    latex = ""
    if op.latex and op.kind != COMPOSITE:
        latex = op.latex.format(*[p.lstrip("*") for p in op.parameters], *"xyz")
    return {
        "name": op.name, "aliases": list(op.aliases), "kind": op.kind, "arguments": arguments(op),
        "derivative": derivatives(op), "domain": op.domain, "kinks": op.kinks, "doc": op.doc,
        "latex": latex, "differentiable": differentiable(op), "instead": instead(op)}


def differentiable(op: Op) -> str:
    """Return "yes", "in part" or "no": whether a derivative passes from the arguments to the value.

    Yes for a composite row, but for one that says otherwise.
    """
    if op.kind == COMPOSITE:
        return "no" if "cut" in op.traits else "yes"
    if op.kind == UNREGISTERED or not any(op.edges):
        return "no"
    return "yes" if all(op.edges) else "in part"


def instead(op: Op) -> str:
    """Return what to write where the derivative of a row is missing; empty: nothing is known."""
    if op.substitute:
        return op.substitute.format(*[p.lstrip("*") for p in op.parameters])
    return f"a rule of your own: @gradient_of({op.name})" if op.kind == UNREGISTERED else ""


TRAITS = {
    "even": "f(-x) is f(x)",
    "odd": "f(-x) is -f(x)",
    "positive": "the value is above 0 wherever it is defined",
    "not_negative": "the value is 0 or above wherever it is defined",
    "never_zero": "0 only where a float has no smaller number, or at infinity",
    "zero_at_zero": "0 where the first argument is",
    "never_flat": "its slope is 0 only where a float has no smaller number",
    "growing": "an infinite value is an overflow, and no pole",
    "bounded": "makes nothing very large of what is not",
    "vanishing": "may be next to nothing of ordinary numbers",
    "true_zeros": "0 only where that is right, of numbers far from the ends of the range",
    "in_pieces": "values and slopes truly are 0 where no argument is",
    "homogeneous": "grows with all arguments together as they do, though it is not linear",
    "selecting": "its slope is 0 where it does not use the argument",
    "ordering": "hands each element of a cotangent to the elements that the value is made of",
    "switching": "the sign of the first argument decides between formulas",
    "comparing": "the sign of the difference of the arguments decides between formulas",
    "of_angle": "takes an angle",
    "angle": "gives an angle",
    "exact": "rounds nothing",
    "steady": "does not make rounding more than twice as large",
    "in_steps": "a step function whose values are floats",
    "real_only": "needs an order, or the size of real numbers",
    "whole_tensor": "looks at batch axes, too, unless it has an axis",
    "by_inverse": "its complex form takes the value that was computed, too, and solves for it",
    "listed": "its one option is a list, which Python code may write without brackets",
    "cut": "no derivative passes through it, though it is composite",
}
"""What the words of `Op.traits` say of a function."""

# --- the page of all operations -------------------------------------------------------------------

GROUPS = (
    ("Arithmetic",
     "add subtract multiply divide negative positive reciprocal mod fmod floor_divide square"
     " squared_difference lerp add_n divide_no_nan multiply_no_nan reciprocal_no_nan xdivy"),
    ("Powers, roots, exponentials, logarithms",
     "power float_power ldexp sqrt cbrt rsqrt hypot exp exp2 expm1 log log2 log10 log1p xlogy"
     " xlog1py logaddexp"),
    ("Trigonometry",
     "sin cos tan sec csc cot asin acos atan atan2 asec acsc acot radians degrees sinc"),
    ("Hyperbolic functions",
     "sinh cosh tanh sech csch coth asinh acosh atanh asech acsch acoth"),
    ("Size, sign, steps and bounds",
     "abs sign copysign maximum minimum clip where heaviside smoothstep threshold nan_to_num floor"
     " ceil round trunc"),
    ("Comparison and logic",
     "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor"
     " logical_not isnan isinf isfinite isclose allclose any all count_nonzero zero_fraction"),
    ("Complex numbers", "complex real imag conj angle"),
    ("Sums, means and extremes",
     "sum mean prod max min reduce_max reduce_min norm norm2 logsumexp var std median quantile"
     " percentile moments"),
    ("Running totals and differences",
     "cumsum cumprod cumulative_logsumexp cummax cummin diff"),
    ("Shapes and arrangement",
     "reshape transpose broadcast_to concat stack expand_dims squeeze moveaxis swapaxes atleast_1d"
     " atleast_2d flatten flip roll tile repeat pad split unstack meshgrid shape size"),
    ("Picking and placing elements",
     "gather gather_nd take_along_axis boolean_mask dynamic_partition scatter tensor_scatter_add"
     " tensor_scatter_update one_hot sequence_mask argwhere nonzero"),
    ("Order and counting",
     "sort argsort argmax argmin top_k in_top_k searchsorted unique shuffle bincount histogram"
     " histogram_fixed_width"),
    ("Segments",
     "segment_sum segment_mean segment_max segment_min segment_prod unsorted_segment_sum"
     " unsorted_segment_mean unsorted_segment_sqrt_n unsorted_segment_max unsorted_segment_min"
     " unsorted_segment_prod"),
    ("Products of vectors and matrices",
     "matmul matvec dot vecdot outer cross kron multi_dot einsum tensordot"),
    ("Parts of matrices",
     "diag_part diag diag_embed set_diag tensor_diag tensor_diag_part trace tril triu band_part"
     " matrix_transpose"),
    ("Linear systems and determinants",
     "solve triangular_solve cholesky_solve lstsq inv pinv det logdet slogdet logabsdet"
     " matrix_rank matrix_norm cond"),
    ("Decompositions and functions of matrices",
     "cholesky qr eigh eigvalsh svd svdvals lu lu_factors lu_order expm logm sqrtm matrix_power"),
    ("Activations",
     "sigmoid log_sigmoid logit softplus logcosh softsign relu relu6 prelu leaky_relu crelu elu"
     " selu celu gelu gelu_erf gelu_tanh silu mish hard_sigmoid hard_swish hard_tanh softmax"
     " log_softmax"),
    ("Layers",
     "dense bias_add conv1d conv2d conv3d conv2d_transpose depthwise_conv2d max_pool avg_pool"
     " l2_normalize layer_norm batch_norm dropout adjust_contrast"),
    ("Losses",
     "mean_squared_error mean_absolute_error huber log_cosh hinge squared_hinge l2_loss"
     " softmax_cross_entropy sparse_softmax_cross_entropy sigmoid_cross_entropy"
     " weighted_cross_entropy binary_crossentropy categorical_crossentropy kl_divergence"
     " cosine_similarity log_poisson_loss"),
    ("Gamma, beta, zeta",
     "gamma lgamma digamma polygamma beta lbeta gammainc gammaincl igamma igammac gammainc_log"
     " gammaincl_log betainc zeta"),
    ("Error functions and the normal distribution",
     "erf erfc erfcx erfcx_derivative erfi erfinv erfcinv dawsn dawsn_derivative ndtr log_ndtr"
     " ndtri"),
    ("Integrals and Lambert's W",
     "ei e1 li si ci shi chi fresnels fresnelc lambertw"),
    ("Elliptic integrals",
     "ellipk ellipf ellipe ellipe_complete ellipe_incomplete elliptic_moment"),
    ("Bessel functions",
     "besselj bessely besseli besselk besselie besselke sphericalj bessel_j0 bessel_j1 bessel_y0"
     " bessel_y1 bessel_i0 bessel_i1 bessel_k0 bessel_k1 bessel_i0e bessel_i1e bessel_k0e"
     " bessel_k1e"),
    ("New tensors",
     "zeros ones full full_like zeros_like ones_like eye tri linspace logspace geomspace arange"),
    ("Random numbers",
     "normal uniform truncated_normal bernoulli randint permutation glorot_uniform glorot_normal"
     " he_uniform he_normal"),
    ("Types", "cast float float32 int int32 bool string"),
    ("The path of gradients",
     "stop_gradient clip_by_norm clip_by_average_norm clip_by_global_norm global_norm"
     " check_numerics"),
)
"""Headings of the page, and the rows below each in the order in which a reader meets them. A new
row need not be named: it stands behind the one above it in the table."""

LONGEST = 60
"""A derivative of more characters than this is left to `gradcli ops NAME`."""

PREFACE = """\
# Operations

Written by `pytest --update-golden tests/system/test_docs.py` from the operation table in
`gradcli/ops/`; not to be edited. `gradcli ops NAME` prints one row with all of its derivatives.

An operation is called by its name or by one of the names beside *also*. Arguments with a default
are options, given by name or behind the others: `sum(x, axis=0)`, `sum(x, 0)`. `*xs` takes any
number of arguments or one list. In an expression file the operators `+ - * / // % @ ^` and
`== != < <= > >=` are `add`, `subtract`, `multiply`, `divide`, `floor_divide`, `mod`, `matmul`,
`power`, `equal`, `not_equal`, `less`, `less_equal`, `greater` and `greater_equal`.

The last column is the derivative, one formula per argument; `None` stands for an argument without
one. Where it holds no formula, it says of what kind the operation is, and where there is no
derivative, what to write instead (`gradcli ops --no-derivative` lists these):

| kind | derivative |
|---|---|
| elementwise | the formula, element by element, summed back over broadcast axes |
| linear | the transposed linear map; the second derivative is 0 |
| bilinear | the product rule; each argument's part is linear in the other |
| general | a rule about whole tensors, tested to second order |
| composite | that of the operations it stands for: only they are recorded |
| none | None: made of operations too, and no derivative passes through these |
| flat | None: a step function, flat almost everywhere; `--unconnected zero` makes it 0 |
| stop | None by nature: a truth value, an index, a shape, or a path that is cut on purpose |
| unregistered | an error on the path: nobody wrote the rule; `@gradient_of(name)` may |
"""


def reference() -> str:
    """Return the page of all public operations."""
    lines = [PREFACE]
    for heading, rows in groups():
        lines.append(f"## {heading}\n")
        lines.append("| operation | what it does | domain and conventions | derivative |")
        lines.append("|---|---|---|---|")
        lines.extend(map(_row, rows))
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def groups() -> list[tuple[str, list[Op]]]:
    """Return the headings, each with its rows: those that GROUPS names, and behind each the rows
    that stand below it in the table and are not named. Raises KeyError for a name that is no row.
    """
    named = frozenset(" ".join(names for _, names in GROUPS).split())
    below: dict[str, list[Op]] = {}
    above = ""
    for op in TABLE.values():
        above = op.name if op.name in named else above
        if above != op.name and not op.internal:
            below.setdefault(above, []).append(op)
    return [(heading, [op for name in names.split() for op in (TABLE[name], *below.get(name, ()))])
            for heading, names in GROUPS]


def group_of(op: Op) -> str:
    """Return the heading that a row stands below; where GROUPS names it, no other row is loaded."""
    return next((heading for heading, names in GROUPS if op.name in names.split()), None) or next(
        heading for heading, rows in groups() if op in rows)


def _row(op: Op) -> str:
    name = _code(f"{op.name}({', '.join(arguments(op))})")
    also = f"<br>also {', '.join(_code(alias) for alias in op.aliases)}" if op.aliases else ""
    where = "; ".join(part for part in (op.domain, op.kinks) if part)
    return f"| {name}{also} | {_plain(op.doc)} | {_plain(where)} | {'<br>'.join(_slopes(op))} |"


def _slopes(op: Op) -> Iterator[str]:
    formulas = derivatives(op)
    if not formulas:
        kind = "none" if "cut" in op.traits else op.kind
        other = instead(op)
        yield f"{kind}; instead: {_plain(other)}" if other else kind
        return
    for parameter, formula in zip(op.parameters, formulas, strict=True):
        argument = f"{parameter}: " if len(formulas) > 1 else ""
        if formula is not None and len(formula) > LONGEST:
            yield f"{argument}see {_code('gradcli ops ' + op.name)}"
        else:
            yield argument + _code(str(formula))


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _plain(text: str) -> str:
    """Return text of a table cell that Markdown shows unchanged."""
    return text.replace("|", "\\|").replace("*", "\\*")
