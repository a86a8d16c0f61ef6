"""Tensors made from numbers: shapes and lengths take whole floats."""

from __future__ import annotations

import math

from gradcli.base.errors import error
from gradcli.base.lazy import np
from gradcli.ops.kinds import composite
from gradcli.ops.table.discrete import cast_float
from gradcli.ops.table.elementwise import add, divide, multiply, power
from gradcli.ops.table.shapes import broadcast_to, index, lengths, whole
from gradcli.ops.values import FLOAT_DTYPES, cast, check_bytes, dtype_of, plain, shape_of, telling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradcli.ops.values import Shape

MOST_AXES = 64      # as NumPy


def _number(x: Any, what: str) -> float:
    x = x.decides() if hasattr(x, "decides") else x
    if isinstance(x, (int, float)):
        return float(x)
    shape = getattr(x, "shape", None)
    kind = "none" if x is None else "a text" if isinstance(x, str) else "a list"
    raise error("E0303", f"{what} must be a number, not"
                f" {kind if shape is None else f'a tensor of shape {list(shape)}'}",
                help="give a scalar", about=("value", x))


def _shape(shape: tuple[Any, ...]) -> Shape:
    wanted = lengths(shape[0]) if len(shape) == 1 else lengths(shape)
    if len(wanted) > MOST_AXES:
        raise error("E0303", f"a tensor has no more than {MOST_AXES} axes, not {len(wanted)}",
                    help="give one length for each axis")
    count = 1
    for n in wanted:
        if n < 0:
            raise error("E0303", f"a length cannot be negative: {n}", help="use 0 or more",
                        about=("value", n))
        count *= n
    check_bytes(8.0 * count)
    return wanted


def _linspace(start: Any, stop: Any, num: Any = 50) -> Any:
    n = whole(num, "the number of points")
    if n < 0:
        raise error("E0404", f"`linspace` cannot make {n} points", help="give 0 or more",
                    about=("value", num))
    check_bytes(8.0 * n)
    if _recorded(start) or _recorded(stop):
        return start + (stop - start) * np.linspace(0.0, 1.0, n)
    return np.linspace(_number(start, "the start"), _number(stop, "the end"), n)


def _recorded(x: Any) -> bool:
    return hasattr(x, "__gradcli_apply__")


def _geomspace(start: Any, stop: Any, num: Any = 50) -> Any:
    """Return start*(stop/start)^t, with both ends exact."""
    a, b = (getattr(x, "value", x) for x in (start, stop))
    if not (_number(a, "the start") * _number(b, "the end") > 0):
        raise error("E0404", "`geomspace` needs two numbers of one sign, neither of them 0",
                    help="such as geomspace(1, 1000, 4)")
    t = _linspace(0.0, 1.0, num)
    near = multiply(start, power(divide(stop, start), t))
    last = np.equal(np.arange(len(t)), len(t) - 1) & (len(t) > 1)
    return add(multiply(near, np.where(last, 0.0, 1.0)), multiply(stop, np.where(last, 1.0, 0.0)))


def _full(shape: Any, value: Any) -> Any:
    if _recorded(value):
        return broadcast_to(value, shape=_shape((shape,)))
    return np.full(_shape((shape,)), _number(value, "the value"))


def _full_like(x: Any, value: Any) -> Any:
    dtype = dtype_of(getattr(x, "value", x))
    if dtype_of(getattr(value, "value", value)) != dtype:
        smooth = dtype in FLOAT_DTYPES and _recorded(value)
        try:
            value = cast_float(value, dtype=dtype) if smooth else cast(
                _number(value, "the value"), dtype)
        except OverflowError:
            raise error("E0404", f"the value does not fit in {dtype}",
                        help="give a smaller one, or an x of floats") from None
    return broadcast_to(value, shape=shape_of(x)) if shape_of(x) else value


def _tri(n: Any, m: Any = None, k: Any = 0) -> Any:
    rows = whole(n, "the number of rows")
    columns = rows if m is None else whole(m, "the number of columns")
    _shape((rows, columns))
    return np.tri(rows, columns, whole(k, "a diagonal"))


def _arange(start: Any, stop: Any = None, step: Any = 1.0) -> Any:
    first, last = (0.0, start) if stop is None else (start, stop)
    a, b = _number(first, "the start"), _number(last, "the end")
    by = _number(step, "the step")
    if not by or by != by:
        raise error("E0404", "`arange` needs a step other than 0", help="such as arange(0, 1, 0.1)",
                    about=("value", step))
    count = (b - a) / by
    if count != count or abs(count) == float("inf"):
        raise error("E0404", f"`arange` from {a:g} to {b:g} by {by:g} has no end",
                    help="give finite numbers")
    check_bytes(8.0 * count)
    return np.arange(a, b, by)


def _eye(n: Any) -> Any:
    size = whole(n, "the size")
    return np.eye(_shape((size, size))[0])


# --- random numbers ---------------------------------------------------------------------------


def _generator(seed: Any) -> Any:
    """Return NumPy's generator PCG64: the same seed gives the same numbers."""
    return np.random.default_rng(abs(whole(seed, "a seed")))


def _option(value: Any, what: str) -> float:
    number = _number(value, what)
    if not math.isfinite(number):
        raise error("E0404", f"{what} must be finite, not {number}", help="such as 1",
                    about=("value", value))
    return number


def _normal(*shape: Any, mean: Any = 0.0, stddev: Any = 1.0, seed: Any = 0.0) -> Any:
    drawn = plain(np.asarray(_generator(seed).standard_normal(size=_shape(shape))))
    return _moved(drawn, _option(stddev, "the standard deviation"), _option(mean, "the mean"))


def _uniform(*shape: Any, minval: Any = 0.0, maxval: Any = 1.0, seed: Any = 0.0) -> Any:
    drawn = plain(np.asarray(_generator(seed).random(size=_shape(shape))))
    low, high = _option(minval, "the least value"), _option(maxval, "the largest value")
    return _moved(drawn, high - low, low)


def _moved(x: Any, by: float, to: float) -> Any:
    return x if (by, to) == (1.0, 0.0) else x * by + to


def _truncated_normal(*shape: Any, mean: Any = 0.0, stddev: Any = 1.0, seed: Any = 0.0) -> Any:
    generator = _generator(seed)
    drawn = np.asarray(generator.standard_normal(size=_shape(shape)))
    while np.any(far := np.abs(drawn) > 2.0):
        drawn = np.where(far, generator.standard_normal(size=drawn.shape), drawn)
    return _moved(plain(drawn), _option(stddev, "the standard deviation"),
                  _option(mean, "the mean"))


def _bernoulli(*shape: Any, p: Any = 0.5, seed: Any = 0.0) -> Any:
    share = _number(p, "a probability")
    if not 0.0 <= share <= 1.0:
        raise error("E0404", f"a probability lies between 0 and 1, not at {telling(share)}",
                    help="such as p=0.5", about=("value", p))
    return plain(np.asarray(_generator(seed).random(size=_shape(shape)) < share) * 1.0)


def _randint(*shape: Any, low: Any = 0, high: Any = 2, seed: Any = 0.0) -> Any:
    first, last = whole(low, "the least number"), whole(high, "the number above the largest")
    if not first < last:
        raise error("E0404", f"`randint` has no whole number from {first} to below {last}",
                    help="such as randint(3, high=10)")
    return plain(np.asarray(_generator(seed).integers(first, last, size=_shape(shape))))


def _permutation(x: Any, seed: Any = 0.0) -> Any:
    shape = shape_of(x)
    n = shape[0] if shape else _shape((whole(x, "the number of elements"),))[0]
    order = _generator(seed).permutation(n)
    return index(x, order, pattern=("i",)) if shape else order


def _initialiser(name: str, aliases: str, both: bool, uniform: bool, doc: str) -> None:
    """Add a row for random weights of variance 2/in, or 2/(in + out).

    both: whether to count the numbers that come out as well as those that go in. uniform: whether
    the weights are uniform, else normal.
    """
    def draw(*shape: Any, seed: Any = 0.0) -> Any:
        wanted = _shape(shape)
        if not wanted:
            raise error("E0303", f"`{name}` needs the shape of weights, such as [3, 2]",
                        help=f"such as {name}(3, 2)")
        window = math.prod(wanted[:-2])
        fans = (wanted[-2:][0] + wanted[-1]) * window / 2.0 if both else wanted[-2:][0] * window
        variance = (1.0 if both else 2.0) / max(fans, 1.0)
        if uniform:
            limit = math.sqrt(3.0 * variance)
            return _uniform(wanted, minval=-limit, maxval=limit, seed=seed)
        # What is left of the normal distribution within 2 deviations has this deviation.
        return _truncated_normal(wanted, stddev=math.sqrt(variance) / 0.8796256610342398,
                                 seed=seed)

    composite(name, "", draw, aliases=aliases, attributes={"seed": 0.0}, doc=doc,
              traits="cut")


zeros = composite("zeros", "", lambda *shape: np.zeros(_shape(shape)), doc="zeros(3, 2)",
                  traits="cut")
ones = composite("ones", "", lambda *shape: np.ones(_shape(shape)), doc="ones(3, 2)", traits="cut")
full = composite("full", "", _full, aliases="fill",
                 doc="full([3, 2], 0.5): one value everywhere")
full_like = composite("full_like", "x value", _full_like, samples=((-3.0, 3.0), (-3.0, 3.0)),
                      doc="one value everywhere, in the shape and type of x")
eye = composite("eye", "", _eye, aliases="identity_matrix", doc="eye(3): the identity matrix",
                traits="cut")
linspace = composite("linspace", "", _linspace, attributes={"num": 50.0},
                     doc="linspace(a, b, n): n points from a to b, both included")
arange = composite("arange", "", _arange, attributes={"stop": None, "step": 1.0},
                   doc="arange(a, b, step): from a up to b, b not included", traits="cut",
                   substitute="a + step*arange(n)")
logspace = composite(
    "logspace", "",
    lambda start, stop, num=50, base=10.0: power(base, _linspace(start, stop, num)),
    attributes={"num": 50.0, "base": 10.0},
    doc="logspace(0, 3, 4): powers of the base 10, here 1, 10, 100, 1000")
geomspace = composite("geomspace", "", _geomspace, attributes={"num": 50.0},
                      doc="geomspace(1, 1000, 4): points with equal ratios, ends included")
tri = composite("tri", "", _tri, attributes={"m": None, "k": 0.0},
                doc="tri(3): ones on and below the diagonal; tri(n, m, k)", traits="cut")
normal = composite(
    "normal", "", _normal, aliases="random_normal",
    attributes={"mean": 0.0, "stddev": 1.0, "seed": 0.0},
    doc="normal(3, 2, seed=1): independent standard normal numbers", traits="cut",
    substitute="mean + stddev*normal(3, 2)")
uniform = composite(
    "uniform", "", _uniform, aliases="random_uniform",
    attributes={"minval": 0.0, "maxval": 1.0, "seed": 0.0},
    doc="uniform(3, 2, seed=1): independent numbers between 0 and 1", traits="cut",
    substitute="minval + (maxval - minval)*uniform(3, 2)")
truncated_normal = composite(
    "truncated_normal", "", _truncated_normal, aliases="random_truncated_normal",
    attributes={"mean": 0.0, "stddev": 1.0, "seed": 0.0},
    doc="truncated_normal(3, 2): normal numbers, drawn again beyond two deviations", traits="cut",
    substitute="mean + stddev*truncated_normal(3, 2)")
bernoulli = composite(
    "bernoulli", "", _bernoulli, aliases="random_bernoulli", attributes={"p": 0.5, "seed": 0.0},
    doc="bernoulli(3, 2, p=0.3): 1.0 with probability p, else 0.0", traits="cut",
    substitute="sigmoid(k*(p - uniform(3, 2))), with k how steep")
randint = composite(
    "randint", "", _randint, aliases="random_integers",
    attributes={"low": 0, "high": 2, "seed": 0.0},
    doc="randint(3, 2, high=10): whole numbers from low to below high", traits="cut")
permutation = composite(
    "permutation", "x", _permutation, aliases="random_permutation", attributes={"seed": 0.0},
    samples=((1.0, 5.0),),
    doc="permutation(5): 0 to 4 in random order; the rows of a tensor in random order")
_initialiser("glorot_uniform", "xavier_uniform", True, True,
             "glorot_uniform(3, 2): uniform weights of variance 2/(in + out) (Glorot, Bengio 2010)")
_initialiser("glorot_normal", "xavier_normal", True, False,
             "glorot_normal(3, 2): normal weights of variance 2/(in + out) (Glorot, Bengio 2010)")
_initialiser("he_uniform", "", False, True,
             "he_uniform(3, 2): uniform weights of variance 2/in (He et al. 2015)")
_initialiser("he_normal", "", False, False,
             "he_normal(3, 2): normal weights of variance 2/in (He et al. 2015)")
