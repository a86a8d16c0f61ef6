"""`watch(x)` of a file under `--tf`: only later uses count, as with tf.GradientTape.watch."""

from __future__ import annotations

import pytest
from conftest import folded
from draws import drawn

from gradcli import loads
from gradcli.questions import Question, grad

SOURCES = {"const": "const c = 2.0", "frozen": "var c = 2.0, trainable=false",
           "input": "input c = 2.0", "variable": "var c = 2.0"}


def slope(text: str, **options: object) -> float | None:
    """The derivative of `y` in `c` under TensorFlow's rules, and why it is None."""
    ask = Question(loads(text), wrt=["c"], of=["y"], tf=True, **options)  # type: ignore[arg-type]
    (source,) = grad(ask)["results"][0]["sources"]
    if source["gradient"] is None:
        assert [r["code"] for r in source["reasons"]] == ["source-watched-late"], text
        assert source["reasons"][0]["related"], text
    return source["gradient"]  # type: ignore[no-any-return]


@folded
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("kind", SOURCES)
def test_only_uses_after_the_watch_count(kind: str, seed: int) -> None:
    random = drawn(seed)
    uses, body = [], []
    count = random.randrange(1, 6)
    at = random.randrange(count + 1)
    total = 0.0
    for k in range(count):
        if k == at:
            body.append("watch(c)")
        factor = random.randrange(1, 9)
        way = random.randrange(3)
        name = f"a{k}"
        if way == 0:
            body.append(f"{name} = {factor}*c")
        elif way == 1:
            body += [f"{name} = 0.0", "for i in range(3):", f"    {name} = {name} + {factor}*c"]
            factor *= 3
        else:
            body += [f"def f{k}(t):", f"    return {factor}*t", f"{name} = f{k}(c)"]
        uses.append(name)
        total += factor if k >= at or kind == "variable" else 0.0
    if at == count:
        body.append("watch(c)")
    body.append("y = " + " + ".join(uses))
    text = "\n".join([SOURCES[kind], *body])
    assert slope(text) == (total or None), text
    assert slope(text, watch=["c"]) == slope(text.replace("watch(c)\n", ""), watch=["c"])


def test_a_second_watch_changes_nothing_and_made_values_keep_their_way() -> None:
    twice = "const c = 3.0\nwatch(c)\nu = c^2\nwatch(c)\ny = u*c"
    assert slope(twice) == 27.0
    # `u` was on the tape already, so its own use before the watch counts.
    ask = Question(loads("var w = 3.0\nu = w^2\nv = 5*u\nwatch(u)\ny = v + u"), wrt=["u"], tf=True)
    assert grad(ask)["results"][0]["sources"][0]["gradient"] == 6.0
