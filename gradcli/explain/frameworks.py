"""The catalogue in the words of frameworks: how each cause shows there, and what to write instead.

What is said of TensorFlow was tried with 2.21, of PyTorch with 2.13 and of JAX with 0.10.
`page()` is the whole as a Markdown page, docs/frameworks.md.
"""

from __future__ import annotations

from gradcli.explain.catalogue import NAN, ZERO
from gradcli.explain.missing.causes import CAUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    # How a cause shows, and what to write.
    Words = tuple[str, str]

FRAMEWORKS = {"tensorflow": "TensorFlow", "pytorch": "PyTorch", "jax": "JAX"}

# What PyTorch says where nothing on the way requires a gradient, and where the source is beside it.
UNRECORDED = ('RuntimeError "element 0 of tensors does not require grad"; `x.grad` is None where'
              " something else requires one")
UNUSED = ('`x.grad` is None; `torch.autograd.grad` raises "appears to not have been used in the'
          ' graph"')
AGAIN = 'RuntimeError "Trying to backward through the graph a second time"'
NO_TAPE = "does not occur"
SMOOTH_STEP = "a smooth step: "

# Code of the catalogue to the words of TensorFlow, PyTorch and JAX.
WORDS: dict[str, tuple[Words, Words, Words]] = {
    "source-constant-unwatched": (
        ("None", "`tape.watch(x)` before its first use, or `x = tf.Variable(2.0)`"),
        (UNRECORDED, "`x.requires_grad_()` before its first use, or"
                     " `x = torch.tensor(2.0, requires_grad=True)`"),
        ("0: what a function reads from outside is a constant",
         "make it an argument: `jax.grad(f, argnums=(0, 1))`")),
    "source-nontrainable": (
        ("None", "`tf.Variable(2.0, trainable=True)`, or"
                 " `tape.watch(v)`"),
        ("`p.grad` is None; a RuntimeError where all are frozen", "`p.requires_grad_(True)`"),
        ("0, where `jax.lax.stop_gradient` froze it",
         "take it into the argument that `jax.grad` differentiates")),
    "source-auto-watch-off": (
        ("None", "`tape.watch(v)`, or leave out `watch_accessed_variables=False`"),
        (UNRECORDED, "`torch.set_grad_enabled(True)` before its first use"),
        ("it has no gradient: only `argnums` are differentiated",
         "`jax.grad(f, argnums=(0, 1))`")),
    "source-not-watched-on-this-tape": (
        ("None", "watch it on the tape that is asked, too: `outer.watch(x)`"),
        (NO_TAPE, "all tensors share one graph"),
        (NO_TAPE, "each `jax.grad` differentiates its own arguments")),
    "source-watch-reset": (
        ("None", "`tape.watch(x)` again after `tape.reset()`"),
        ("`x.grad` is None: `optimizer.zero_grad()` makes it None",
         "read `x.grad` before, or `optimizer.zero_grad(set_to_none=False)`"),
        (NO_TAPE, "nothing is watched, and nothing forgotten")),
    "derivative-constant": (
        ("None for the second derivative",
         'it is 0: ask with `unconnected_gradients="zero"`'),
        ("RuntimeError at the second question, of one that does not require grad",
         "it is 0: `torch.func.hessian(f)(x)` says so"),
        ("0", "0 is right")),
    "source-downstream": (
        ("None", "`tape.gradient(target, source)`: the target comes first"),
        (UNUSED, "`torch.autograd.grad(target, source)`: the target comes first"),
        (NO_TAPE, "the target is what the function returns")),
    "source-is-copy": (
        ("None", "take the part once, `part = x[0]`, use it and ask for it; or ask for `x`"),
        (UNUSED, "take the part once, `part = x[0]`, use it and ask for it; or read"
                 " `x.grad[0]`"),
        (NO_TAPE, "ask for the whole: `jax.grad(f)(x)[0]`")),
    "source-computed-twice": (
        ("None", "keep what the first run gave, and ask for that; or build one model with both"
                 " outputs"),
        (UNUSED, "keep what the first run gave, and ask for that; a forward hook can keep it"),
        (NO_TAPE, "split the function where the value is: `jax.grad(rest)(features)`")),
    "source-in-dead-code": (
        ("None", "let the lines run"), (UNUSED, "let the lines run"), ("0", "let the lines run")),
    "source-untaken-branch": (
        ("None", "expected; `tf.where(c, a, b)` computes both branches"),
        (UNUSED, "expected; `torch.where(c, a, b)` computes both branches;"
                 " DistributedDataParallel wants `find_unused_parameters=True`"),
        ("0", "expected; `jnp.where(c, a, b)` computes both branches")),
    "source-not-picked": (
        ("None after `max(a, b)`, 0 after `tf.maximum(a, b)`",
         "`tf.reduce_logsumexp([a, b])` gives both a share"),
        (f"after `max(a, b)`: {UNUSED}",
         "`torch.maximum(a, b)` gives 0, `torch.logsumexp(torch.stack([a, b]), 0)` both a"
         " share"),
        ("0", "`jax.nn.logsumexp(jnp.stack([a, b]))` gives both a share")),
    "source-condition-only": (
        ("None", "a smooth gate: `tf.sigmoid(k * (x - c))`"),
        (UNUSED, "a smooth gate: `torch.sigmoid(k * (x - c))`"),
        ("0; `TracerBoolConversionError` under `jax.jit`",
         "a smooth gate: `jax.nn.sigmoid(k * (x - c))`")),
    "source-shadowed": (
        ("None", "rename one of the two"), (UNUSED, "rename one of the two"),
        ("0", "rename one of the two")),
    "path-rebound": (
        ("None", "keep the value that was used under a name of its own"),
        (UNUSED, "keep the value that was used under a name of its own"),
        ("0", "keep the value that was used under a name of its own")),
    "source-rebound": (
        ("None: after `w = w - rate * g` the name is a tensor", "`w.assign_sub(rate * g)`"),
        ("`w.grad` is None, with a warning that it is no leaf: `w = w - rate * w.grad` made a new"
         " tensor", "in `torch.no_grad()`: `w -= rate * w.grad`"),
        ("0", "ask at the value that goes in: `jax.grad(f)(w)`")),
    "source-after-target": (
        ("None", "compute the target behind it, in the block of the tape"),
        (UNUSED, "compute the target behind it"),
        (NO_TAPE, "the target is computed from the arguments")),
    "source-unrelated": (
        ("None", 'use it in the target; `unconnected_gradients="zero"` where 0 is meant'),
        (UNUSED, "use it in the target; `allow_unused=True`, `materialize_grads=True` where 0 is"
                 " meant"),
        ("0", "use it in what the function returns")),
    "source-dtype": (
        ("None", "`x = tf.Variable(2.0)`, or `tf.cast(x, tf.float32)` before it is watched"),
        ('RuntimeError "Only Tensors of floating point and complex dtype can require gradients"',
         "`x = torch.tensor(2.0, requires_grad=True)`"),
        ('TypeError "grad requires real- or complex-valued inputs"', "`jax.grad(f)(2.0)`")),
    "source-watched-late": (
        ("None", "`tape.watch(x)` before the line that uses it"),
        (UNRECORDED, "`x.requires_grad_()` before the line that uses it"),
        ("0: what ran before `jax.grad` is a constant", "compute it in the function")),
    "path-stop-gradient": (
        ("None", "remove `tf.stop_gradient(y)`"),
        (UNRECORDED, "remove `y.detach()`"),
        ("0", "remove `jax.lax.stop_gradient(y)`")),
    "path-dtype-cast": (
        ("None", "keep it a float; `x + tf.stop_gradient(tf.round(x) - x)` rounds with a slope"),
        (UNRECORDED, "keep it a float; `x + (x.round() - x).detach()` rounds with a slope"),
        ("0", "keep it a float; `x + jax.lax.stop_gradient(jnp.round(x) - x)` rounds with a"
              " slope")),
    "path-nondifferentiable": (
        ("None", "`tf.sigmoid(k * (a - b))` for `a > b`, `tf.nn.softmax(k * x)` for an argmax"),
        (UNRECORDED, "`torch.sigmoid(k * (a - b))` for `a > b`, `torch.softmax(k * x, -1)` for an"
                     " argmax"),
        ("0", "`jax.nn.sigmoid(k * (a - b))` for `a > b`, `jax.nn.softmax(k * x)` for an argmax")),
    "path-step-function": (
        ("None", "`x + tf.stop_gradient(tf.floor(x) - x)`; `unconnected_gradients=\"zero\"` where"
                 " 0 is meant"),
        ('0; `x // y` is an error, "not implemented"', "`x + (torch.floor(x) - x).detach()`"),
        ("0", "`x + jax.lax.stop_gradient(jnp.floor(x) - x)`")),
    "path-value-independent": (
        ("None", "use the values of the tensor, not only its shape"),
        (UNRECORDED, "use the values of the tensor, not only its shape"),
        ("0", "use the values of the array, not only its shape")),
    "path-state-write": (
        ("None: `v.assign(y)` is not recorded", "use `y` itself in place of the variable"),
        ("None in what it was computed from: `p.data = y`, `torch.nn.Parameter(y)`, and"
         " `p.copy_(y)` in `torch.no_grad()` begin anew",
         "use `y` itself; as parameters of a module:"
         " `torch.func.functional_call(model, parameters, x)`"),
        ('TypeError "JAX arrays are immutable"', "`x = x.at[0].set(y)`, which has a slope")),
    "path-left-engine": (
        ("None: `x.numpy()`, `float(x)`, `np.mean(x)` leave the tape",
         "`tf.reduce_mean(x)` for `np.mean(x)`, `tf.stack([a, b])` for `np.array([a, b])`"),
        ('RuntimeError "Can\'t call numpy() on Tensor that requires grad"; `x.item()`, `float(x)`'
         " and `torch.tensor(x)` cut without one",
         "`torch.mean(x)` for `np.mean(x)`, `torch.stack([a, b])` for `torch.tensor([a, b])`"),
        ("`TracerArrayConversionError` of NumPy, `ConcretizationTypeError` of `float(x)`; 0 after"
         " `x.item()`",
         "`jnp.sin(x)` for `np.sin(x)`, `jnp.stack([a, b])` for `np.array([a, b])`")),
    "path-stop-recording": (
        ("None", "move the line out of `tape.stop_recording()`"),
        (UNRECORDED, "move the line out of `torch.no_grad()`"),
        (NO_TAPE, "only `jax.lax.stop_gradient(y)` stops")),
    "path-outside-tape": (
        ("None", "move the line into the block of `tf.GradientTape()`"),
        (f"no tape, but `torch.no_grad()` and `torch.inference_mode()`: {UNRECORDED}",
         "move the line out of that block"),
        ("0: what ran before `jax.grad` is a constant", "move the line into the function")),
    "path-reset": (
        ("None", "`tape.reset()` before the line"),
        (NO_TAPE, "a graph lives as long as its tensors"),
        (NO_TAPE, "each call of `jax.grad` runs the function anew")),
    "path-custom-none": (
        ("None", "return a gradient for each argument of the function"),
        ("`x.grad` is None", "return from `backward` a gradient for each input of `forward`"),
        ("0; TypeError if not each argument has one",
         "return from the rule a tuple with a cotangent for each argument")),
    "path-custom-internal": (
        ("None", "ask for the arguments of the function, or make the value one"),
        ('RuntimeError "One of the differentiated Tensors does not require grad": `forward` is not'
         " recorded", "ask for the inputs of `Function.apply`, or make the value one"),
        ("`UnexpectedTracerError`", "make the value an argument of the function")),
    "path-gradient-not-recorded": (
        ("None", "take the inner gradient within the block of the outer tape"),
        (UNRECORDED, "`torch.autograd.grad(y, x, create_graph=True)`"),
        (NO_TAPE, "`jax.grad(jax.grad(f))`")),
    "target-consumed": (
        ("an error or None", "`tf.GradientTape(persistent=True)`"),
        (AGAIN, "`y.backward(retain_graph=True)`, or compute the target again"),
        (NO_TAPE, "each call of `jax.grad` runs the function anew")),
    "target-constant": (
        ("None", "use the source in the target"),
        (UNRECORDED, "use the source in the target"),
        ("0", "use the argument in what the function returns")),
    "target-dtype": (
        ("None", "keep it a float"), (UNRECORDED, "keep it a float"),
        ('TypeError "grad requires real-valued outputs"', "return a float")),
    "target-empty": (
        ("None", "put a target into the list"),
        (UNUSED, "put a target into the list"),
        ('TypeError "Gradient only defined for scalar-output functions"', "return a number")),
    "forward-wrong-order": (
        ("None", "ask the inner one first: `outer.jvp(inner.jvp(y))`"),
        (NO_TAPE, "nest the functions: `torch.func.jvp` within `torch.func.jvp`"),
        (NO_TAPE, "nest the functions: `jax.jvp` within `jax.jvp`")),
    "path-no-rule": (
        ('LookupError "gradient registry has no entry for"', "`tf.custom_gradient(f)`"),
        ('NotImplementedError "the derivative for ... is not implemented"',
         "a `torch.autograd.Function` with `backward`"),
        ('NotImplementedError "Differentiation rule for ... not implemented"',
         "`jax.custom_vjp(f)`")),
    "tape-consumed": (
        ('RuntimeError "A non-persistent GradientTape can only be used to compute one set of'
         ' gradients"', "`tf.GradientTape(persistent=True)`"),
        (AGAIN, "`y.backward(retain_graph=True)`"),
        (NO_TAPE, "what `jax.vjp` returns may be called again")),
    "tape-not-entered": (
        ('RuntimeError "A non-persistent GradientTape can only be used to compute one set of'
         ' gradients"', "compute in the block of `tf.GradientTape()`"),
        (NO_TAPE, "recording begins by itself"), (NO_TAPE, "`jax.grad` runs the function")),
    "nan-dead-branch": (
        ("NaN", "where in where: `tf.where(x > 0, tf.math.log(tf.where(x > 0, x, 1.0)), 0.0)`"),
        ("NaN", "where in where: `torch.where(x > 0, torch.log(torch.where(x > 0, x, 1.0)),"
                " 0.0)`"),
        ("NaN", "double where: `jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1.0)), 0.0)`")),
    "nan-infinite-slope": (
        ("inf", "`tf.sqrt(x + 1e-12)`"), ("inf", "`torch.sqrt(x + 1e-12)`"),
        ("inf", "`jnp.sqrt(x + 1e-12)`")),
    "nan-zero-times-inf": (
        ("NaN", "`tf.math.xlogy(x, x)` for `x * tf.math.log(x)`,"
                " `tf.reduce_sum(x * x)` for `tf.norm(x) ** 2`"),
        ("NaN", "`torch.where(x > 0, x * torch.log(torch.where(x > 0, x, 1.0)), 0.0)`"),
        ("NaN", "`jnp.where(x > 0, x * jnp.log(jnp.where(x > 0, x, 1.0)), 0.0)`")),
    "nan-overflow": (
        ("NaN", "`tf.nn.softplus(x)` for `tf.math.log(1 + tf.exp(x))`, `tf.reduce_logsumexp(x)`"),
        ("NaN", "`torch.nn.functional.softplus(x)` for `torch.log(1 + torch.exp(x))`,"
                " `torch.logsumexp(x, -1)`"),
        ("NaN", "`jax.nn.softplus(x)` for `jnp.log(1 + jnp.exp(x))`, `jax.nn.logsumexp(x)`")),
    "nan-domain": (
        ("NaN", "`tf.maximum(x, 1e-12)` in its argument"),
        ("NaN", "`x.clamp(min=1e-12)` in its argument"),
        ("NaN", "`jnp.maximum(x, 1e-12)` in its argument")),
    "nan-pole": (
        ("NaN or inf", "`tf.math.divide_no_nan(a, b)`"),
        ("NaN or inf", "`torch.where(b != 0, a / torch.where(b != 0, b, 1.0), 0.0)`"),
        ("NaN or inf", "`jnp.where(b != 0, a / jnp.where(b != 0, b, 1.0), 0.0)`")),
    "nan-indeterminate": (
        ("NaN", "the limit: `tf.where(x != 0, tf.sin(x) / tf.where(x != 0, x, 1.0), 1.0)`"),
        ("NaN", "the limit: `torch.where(x != 0, torch.sin(x) / torch.where(x != 0, x, 1.0),"
                " 1.0)`"),
        ("NaN", "the limit: `jnp.where(x != 0, jnp.sin(x) / jnp.where(x != 0, x, 1.0), 1.0)`")),
    "nan-underflow": (
        ("NaN or inf", "stay with logarithms: `tf.nn.log_softmax(x)`, `tf.reduce_logsumexp(x)`"),
        ("NaN or inf", "stay with logarithms: `torch.log_softmax(x, -1)`,"
                       " `torch.logsumexp(x, -1)`"),
        ("NaN or inf", "stay with logarithms: `jax.nn.log_softmax(x)`, `jax.nn.logsumexp(x)`")),
    "nan-spread": (
        ("NaN everywhere", "`tf.debugging.enable_check_numerics()` finds the first"),
        ("NaN everywhere", "`torch.autograd.set_detect_anomaly(True)` finds the first"),
        ("NaN everywhere",
         '`jax.config.update("jax_debug_nans", True)` finds the first, under `jax.jit`')),
    "zero-flat": (
        ("0", f"{SMOOTH_STEP}`tf.tanh(k * x)` for `tf.sign(x)`"),
        ("0", f"{SMOOTH_STEP}`torch.tanh(k * x)` for `torch.sign(x)`"),
        ("0", f"{SMOOTH_STEP}`jnp.tanh(k * x)` for `jnp.sign(x)`")),
    "zero-dead": (
        ("0", "`tf.nn.leaky_relu(x)` for `tf.nn.relu(x)`"),
        ("0", "`torch.nn.functional.leaky_relu(x)` for `torch.relu(x)`"),
        ("0", "`jax.nn.leaky_relu(x)` for `jax.nn.relu(x)`")),
    "zero-cancelled": (
        ("0", "0 is right: the paths cancel"), ("0", "0 is right: the paths cancel"),
        ("0", "0 is right: the paths cancel")),
    "zero-requested": (
        ("0", 'leave out `unconnected_gradients="zero"`, to see None'),
        ("0", "leave out `materialize_grads=True`, to see None"),
        ("0: there is no None", "`jax.make_jaxpr(f)(x)` shows what the argument goes into")),
}

# What can go wrong in PyTorch alone: what was written, what comes of it, what to write.
ONLY_PYTORCH = (
    ("`x += 1` of a leaf",
     'RuntimeError "a leaf Variable that requires grad is being used in an in-place operation"',
     "`x = x + 1` where it is a step of the calculation; in `torch.no_grad()` where it is an"
     " update"),
    ("`x[0] = 5.0` of a leaf",
     'RuntimeError "a view of a leaf Variable that requires grad is being used in an in-place'
     ' operation"', "`y = x.clone()`, then `y[0] = 5.0`"),
    ("`y = torch.exp(x)`, then `y += 1`; an optimizer's step between forward and backward",
     'RuntimeError "one of the variables needed for gradient computation has been modified by an'
     ' inplace operation"',
     "`y = y + 1`; the step behind `backward`;"
     " `torch.autograd.set_detect_anomaly(True)` names the line"),
    ("`x.data.fill_(10.0)` between forward and backward",
     "no error and a wrong gradient: `x.data` is hidden from the graph",
     "`x.detach()`, which is the same value and gives an error; in `torch.no_grad()` to update"),
    ("`y = x.data * 2`", UNRECORDED, "`y = x * 2`"),
    ("`total += loss.item()`, then `total.backward()`",
     "a Python number, which has no `backward`; within a formula a constant",
     "`total = total + loss`; `loss.item()` for printing alone"),
    ("`torch.tensor([a, b])` of tensors", f"cut, with no error there: {UNRECORDED}",
     "`torch.stack([a, b])`"),
    ("`y.backward()` twice", AGAIN,
     "`y.backward(retain_graph=True)` at first; or compute the target again"),
    ("a hidden state that is carried from batch to batch", AGAIN, "`h = h.detach()` between them"),
    ("`y.grad` of `y = x * 2`",
     "None, with a warning: it is no leaf, and only leaves keep gradients",
     "`y.retain_grad()` before `backward`, or `torch.autograd.grad(target, y)`"),
    ("`x = torch.tensor(2.0, requires_grad=True).to(device)`, `x = x.double()`, `x = x * 1`",
     "`x.grad` is None: the leaf is the tensor before `to`",
     "`x = torch.tensor(2.0, device=device, requires_grad=True)`"),
    ("`x.grad` grows from step to step", "no error: `backward` adds to what is there",
     "`optimizer.zero_grad()` before each `backward`"),
    ("`y.backward()` of several elements",
     'RuntimeError "grad can be implicitly created only for scalar outputs"',
     "`y.sum().backward()`, or `y.backward(torch.ones_like(y))`"),
    ("`self.layers = [torch.nn.Linear(1, 1)]`",
     "the optimizer does not know them: `model.parameters()` is empty",
     "`self.layers = torch.nn.ModuleList([torch.nn.Linear(1, 1)])`"),
    ("`model.weight = torch.nn.Parameter(w)` after the optimizer was made",
     "no error, and nothing changes: the optimizer has the old one",
     "in `torch.no_grad()`: `model.weight.copy_(w)`"),
    ("`checkpoint(layer, x, use_reentrant=True)` where `x` requires no gradient", UNRECORDED,
     "`checkpoint(layer, x, use_reentrant=False)`"),
)


def in_words(codes: Iterable[str], framework: str) -> dict[str, Any]:
    """Return what a framework says of these causes, each once, as `why` prints it."""
    at = list(FRAMEWORKS).index(framework)
    found = []
    for code in dict.fromkeys(codes):
        if code in WORDS:
            shows, fix = WORDS[code][at]
            found.append({"code": code, "shows": shows, "fix": fix})
    return {"name": FRAMEWORKS[framework], "causes": found}


# --- the page of all ----------------------------------------------------------------------------

PREFACE = """\
# In your framework this reads ...

Written by `pytest --update-golden tests/explain/test_frameworks.py` from
`gradcli/explain/frameworks.py`; not to be edited. What is said of TensorFlow was tried with 2.21,
of PyTorch with 2.13, of JAX with 0.10.

The causes are those of [why.md](why.md), which has an example of each. With `--framework pytorch`
(`tensorflow`, `jax`) `gradcli why` adds these words to its answer, for the causes that it found.

TensorFlow says None of each missing gradient. PyTorch says None in `x.grad`, or raises an error.
JAX has neither: a function has a gradient in each of its arguments, and it is 0 where no path
leads. So in JAX a mistake looks like an answer.
"""


def page() -> str:
    """Return the page of all causes in the words of all frameworks, and what only PyTorch has."""
    meanings = {**{code: cause.meaning for code, cause in CAUSES.items()}, **NAN, **ZERO}
    lines = [PREFACE]
    for at, name in enumerate(FRAMEWORKS.values()):
        rows = [(f"`{code}`<br>{meanings[code]}", *WORDS[code][at]) for code in meanings]
        lines += [f"## {name}\n", *_table(("cause", "how it shows", "what to write"), rows), ""]
    lines += ["## Only in PyTorch\n",
              *_table(("what was written", "what comes of it", "what to write"), ONLY_PYTORCH)]
    return "\n".join(lines) + "\n"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join([cell.replace('|', chr(92) + '|') for cell in row])} |"
