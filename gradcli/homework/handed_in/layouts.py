r"""The answers in a text, however its lines are laid out.

    # student: s1234567
    1a: 2x sin x + x^2 cos x
    1b) f'(x) = 3x^2
    Problem 2
      (a) <2x+3y, 3x>
      (b) x^2 + 2x +
          17
    | 3 | $2x$ |
    \item[4] $2x$

A line with a label begins an answer (`labels`); what follows belongs to it, and the end of a line
stays in an answer where a formula may end there: lines may be steps of their own. Lists of LaTeX
number their items; other readers of documents write lists so, too. What belongs to no problem is
noted as `unclaimed`, unless it is surely no answer. Lines that begin with # are headings where they
have a label, else comments.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import compress, zip_longest

from gradcli.homework.handed_in.labelled import choose_labels, find_labels
from gradcli.homework.handed_in.labels import SIGN, WORD, Ids
from gradcli.homework.handed_in.markup import Line, lines_of
from gradcli.homework.handed_in.records import DOUBTS, Parsed, short
from gradcli.homework.handed_in.words import BYE, MEANS, is_no_answer
from gradcli.lang.paper.left import formula_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence



# Blanks of other widths, and what is seen as none.
BLANKS = {**dict.fromkeys([0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " "),
          **dict.fromkeys([0x200B, 0xFEFF], "")}
# An id that could be one, but is not of this sheet: 7: 12b) a3: d)
_OTHER = re.compile(
    rf"(?:{WORD}\s*)?\(?(\d{{1,4}}[a-z]{{0,3}}(?:[.-]\w{{1,3}})?|[a-z]\d{{1,4}})\s*[:)]\s*(.*)|"
    r"(\d{1,3}|[a-z])[.)](?:\s+(.*)|\Z)", re.IGNORECASE | re.DOTALL)


def parse(text: str, ids: Ids) -> Parsed:
    """Return the answers in a text; where its labels are not all of the sheet, but count as many
    problems, they tell the order.
    """
    text = text.translate(BLANKS)
    parsed = _parsed(text, ids)
    if _is_all_claimed(parsed):
        return parsed
    count = len(ids.all)
    for other in _counting(count):
        found = _parsed(text, other)
        if other.all == ids.all or not found.answers or not _is_all_claimed(found):
            continue
        first, place = next(iter(found.answers)), dict(zip(other.all, ids.all, strict=True))
        found.answers = {place[id]: answer for id, answer in found.answers.items()}
        found.taken = {place.get(id, id) for id in found.taken}
        found.ids = ids
        if len(found.answers) == count or parsed.answers.items() <= found.answers.items():
            found.note("unclaimed", f"the labels from {first} on are not the ids of the sheet: read"
                       " in its order", found.answers[place[first]][1])
            return found
    return parsed


@cache
def _counting(count: int) -> list[Ids]:
    """Return labels that count problems, 1, 2, ... and a, b, ..."""
    return [Ids([*map(str, range(1, count + 1))]),
            *([Ids([*map(chr, range(ord("a"), ord("a") + count))])] if count <= 26 else [])]


def _is_all_claimed(parsed: Parsed) -> bool:
    return not any(about in (*DOUBTS, "loose") for about, _, _ in parsed.notes)


def _parsed(text: str, ids: Ids) -> Parsed:
    """Return the answers in a text with labels of these ids."""
    parsed = Parsed(ids)
    lines = list(lines_of(text, ids, parsed))
    find_labels(lines, ids, parsed)
    choose_labels(lines, ids, parsed)
    lines = [line for line in _commented(lines, parsed) if line.label is not None or line.bare]
    lines = _without_farewell(lines, parsed)
    if not any(line.label for line in lines) and _in_order(lines, parsed):
        return parsed
    _collect(_split(lines, ids, parsed), parsed)
    if lines and not parsed.answers and not any(
            about == "unclaimed" for about, _, _ in parsed.notes):
        # Whoever writes only words, `see the paper in your mailbox`, has something to say.
        parsed.note("unclaimed", f"`{short(lines[-1].bare)}` belongs to no problem",
                    lines[-1].number)
    return parsed


def _commented(lines: Sequence[Line], parsed: Parsed) -> Iterator[Line]:
    """Yield the lines without comments; one in the place of an answer is noted."""
    before = None
    for line, behind in zip_longest(lines, lines[1:]):
        if line.label is None:
            line.bare = line.typed
        if line.label is not None or not line.hashes:
            yield line
        elif not line.bare:
            pass
        elif before is not None and before.label and not before.label.rest and (
                behind is None or behind.label):
            _unclaimed(line.hashes + line.bare, line.number, parsed)
        else:
            parsed.leave(line.bare, "in a comment", line.number)
        before = line


def _without_farewell(lines: list[Line], parsed: Parsed) -> list[Line]:
    """Return the lines without `Best, Ann` at the end, which is noted."""
    end = len(lines)
    for k in range(len(lines) - 1, 0, -1):
        line = lines[k]
        if line.label is not None or not is_no_answer(line.bare) or MEANS.search(line.bare):
            break
        if BYE.match(line.bare):
            end = k
    for line in lines[end:]:
        _unclaimed(line.bare, line.number, parsed)
    return lines[:end]


def _collect(lines: Iterable[Line], parsed: Parsed) -> None:
    """Add the answers: each label with its lines."""
    id: str | None = None
    start = depth = 0
    found: list[str] = []
    signs: dict[str, str] = {}
    # What is answered again; and with labels of another form, which may number steps.
    replaced: list[tuple[str, int | None]] = []
    other_form: list[tuple[str, int | None]] = []

    def finish() -> None:
        if id is not None:
            answer = found[0].strip() if len(found) == 1 and found[0].isprintable() else _joined(
                _said(_final(found, start, parsed), start, parsed))
            answer = _without_leaders(answer)
            before, at = parsed.answers.get(id, ("", None))
            if answer and before not in ("", answer):
                said = f"`{short(before)}` is an answer to {id}, too"
                (other_form if signs[id] != sign else replaced).append((said, at))
            signs.setdefault(id, sign)
            parsed.add(id, answer, start)

    sign = ""
    for line in lines:
        label, other = line.label, None
        if label is None and not line.indent and depth <= 0:
            other = _OTHER.fullmatch(line.bare)
            if other is not None and parsed.ids.find(other[1] or other[3]) is not None:
                other = None
        inside = depth > 0
        if label is None and other is None:
            depth += _depth(line.bare)
        if label is not None or other is not None:
            finish()
            start, sign = line.number, label.sign if label is not None else ""
            depth = _depth(label.rest) if label is not None else 0
            if other is not None:
                id, found = other[1] or other[3], [other[2] or other[4] or ""]
                continue
            assert label is not None
            id, found = label.id, [label.rest]
            if id is None and label.rest:
                _unclaimed(label.rest, line.number, parsed)
        elif id is None:
            _unclaimed(line.bare, line.number, parsed)
        else:
            if not line.indent and any(found):
                rest = inside or _GOES_ON.match(line.bare) or _OPEN.search(found[-1]) or (
                    is_no_answer(line.bare))
                about, more = ("joined", "") if rest else ("loose", ", and may be one of its own")
                parsed.note(about, f"`{short(line.bare)}` is taken for the rest of the answer to"
                            f" {id}{more}", line.number)
                if more:
                    parsed.taken.add(parsed.ids.find(id) or id)
            found.append(line.bare)
    finish()
    if all(parsed.answers.get(id, ("", 0))[0] for id in parsed.ids.all):
        replaced = []       # who answers all corrects one; else its label may be wrong
    for message, at in (*other_form, *replaced):
        parsed.note("unclaimed", message, at)


def _without_leaders(answer: str) -> str:
    """Return an answer without the line of a form: ___2x___, ..... 2x."""
    for leader, least in (("_", 2), (".", 3)):
        if answer.startswith(leader * least):
            answer = answer.lstrip(leader).lstrip()
    return answer.rstrip("_").rstrip() if answer.endswith("__") else answer


def _joined(lines: Iterable[str]) -> str:
    formulas = formula_lines("\n".join(filter(None, map(str.strip, lines))), minus=True)
    return "\n".join([one.replace("\n", " ") for one in formulas])


_MARK = re.compile(r"\A[•▪◦‣●○■*]\s++")
# What begins the rest of a formula, and ends one that has a rest.
_GOES_ON = re.compile(r"[=+*/^·×÷)\]}⇒→≈>≤≥&,;]|<(?![\w/!])|"
                      r"\\(?:Rightarrow|implies|to|approx|cdot)\b")
_OPEN = re.compile(r"[=+*/^·×÷(\[{⇒→≈<≤≥&,−-]\s*\Z")
_FINAL = re.compile(r"(?:final\s+)?(?:answer|ans|result|antwort|ergebnis|lösung|réponse|svar)\s*+"
                    r"(?:is\s*+)?[:=]", re.IGNORECASE)


def _final(lines: list[str], start: int, parsed: Parsed) -> list[str]:
    """Return the lines from the one `Answer:` on; those before it are the way there."""
    places = [k for k, line in enumerate(lines) if _FINAL.match(line)]
    at = places[0] if len(places) == 1 else 0
    if any(lines[:at]):
        parsed.note("skipped", f"`{short(' '.join(lines[:at]))}` stands before"
                    f" `{short(lines[at])}`, which is the answer", start)
    return lines[at:]


def _said(lines: list[str], start: int, parsed: Parsed) -> list[str]:
    """Return the lines without sentences beside formulas: `We use the product rule.`"""
    words = [_is_sentence(line) for line in lines]
    for k in range(1, len(lines)):      # Best, / Ann
        words[k] = words[k] or (words[k - 1] and BYE.match(lines[k - 1]) is not None
                                and is_no_answer(lines[k]))
    if all(words[k] or not line for k, line in enumerate(lines)):
        return lines
    for line in compress(lines, words):
        parsed.note("skipped", f"`{short(line)}` is no part of a formula", start)
    return [line for line, only in zip(lines, words, strict=True) if not only]


def _is_sentence(line: str) -> bool:
    # What costs least, and most answers fail at, is asked first.
    return (not any(map(str.isdecimal, line)) and (
        len(line.split()) > 3 or line.endswith((".", "!", ":")) or BYE.match(line) is not None)
        and is_no_answer(line) and not MEANS.search(line))


def _depth(text: str) -> int:
    """Return how many brackets are open at the end of a text."""
    return sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))


def _unclaimed(text: str, line: int, parsed: Parsed) -> None:
    said = f"`{short(text)}` belongs to no problem"
    parsed.note("skipped" if is_no_answer(text) else "unclaimed", said, line)


def _split(lines: Iterable[Line], ids: Ids, parsed: Parsed) -> Iterator[Line]:
    """Yield the lines; one that answers several problems, `1a) 2x, 1b) 3x`, in parts."""
    lines = list(lines)
    taken = {line.label.id for line in lines if line.label is not None}
    place = -1
    for line in lines:
        label, at = line.label, 0
        if label is not None:
            place = -1 if label.id is None else ids.all.index(label.id)
        if place < 0:
            yield line
            continue
        text = line.bare if label is None else label.rest
        for begin in ids.inner(text):
            piece = text[begin:begin + 100].rstrip()
            other = ids.label(piece, None)
            if other is None or other.id is None or other.id in taken or other.level < SIGN or (
                    not text[at:begin].strip()):
                continue
            if ids.all.index(other.id) <= place:
                parsed.note("unclaimed", f"`{short(text[begin:])}` may begin the answer to"
                            f" {other.id}", line.number)
                continue
            taken.add(other.id)
            before = text[at:begin].rstrip(" \t,;")
            if line.label is None:
                line.bare = before
            else:
                line.label = line.label._replace(rest=before)
            yield line
            line, place = Line(text[begin:], line.number), ids.all.index(other.id)
            at = begin + len(piece) - len(other.rest)
            line.label = other._replace(rest=text[at:])
        yield line


def _in_order(lines: Sequence[Line], parsed: Parsed) -> bool:
    """Add the answers of a text without labels that has as many as the sheet has problems, and
    return whether it has.
    """
    ids = parsed.ids.all
    said = [not is_no_answer(line.bare) for line in lines]
    first = said.index(True) if True in said else len(lines)
    for some in (lines, lines[first:], list(compress(lines, said))):
        blocks: list[list[Line]] = []
        for line in some:
            if line.gap or not blocks:
                blocks.append([])
            blocks[-1].append(line)
        single = [[line] for line in some]
        whole = [list(some)] if len(ids) == 1 and some else blocks
        for groups in (whole, single):
            if len(groups) != len(ids) or any(_OTHER.fullmatch(line.bare) for line in some):
                continue
            for id, group in zip(ids, groups, strict=True):
                parsed.add(id, _joined([_MARK.sub("", line.bare) for line in group]),
                           group[0].number)
            parsed.note("unclaimed", f"`{short(some[0].bare)}` and what follows has no labels: read"
                        " in the order of the sheet", some[0].number)
            return True
    return False
