"""Changes of a script's text that may bring a gradient back, in TensorFlow's words.

A row of `CHANGES` for each cause of which the text shows what to write; whether it helps is tried
by `gradcli.tf.scripts.mending`.
"""

from __future__ import annotations

import ast
import re

from gradcli.tf.scripts.formulas import (
    cast,
    finite,
    largest,
    smooth,
    stepped,
    stopped,
    switched_on,
)
from gradcli.tf.scripts.leaving import left_engine
from gradcli.tf.scripts.texts import Change, Script, Scripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    # From the script, a cause, the node at its place, and (file, line) of the question.
    Find = Callable[[Script, Any, Any, Any], Iterator[Change]]

def watched(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield `tape.watch(x)` in the block of the tape that is asked."""
    call = _question(script, asked)
    if call is None or not reason.source.isidentifier():
        return
    tape = ast.unparse(call.func.value)
    block = _block_of(script, tape, call)
    if block is None:
        return
    bound = [s for s in block.body if reason.source in _bound(s)]
    if bound:
        before = script.whole_lines(bound[-1])[1]
    else:
        before = script.whole_lines(block.body[0])[0]
    pad = " " * block.body[0].col_offset
    words = f"{tape}.watch({reason.source})"
    yield Change(words, (before, before, f"{pad}{words}\n"))


def trainable(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield the variable without `trainable=False`, else with a watch."""
    while node is not None and not isinstance(node, (ast.Call, ast.stmt)):
        node = script.above.get(node)
    for call in ast.walk(node) if node is not None else ():
        for option in call.keywords if isinstance(call, ast.Call) else ():
            if option.arg == "trainable":
                start, end = script.span(option)
                before = script.text.rfind(",", 0, start)
                yield Change("leave out `trainable=False`", (before, end, ""))
    yield from watched(script, reason, node, asked)


def _question(script: Script, asked: Any) -> Any:
    """Return the call that asks a tape."""
    for node in ast.walk(script.tree):
        if asked is not None and isinstance(node, ast.Call) and node.lineno == asked[1] and (
                isinstance(node.func, ast.Attribute) and node.func.attr in (
                    "gradient", "jacobian", "batch_jacobian")):
            return node
    return None


def _block_of(script: Script, tape: str, call: Any) -> ast.With | None:
    """Return the last `with` statement of a tape before it is asked."""
    found: ast.With | None = None
    for node in ast.walk(script.tree):
        if isinstance(node, ast.With) and node.lineno <= call.lineno and any(
                ast.unparse(i.optional_vars or i.context_expr) == tape for i in node.items) and (
                    script.function(node) is script.function(call)) and (
                    found is None or node.lineno > found.lineno):
            found = node
    return found


def _bound(statement: Any) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)}


def made_float(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield numbers with a decimal point where a source is made of whole ones."""
    while node is not None and not isinstance(node, (ast.Call, ast.stmt)):
        node = script.above.get(node)
    calls = [node] if isinstance(node, ast.Call) else [
        n for n in ast.walk(node) if isinstance(n, ast.Call) and n.args] if node is not None else []
    for call in calls[:1]:
        whole = [n for n in ast.walk(call.args[0]) if isinstance(n, ast.Constant)
                 and type(n.value) is int] if call.args else []
        types = [n for n in ast.walk(call) if isinstance(n, ast.Attribute)
                 and re.fullmatch(r"u?int\d+", n.attr)]
        if types:
            yield Change(f"write `{script.tf}.float32` for `{script.code(types[0])}`", *[
                (*script.span(n), f"{script.tf}.float32") for n in types])
        elif whole:
            first = script.code(whole[0])
            yield Change(f"make it a float: `{first}.0`", *[
                (script.span(n)[1], script.span(n)[1], ".0") for n in whole])


def assigned(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield the assignment to a variable for the new binding of its name."""
    from gradcli.explain.python.advice import assigning

    statement = script.statement_of(node)
    new = reason.fix if reason.fix and ".assign" in reason.fix else (
        assigning(statement, reason.source) if isinstance(
            statement, (ast.Assign, ast.AugAssign)) else None)
    if new is not None:
        yield script.replaced(statement, new)


def unassigned(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield the value itself for what takes it up as a state: a variable, an assignment."""
    if not isinstance(node, ast.Call) or not node.args or not isinstance(node.func, ast.Attribute):
        return
    value = script.code(node.args[0])
    if node.func.attr == "Variable":
        yield script.replaced(node, value)
    elif node.func.attr in ("assign", "assign_add", "assign_sub") and isinstance(
            script.above[node], ast.Expr):
        sign = {"assign": "", "assign_add": "+", "assign_sub": "-"}[node.func.attr]
        holder = script.code(node.func.value)
        change = _kept_local(script, node, sign)
        if change is not None:
            yield change
            return
        yield script.replaced(node, f"{holder} = {holder} {sign} {value}" if sign else
                              f"{holder} = {value}")


def _kept_local(script: Script, node: ast.Call, sign: str) -> Change | None:
    """Return the state of a variable from outside of a function kept under a name of the function's
    own while it runs; None for any other variable. sign: "+" and "-" of what adds to the state.
    """
    function, variable = script.function(node), node.func.value  # type: ignore[attr-defined]
    if not isinstance(function, ast.FunctionDef) or not isinstance(variable, ast.Name) or (
            variable.id in {*_bound(function), *[a.arg for a in function.args.args]}):
        return None
    name, new = variable.id, f"{variable.id}_now"
    whole = next(s for s in function.body if node in ast.walk(s))
    rest = function.body[function.body.index(whole):]
    edits = [(*script.span(n), new) for s in rest for n in ast.walk(s)
             if isinstance(n, ast.Name) and n.id == name and n is not variable]
    (start, end), (first, last) = script.span(node), script.span(node.args[0])
    edits += [(start, first, f"{new} = {new} {sign} (" if sign else f"{new} = "),
              (last, end, ")" if sign else "")]
    pad = " " * whole.col_offset
    before, after = script.whole_lines(whole)
    edits += [(before, before, f"{pad}{new} = {script.tf}.convert_to_tensor({name})\n"),
              (after, after, f"{pad}{name}.assign({new})\n")]
    return Change(f"keep the state as a tensor `{new}` while the function runs", *edits)


def into_block(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield the lines that ran outside, moved into the block of the tape."""
    call = _question(script, asked)
    block = _block_of(script, ast.unparse(call.func.value), call) if call is not None else None
    if block is None:
        return
    statement = script.statement_of(node)
    holder = script.above[block]
    body = next((b for b in (getattr(holder, f, None) for f in ("body", "orelse", "finalbody"))
                 if isinstance(b, list) and block in b), None)
    while statement in script.above and body is not None and statement not in body:
        statement = script.above[statement]
    if body is None or statement not in body or statement is block:
        return
    first, at = body.index(statement), body.index(block)
    moved = body[first:at] if first < at else body[at + 1:first + 1]
    start, end = script.whole_lines(moved[0])[0], script.whole_lines(moved[-1])[1]
    shift = " " * (block.body[0].col_offset - block.col_offset)
    inside = "".join([f"{shift}{line}" if line.strip() else line
                      for line in script.text[start:end].splitlines(keepends=True)])
    words = f"move the line into the block of {ast.unparse(call.func.value)}"
    if first < at:
        into = script.whole_lines(block.body[0])[0]
        yield Change(words, (start, end, ""), (into, into, inside))
    else:
        yield Change(words, (start, end, inside))


def persistent(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield a tape that answers more than once."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("GradientTape"):
            given = [k for k in call.keywords if k.arg == "persistent"]
            end = script.span(call)[1] - 1
            words = f"write `{ast.unparse(call.func)}(persistent=True)`"
            yield Change(words, (*script.span(given[0].value), "True") if given else (
                end, end, ", persistent=True" if call.args or call.keywords else
                "persistent=True"))
            return


def without_line(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield the script without a line."""
    statement = script.statement_of(node)
    yield Change(f"leave out `{script.code(statement)}`", (*script.whole_lines(statement), ""))


def computed_once(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield the name of the source for the same expression written again."""
    call = _question(script, asked)
    if call is None or not reason.source.isidentifier():
        return
    scope = script.function(call)
    made = [n for n in ast.walk(scope) if isinstance(n, ast.Assign)
            and [ast.unparse(t) for t in n.targets] == [reason.source]]
    for one in made:
        again = [n for n in ast.walk(scope) if isinstance(n, ast.expr) and n is not one.value
                 and ast.unparse(n) == ast.unparse(one.value)]
        for expression in again:
            yield script.replaced(expression, reason.source)


def used_instead(script: Script, reason: Any, node: Any, asked: Any) -> Iterator[Change]:
    """Yield an unused source in place of another one that two alike expressions use: the later of
    them is a copy that was to be changed; or the model that the target is computed with in place
    of the one that was asked for.
    """
    meant = ASKING.fullmatch(reason.fix or "")
    if meant is not None:
        root, name = reason.source.partition(".")[0], meant[1]
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id == root and part is not getattr(
                    getattr(node, "func", None), "value", None):
                yield script.replaced(part, name)
        return
    statement, name = script.statement_of(node), reason.source.rpartition(".")[2]
    made = getattr(statement, "value", None)
    if not isinstance(made, ast.Call) or not name.isidentifier():
        return
    alike = {_last(t) for s in ast.walk(script.tree) if isinstance(s, ast.Assign) and (
        isinstance(s.value, ast.Call) and ast.unparse(s.value.func) == ast.unparse(made.func))
        for t in s.targets} - {name, ""}
    uses: dict[tuple[str, str], list[ast.expr]] = {}
    for used in ast.walk(script.tree):
        if isinstance(used, (ast.Name, ast.Attribute)) and isinstance(used.ctx, ast.Load) and (
                _last(used) in alike and isinstance(script.above[used], (ast.Call, ast.BinOp))):
            form = NAMES.sub("", ast.dump(script.above[used]))
            uses.setdefault((_last(used), form), []).append(used)
    for (other, _), places in uses.items():
        later = max(places, key=lambda n: (n.lineno, n.col_offset))
        if len(places) > 1:
            new = script.code(later)[:-len(other)] + name
            change = script.replaced(later, new)
            change.words += f" in `{script.code(script.above[later])}`"
            yield change


# The advice to ask for what belongs to another object.
ASKING = re.compile(r"ask for (\w+)\..*")


def _last(node: Any) -> str:
    """Return a name, or the last one of `owner.name`."""
    return getattr(node, "id", getattr(node, "attr", ""))


# What differs between two expressions that are alike but for names and numbers.
NAMES = re.compile(r"(?<=\bid=)'\w+'|Constant\(.*?\)")
CHANGES: dict[str, Find] = {
    "path-left-engine": left_engine, "path-stop-gradient": stopped, "path-step-function": stepped,
    "path-dtype-cast": cast, "target-dtype": largest, "path-state-write": unassigned,
    "path-outside-tape": into_block, "path-gradient-not-recorded": into_block,
    "path-reset": without_line, "source-watch-reset": without_line,
    "source-constant-unwatched": watched, "source-not-watched-on-this-tape": watched,
    "source-auto-watch-off": watched, "source-nontrainable": trainable,
    "source-watched-late": watched, "source-dtype": made_float, "source-rebound": assigned,
    "source-computed-twice": computed_once, "tape-consumed": persistent,
    "target-consumed": persistent, "path-nondifferentiable": smooth,
    "zero-dead": switched_on, "source-unrelated": used_instead}
# What they change stands where the tape is asked.
AT_QUESTION = (watched, computed_once)


def changes(scripts: Scripts, reasons: Sequence[Any], asked: Any
            ) -> Iterator[tuple[Change, list[Change]]]:
    """Yield the changes for the causes of one finding, those for the first cause first, each with
    the changes for other causes of its kind: of several stop_gradients one may be meant.

    asked: (file, line) of the question.
    """
    told = [r for r in reasons if r.beside != "path"]
    found = [_of(scripts, reason, asked) for reason in told]
    for reason, made in zip(told, found, strict=True):
        alike = [other[0] for r, other in zip(told, found, strict=True)
                 if other and r is not reason and r.code == reason.code]
        for k, change in enumerate(made):
            yield change, [] if k or reason.code == "path-stop-gradient" else [
                other for other in alike if other.edits != change.edits]


def _of(scripts: Scripts, reason: Any, asked: Any) -> list[Change]:
    find = CHANGES.get(reason.code, finite if reason.code.startswith("nan-") else None)
    where = asked[0] if asked is not None and find in AT_QUESTION else reason.file
    script = scripts.at(where)
    node = script.node(reason) if script is not None else None
    if find is None or script is None or (node is None and find not in AT_QUESTION):
        return []
    found = list(find(script, reason, node, asked))
    for change in found:
        change.path = script.path
    return found


def fix(reason: Any, asked: Any, scripts: Scripts) -> str | None:
    """Return in words of TensorFlow what to write, from the script's own text where that shows it;
    None if nothing is known.
    """
    from gradcli.explain.frameworks import WORDS

    found = _of(scripts, reason, asked)
    if found:
        return found[0].words
    general = WORDS.get(reason.code)
    own: str | None = reason.fix
    if own is None and any(reason.code.startswith(code) and word not in reason.message
                           for code, word in SUITED.items()):
        return None
    if general is not None and (own is None or OF_GRADCLI.search(own)):
        return general[0][1]
    return own


# General words of these causes fit where the message has this.
SUITED = {"zero-": "`relu`", "source-condition-only": "branch"}
# Words of files and of gradcli's own operations.
OF_GRADCLI = re.compile(r"\bops\b|softmax\(x\) \*|sigmoid\(k|stop_gradient\(round|^remove stop")
