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
from collections import Counter
from itertools import compress, pairwise, zip_longest

from gradcli.homework.handed_in.labels import SET_OFF, SIGN, WEAK, WORD, Label
from gradcli.homework.handed_in.markup import Line, lines_of
from gradcli.homework.handed_in.records import Parsed, short
from gradcli.lang.paper.left import formula_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gradcli.homework.handed_in.labels import Ids, Key


# An id that could be one, but is not of this sheet: 7: 12b) a3: d)
_OTHER = re.compile(
    rf"(?:{WORD}\s*)?\(?(\d{{1,4}}[a-z]{{0,3}}(?:[.-]\w{{1,3}})?|[a-z]\d{{1,4}})\s*[:)]\s*(.*)|"
    r"(\d{1,3}|[a-z])[.)](?:\s+(.*)|\Z)", re.IGNORECASE | re.DOTALL)


def parse(text: str, ids: Ids) -> Parsed:
    """Return the answers in a text."""
    parsed = Parsed(ids)
    lines = list(lines_of(text, ids, parsed))
    _label(lines, ids)
    _choose(lines, ids, parsed)
    lines = [line for line in _commented(lines, parsed) if line.label is not None or line.bare]
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
        elif before is not None and before.label and not before.label.rest and (
                behind is None or behind.label):
            _unclaimed(line.hashes + line.bare, line.number, parsed)
        before = line


def _collect(lines: Iterable[Line], parsed: Parsed) -> None:
    """Add the answers: each label with its lines."""
    id: str | None = None
    start = depth = 0
    found: list[str] = []
    signs: dict[str, str] = {}
    hollow = False      # whether a problem has nothing behind its label

    def finish() -> None:
        nonlocal hollow
        if id is not None:
            answer = found[0].strip() if len(found) == 1 and found[0].isprintable() else _joined(
                _said(_final(found, start, parsed), start, parsed))
            before, at = parsed.answers.get(id, ("", None))
            if answer and before not in ("", answer) and (hollow or signs[id] != sign):
                # The labels may number something else: the steps of another answer.
                parsed.note("unclaimed", f"`{short(before)}` is an answer to {id}, too", at)
            hollow = hollow or not answer
            signs.setdefault(id, sign)
            parsed.add(id, answer, start)

    sign = ""
    for line in lines:
        label, other = line.label, None
        if label is None and not line.indent and depth <= 0:
            other = _OTHER.fullmatch(line.bare)
            if other is not None and parsed.ids.find(other[1] or other[3]) is not None:
                other = None
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
                parsed.note("joined", f"`{short(line.bare)}` is taken for the rest of the answer to"
                            f" {id}", line.number)
            found.append(line.bare)
    finish()


def _joined(lines: Iterable[str]) -> str:
    formulas = formula_lines("\n".join(filter(None, map(str.strip, lines))), minus=True)
    return "\n".join([one.replace("\n", " ") for one in formulas])


_BULLET = re.compile(r"\A(?:>\s*+)?(?:[-+*•▪◦‣●○■–☐☑✓✔►➢]\s++)?")
_MARK = re.compile(r"\A[•▪◦‣●○■*]\s++")
_NUMBER_SIGN = re.compile(r"(\d{1,2})([.)])\s+")
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
        words[k] = words[k] or (words[k - 1] and _BYE.match(lines[k - 1]) is not None
                                and is_no_answer(lines[k]))
    if all(words[k] or not line for k, line in enumerate(lines)):
        return lines
    for line in compress(lines, words):
        parsed.note("skipped", f"`{short(line)}` is no part of a formula", start)
    return [line for line, only in zip(lines, words, strict=True) if not only]


def _is_sentence(line: str) -> bool:
    # What costs least, and most answers fail at, is asked first.
    return (not any(map(str.isdecimal, line)) and (
        len(line.split()) > 3 or line.endswith((".", "!", ":")) or _BYE.match(line) is not None)
        and is_no_answer(line) and not _MEANS.search(line))


def _depth(text: str) -> int:
    """Return how many brackets are open at the end of a text."""
    return sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))


def _unclaimed(text: str, line: int, parsed: Parsed) -> None:
    said = f"`{short(text)}` belongs to no problem"
    parsed.note("skipped" if is_no_answer(text) else "unclaimed", said, line)


# --------------------------------------------------------------------------------------------------
# Which of the labels count.

def _label(lines: Sequence[Line], ids: Ids) -> None:
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


def _take_content(lines: Sequence[Line]) -> None:
    """Take away the labels that are answers, `3.` to the problem above: nothing stands behind them,
    and they are labels elsewhere.
    """
    counts = Counter([line.label.key for line in lines if line.label is not None])
    for before, line, behind in zip(lines, lines[1:], [*lines[2:], None], strict=False):
        label, last = line.label, before.label
        if label is None or last is None or label.rest or last.rest:
            continue
        follows = behind is not None and (behind.label is None or (
            behind.label.key[:len(label.key)] == label.key != behind.label.key))
        within = last.key[:len(label.key)] == label.key != last.key
        if within or not follows if label.id is None else not follows and counts[label.key] > 1:
            line.label = None


def _choose(lines: Sequence[Line], ids: Ids, parsed: Parsed) -> None:
    """Take away the labels that are none: of the same problem clearer ones stand elsewhere, or what
    may be a label may be a product as well.
    """
    plain = any(line.rank >= 2 * SET_OFF for line in lines)
    best: dict[str, int] = {}
    for line, behind in zip_longest(lines, lines[1:]):
        if line.label is not None and line.label.id is not None and (
                line.label.rest or (behind is not None and behind.label is None)):
            best[line.label.id] = max(best.get(line.label.id, 0), line.rank)
    for line in lines:
        label = line.label
        if label is None or label.id is None or (label.level > WEAK and not label.rest):
            continue
        if len(line.hashes) == 2 and line.hashes[1] == " " and plain:
            line.label = None       # taken out, like a line of a program
            if best.get(label.id, 0) <= line.rank:
                parsed.note("unclaimed", f"`{line.hashes}{short(line.bare)}` may be an answer, or a"
                            " comment", line.number)
        elif line.rank < best.get(label.id, 0):
            line.label = None
            if is_no_answer(label.rest):        # Question 2 was hard
                parsed.note("skipped", f"`{short(line.bare)}` is no answer", line.number)
                line.typed = ""
    labelled = [(line, line.label, line.label.id) for line in lines
                if line.label is not None and line.label.id is not None]
    if not plain and _is_run([label for _, label, _ in labelled], lines, ids):
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
    place = {id: k for k, id in enumerate(ids.all)}
    content = {one.number for one, behind in pairwise(lines) if behind.label is None}
    # Labels on lines of their own; those that all others leave, a line each.
    alone = not any(label.rest for _, label, _ in labelled)
    left = {id for _, label, id in labelled if label.level == WEAK} == {*ids.all} - {
        id for _, label, id in labelled if label.level > WEAK}
    before = -1
    weak = []
    for line, label, id in labelled:
        if label.level == WEAK:
            follows = place[id] == before + 1 and before >= 0
            weak.append((line, label, id, follows))
            left = left and follows and label.sign == " "
        before = place[id]
    for line, label, id, follows in weak:
        if alone and follows and line.number in content:
            continue
        own = follows and not label.rest and line.number in content
        if len(label.key) == 1 and not left and not own:     # 2 - x, 2 x
            line.label = None
        if plain or line.label:
            parsed.note("unclaimed", f"`{short(line.bare)}` may begin the answer to {id}",
                        line.number)


def _is_run(labels: Sequence[Label], lines: Sequence[Line], ids: Ids) -> bool:
    """Return whether all labels of a text are of one form, and in the order of the sheet."""
    places = [ids.all.index(label.id) for label in labels if label.id is not None]
    first = next((line for line in lines if not line.hashes and not is_no_answer(line.bare)), None)
    return (len(labels) > 1 and len({label.sign for label in labels}) == 1
            and first is not None and first.label is labels[0] and places == sorted(set(places))
            and (places == [*range(len(places))] or all(len(label.key) > 1 for label in labels)))


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


# --------------------------------------------------------------------------------------------------
# What is surely no answer: names, dates, titles, words without any sign of a formula.

_KEYED = re.compile(
    r"(?:(?:full|first|last|sur|student|user|course|class|due|my|family|given)[ -]?)?(?:names?|id|"
    r"number|student|e-?mail|mail|date|due|class|course|section|sec|group|instructor|professor|"
    r"prof|teacher|tutor|ta|term|semester|assignment|homework|hw|title|subject|page|author|"
    r"comments?|remarks?|timestamp|version|schema|period|school|university|"
    r"submitted(?: by)?|collaborators?|worked with|nom|prénom|namn|datum|"
    r"kurs|klasse|vorname|nachname|gruppe|abgabe|matrikelnummer|matrikelnr|blatt|übungsblatt)"
    r"\s*[:#]", re.IGNORECASE)
_DATE = re.compile(r"[\d./: -]*(?:19|20)\d\d[\d./: -]*")
_FORMULA = re.compile(
    r"[=^*+√∛∫∂∇·×÷<>≤≥≈²³¹⁰-⁹$\\°′{}\[\]'’]|\d[a-z]\b|\b[a-z]\d|[α-ω]|"
    r"(?<![^\W\d_])(?!a\b)[a-z](?![^\W\d_])|\b(?:[xyzt]*(?:arc)?(?:sin|cos|tan|cot|sec|csc|ln|log|"
    r"exp|sqrt)h?[xyzt]*|[xyz]{2,})\b")
_NUMBER = re.compile(r"(?=.*\d).*\b(?:is|are|equals?|answer|value|slope|derivative|gradient|ist|"
                     r"wert|steigung|ableitung|antwort)\b", re.IGNORECASE)
# Words that an answer may need.
_MEANS = re.compile(
    r"\b(?:not?|never|none|nothing|undefined|exists?|except|if|unless|only|or|plus|minus|times|over|by|"
    r"divided|multiplied|squared?|cubed?|root|half|twice|double|negative|positive|constant|infinity|"
    r"infinite|zero|one|two|three|four|five|all|wrong|ignore|nicht|keine?|oder|null|eins|zwei|drei|"
    r"pas|inte|dne|[a-z]+n['’]t)\b", re.IGNORECASE)
_BYE = re.compile(r"(?:best|(?:kind |many )?(?:regards|thanks)|thank you|cheers|sincerely|yours|lg|"
                  r"mfg|(?:viele |liebe )?grüße|mvh|merci)\b", re.IGNORECASE)
_ATTACHED = re.compile(r"\b(?:attach|photo|picture|scan|image|pdf|upload|anhang|foto|bild|back|next"
                       r" page|other file)", re.IGNORECASE)


def is_no_answer(text: str) -> bool:
    """Return whether a line is surely no answer."""
    bare = text.strip("*_`#|>- \t")
    if _DATE.fullmatch(bare) or (_KEYED.match(bare) and not re.search(r"[=^√∫\\]", bare)):
        return True
    if _ATTACHED.search(bare) or _NUMBER.match(bare):
        return False
    plain = re.sub(r"(?<=[^\W\d_]{2})['’](?=[^\W\d_])", "", bare)
    words = re.findall(r"[^\W\d_]{2,}", plain)
    return not _FORMULA.search(plain) and any(
        len(word) > 2 or word[0].isupper() or not word.isascii() for word in words)
