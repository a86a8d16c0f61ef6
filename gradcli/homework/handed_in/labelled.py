"""The labels of the lines of a text, and which of those that may be labels are some."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise, zip_longest

from gradcli.homework.handed_in.labels import SET_OFF, SIGN, WEAK, Label
from gradcli.homework.handed_in.records import short
from gradcli.homework.handed_in.words import is_no_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.homework.handed_in.labels import Ids, Key
    from gradcli.homework.handed_in.markup import Line
    from gradcli.homework.handed_in.records import Parsed

_BULLET = re.compile(r"\A(?:>\s*+)?(?:[-+*•▪◦‣●○■–☐☑✓✔►➢]\s++(?:\[[ xX]\]\s++)?)?")
_NUMBER_SIGN = re.compile(r"(\d{1,2})([.)])\s+")


def find_labels(lines: Sequence[Line], ids: Ids, parsed: Parsed) -> None:
    """Give the lines their labels; parts that are left out are those of the label above."""
    context: Key = ()
    base: dict[int, Key] = {}       # of each list, the label that it stands below
    above: tuple[Key, int] = (), 0      # the last first part of several, and how far it is indented
    for line, behind in zip_longest(lines, lines[1:]):
        text = _BULLET.sub("", line.bare)
        label = ids.label(text, context, line.set_off)
        if label is not None and (label.sign == "=" and (line.indent or text != line.bare)):
            label = None
        if line.item is not None:
            key = ids.nth(base.setdefault(line.item[0], context), line.item[1])
            if key is not None and (label is None or label.level < SIGN or not label.rest):
                label = Label(key, ids.id_of(key), line.typed, SIGN, ")")
        number = _NUMBER_SIGN.match(text)
        if number and above[0] and line.indent > above[1]:
            key = ids.nth(above[0], int(number[1]))
            if key is not None and (label is None or not label.key[1:]):
                label = Label(key, ids.id_of(key), text[number.end():], SIGN, number[2])
        if label is None or (line.indent and label.level < SET_OFF):
            continue
        if label.level == WEAK and label.id is None:
            below = None if behind is None or label.rest else ids.label(behind.bare, label.key)
            if below is None or below.level < SIGN or below.key[:-1] != label.key or (
                    context[:len(label.key)] == label.key):
                continue
            if _goes_on(below, context, ids):
                parsed.note("unclaimed", f"`{short(line.bare)}` may belong to the answer above, or"
                            " begin a problem", line.number)
                continue
            label = label._replace(level=SET_OFF)
        if line.hashes and not label.rest and label.level < SET_OFF:
            label = label._replace(level=SET_OFF)
        line.label = label
        if label.level > WEAK:
            context = label.key
        if label.id is None:
            above = label.key, line.indent
        elif not line.indent:
            above = (), 0
    _take_content(lines)


def _goes_on(label: Label, context: Key, ids: Ids) -> bool:
    """Return whether the part of a label is the next one of the problem above, too: b) below 1a."""
    here = ids.id_of((*context[:-1], label.key[-1])) if len(context) > 1 else None
    above = ids.id_of(context)
    return here is not None and above is not None and (
        ids.all.index(here) == ids.all.index(above) + 1)


def _take_content(lines: Sequence[Line]) -> None:
    """Take away the labels that are answers, `3.` to the problem above: nothing stands behind them,
    and they are labels elsewhere, no less clear.
    """
    counts = Counter([(line.label.key, level) for line in lines if line.label is not None
                      for level in range(line.label.level + 1)])
    for before, line, behind in zip(lines, lines[1:], [*lines[2:], None], strict=False):
        label, last = line.label, before.label
        if label is None or last is None or label.rest or last.rest:
            continue
        follows = behind is not None and (behind.label is None or (
            behind.label.key[:len(label.key)] == label.key != behind.label.key))
        within = last.key[:len(label.key)] == label.key != last.key
        elsewhere = counts[label.key, label.level] > 1
        if within or not follows if label.id is None else not follows and elsewhere:
            line.label = None


def choose_labels(lines: Sequence[Line], ids: Ids, parsed: Parsed) -> None:
    """Take away the labels that are none: of the same problem clearer ones stand elsewhere, or what
    may be a label may be a product as well.
    """
    plain = any(line.rank >= 2 * SET_OFF for line in lines)
    # Lines such as `# 1a: 2x` are taken out, like those of a program, unless all labels stand so.
    commented = any(line.rank >= 2 * SET_OFF and not line.hashes for line in lines)
    best: dict[str, int] = {}
    for line, behind in zip_longest(lines, lines[1:]):
        if line.label is not None and line.label.id is not None and (
                line.label.rest or (behind is not None and (
                    behind.label is None or behind.label.id == line.label.id))):
            best[line.label.id] = max(best.get(line.label.id, 0), line.rank)
    for line in lines:
        label = line.label
        if label is None or label.id is None or (label.level > WEAK and not label.rest):
            continue
        if len(line.hashes) == 2 and line.hashes[1] == " " and commented:
            clearer = best.get(label.id, 0) > line.rank
            line.label = None
            if not clearer:
                parsed.note("unclaimed", f"`{line.hashes}{short(line.bare)}` may be an answer, or a"
                            " comment", line.number)
                line.typed = ""     # told
        elif line.rank < best.get(label.id, 0):
            line.label = None
            if is_no_answer(label.rest):        # Question 2 was hard
                parsed.note("skipped", f"`{short(line.bare)}` is no answer", line.number)
                line.typed = ""
    labelled = [(line, line.label, line.label.id) for line in lines
                if line.label is not None and line.label.id is not None]
    if not plain:
        run = _run([label for _, label, _ in labelled], lines, ids)
        if run is not None:
            if not run:
                parsed.note("unclaimed", f"`{short(labelled[0][0].bare)}` may begin the answer to"
                            f" {labelled[0][2]}", labelled[0][0].number)
            return
    _choose_weak(lines, labelled, ids, parsed, plain)
    dashes = {label.sign == "-" for _, label, _ in labelled
              if label.level == SET_OFF and label.rest}
    if True in dashes and (False in dashes or len(labelled) == 1):
        parsed.note("unclaimed", f"`{short(labelled[0][0].bare)}`: a dash may be a minus",
                    labelled[0][0].number)


def _choose_weak(lines: Sequence[Line], labelled: Sequence[tuple[Line, Label, str]], ids: Ids,
                 parsed: Parsed, plain: bool) -> None:
    """Decide on the labels that may be something else, and note that they may."""
    content = {one.number for one, behind in pairwise(lines) if behind.label is None}
    # Labels on lines of their own.
    alone = not plain and not any(label.rest for _, label, _ in labelled)
    left = _are_left([label for _, label, _ in labelled], ids)
    before = -1
    for line, label, id in labelled:
        follows = before >= 0 and ids.all.index(id) == before + 1
        before = ids.all.index(id)
        next_alone = follows and not label.rest
        if label.level > WEAK or (alone and next_alone and line.number in content):
            continue
        if not label.several and not left and not next_alone:     # 2 - x, 2 x
            line.label = None
        sure = next_alone and not label.key[-1].isdecimal()     # 1a
        if (plain or line.label) and not sure:
            parsed.note("unclaimed", f"`{short(line.bare)}` may begin the answer to {id}",
                        line.number)


def _are_left(labels: Sequence[Label], ids: Ids) -> bool:
    """Return whether the labels stand in order, and the weak ones, `2 x`, are what the clear ones
    leave: all others of the sheet, or those without letters below (1a) and (1b).
    """
    weak = [label for label in labels if label.level == WEAK]
    clear = [label for label in labels if label.level > WEAK]
    places = [ids.all.index(label.id) for label in labels if label.id is not None]
    return all(label.sign in ("", " ") for label in weak) and places == sorted(places) and (
        all(label.several for label in clear)
        or {*ids.all} == {label.id for label in labels})


def _run(labels: Sequence[Label], lines: Sequence[Line], ids: Ids) -> bool | None:
    """Return whether all labels of a text are of one form and in the order of the sheet, from its
    first line on, which makes them clear; False where they may be something else, as some are left
    out or nothing stands behind any.
    """
    places = [ids.all.index(label.id) for label in labels if label.id is not None]
    signs = {line.label.sign for line, behind in zip_longest(lines, lines[1:])
             if line.label is not None and line.label.id is not None and (
                 line.label.rest or line.label.sign or (behind and behind.label is None))}
    first = next((line for line in lines if not line.hashes and not is_no_answer(line.bare)), None)
    if not (len(labels) > 1 and len(signs) < 2 and first is not None
            and first.label is labels[0] and places == sorted(set(places))):
        return None
    content = any(label.rest for label in labels) or any(line.label is None for line in lines)
    # Of two numbers below each other the second may be the answer to the first.
    bare = [line.label is not None and not line.label.rest and not line.label.sign
            for line in lines]
    stacked = any(one and other and line.label is not None and line.label.key[-1].isdecimal()
                  for one, other, line in zip(bare, bare[1:], lines[1:], strict=False))
    return content and not stacked and (places == [*range(len(places))]
                        or all(label.several for label in labels))
