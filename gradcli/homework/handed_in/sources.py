r"""Documents that are text with commands as lines of text: .tex, .ipynb and .rtf.

As in `documents`, what is seen but is no text becomes a command that LaTeX has not, so that a
person looks at it.
"""

from __future__ import annotations

import json
import re

from gradcli.homework.handed_in.equations import unread
from gradcli.homework.handed_in.paragraphs import Counters, Pieces, raised
from gradcli.homework.handed_in.records import MAX_BYTES, Unreadable, decoded_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    Left = list[tuple[str, str]]    # texts that are left out, and where they stand

# --------------------------------------------------------------------------------------------------
# LaTeX: what stands between \begin{document} and \end{document}, with macros replaced and lists
# numbered. Formulas stay LaTeX; the dollars around them go.

MAX_MACROS = 2000       # replaced in one document
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
_DEFINITION = re.compile(
    r"\\(?:(?:re|provide)?newcommand|DeclareRobustCommand|DeclareMathOperator|def)\*?\s{0,9}"
    r"(?:\{\s{0,9}(\\(?:[A-Za-z@]+|.))\s{0,9}\}|(\\(?:[A-Za-z@]+|.)))\s{0,9}"
    r"(\[\d\]|(?:#\d)*)\s{0,9}((?:\[[^\]\n]{0,99}\])?)\s{0,9}(?=\{)")
# A line that is no command, where commands are expected.
_TYPED = re.compile(r"[^\\{}\[\]]+|[^\\{}=]*\$.*")
# Where a formula begins, or what is shown letter by letter; and how each ends.
_OPENING = re.compile(
    r"\\\\|\\\$|\$\$|\$|\\\[|\\\(|\\begin\{((?:equation|align|gather|multline|flalign|alignat"
    r"|eqnarray|displaymath|math|verbatim|lstlisting|comment|tikzpicture)\*?)\}")
CLOSING = {"$$": "$$", "$": "$", r"\[": r"\]", r"\(": r"\)"}
# What stands around a text, and what may stand alone.
_AROUND = re.compile(
    r"\\(?:(section|subsection|subsubsection|paragraph|subparagraph|chapter|title|author|date)\*?"
    r"|textbf|textit|emph|underline|textrm|textsf|textsc|textnormal|fbox|mbox|centerline|large"
    r"|hypertarget\{[^{}]{0,200}\}|(textsuperscript)|(textsubscript))"
    r"\s{0,9}\{((?:[^{}]|\{[^{}]*\})*)\}")
_PIECE = re.compile(
    r"\\(begin|end)\s{0,9}\{([A-Za-z]{1,30}\*?)\}\s{0,9}((?:\[[^\]]{0,99}\])?)"
    r"|\\(item|question|part|subpart|subsubpart)\b\s{0,9}((?:\[[^\]]{0,99}\])?)"
    r"|\\(includegraphics|includepdf|input|include|lstinputlisting|cancel|sout|st)\b"
    r"|\\setcounter\{enum[iv]{1,3}\}\{(-?\d{1,4})\}"
    r"|(\\\\\*?(?:\[[^\]]{0,99}\])?|\\(?:newline|par|linebreak|newpage|clearpage|pagebreak)\b)"
    r"|\\(?:noindent|centering|maketitle|tableofcontents|displaystyle|bigskip|medskip|smallskip"
    r"|large|Large|small|bf|it|rm|em|bfseries|itshape|quad|qquad|hfill|tightlist|toprule|midrule|bottomrule"
    r"|endhead|endfirsthead|endlastfoot|hline|newline|,|;|!|:)(?![A-Za-z])"
    r"|\\(?:vspace|hspace|label|pagestyle|thispagestyle)\*?\{[^{}]{0,99}\}")
LISTS = {"enumerate": "item", "itemize": "item", "description": "item", "questions": "question",
         "parts": "part", "subparts": "subpart", "subsubparts": "subsubpart"}
LEVELS = {0: ("%1.", "1"), 1: ("(%2)", "a"), 2: ("%3.", "i"), 3: ("%4.", "A")}
LABELS = (r"\labelenumi", r"\labelenumii", r"\labelenumiii", r"\labelenumiv")
DEPTHS = {"question": 0, "part": 1, "subpart": 2, "subsubpart": 3}
KEPT = re.compile(r"\\(?:begin|end|item|sout|st|cancel|includegraphics)")   # their meaning counts
ENUMERATED = {r"\arabic": "1", r"\alph": "a", r"\Alph": "A", r"\roman": "i", r"\Roman": "I"}


def tex(data: bytes, left: Left | None = None) -> str:
    """Return the text of a document in LaTeX. Raises `Unreadable`."""
    left = [] if left is None else left
    source, _ = decoded_text(data)
    begins = source.find(r"\begin{document}")
    left += [(found[0].strip("\\% "), "in a comment") for found in _COMMENT.finditer(source)
             if found.start() > begins]
    source = _COMMENT.sub(r"\1", source)
    left += [(piece.partition(r"\end{comment}")[0], "in a comment")
             for piece in source.split(r"\begin{comment}")[1:]]
    preamble, begun, body = source.partition(r"\begin{document}")
    body, _, behind = body.partition(r"\end{document}") if begun else (preamble, "", "")
    left.append((behind, "behind the document"))
    left += [(line, "before the document") for line in preamble.split("\n") * bool(begun)
             if _TYPED.fullmatch(line)]
    macros, _ = _definitions(preamble if begun else "")
    inner, body = _definitions(body)
    macros.update(inner)
    shapes = [macros[name][2] if name in macros else "" for name in LABELS]
    body = _replaced(body, macros)
    for _ in range(5):
        body = _AROUND.sub(_unwrapped, body)
    return "\n".join([line.strip() if line[:2] != "  " else line.rstrip()
                      for line in LatexText(body, shapes).text().split("\n")])


def _unwrapped(found: re.Match[str]) -> str:
    """Return the text in the braces of a command; that of titles on a line of its own."""
    if found[1]:
        return f"\n{found[4]}\n"
    return (raised(found[4], "^") if found[2] else raised(found[4], "_") if found[3] else found[4])


def braced(text: str, at: int) -> int:
    """Return the offset behind the brace that closes the one at `at`. Raises `Unreadable`."""
    depth = 0
    for found in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, at):
        depth += (found[0] == "{") - (found[0] == "}")
        if not depth and found[0] == "}":
            return found.end()
    raise Unreadable("a brace that is never closed")


def _definitions(text: str) -> tuple[dict[str, tuple[int, str | None, str]], str]:
    """Return the macros that a text defines, name to (arguments, the first's default, formula),
    and the text without them.
    """
    macros: dict[str, tuple[int, str | None, str]] = {}
    rest = []
    at = 0
    while (found := _DEFINITION.search(text, at)) is not None:
        end = braced(text, found.end())
        inside = text[found.end() + 1:end - 1]
        if "Operator" in found[0]:
            inside = rf"\operatorname{{{inside}}}"
        count = found[3].count("#") or int(re.sub(r"\D", "", found[3]) or "0")
        if not KEPT.fullmatch(found[1] or found[2]):
            macros[found[1] or found[2]] = count, found[4][1:-1] if found[4] else None, inside
        rest.append(text[at:found.start()])
        at = end
    return macros, "".join([*rest, text[at:]])


def _replaced(text: str, macros: dict[str, tuple[int, str | None, str]]) -> str:
    """Return a text with its macros replaced. Raises `Unreadable` if that does not end."""
    if not macros:
        return text
    names = "|".join([re.escape(name) + ("(?![A-Za-z@])" if name[-1].isalpha() else "")
                      for name in sorted(macros, key=len, reverse=True)])
    pattern = re.compile(rf"\\\\|({names})\s*")
    at = count = 0
    while (found := pattern.search(text, at)) is not None:
        if found[1] is None:
            at = found.end()
            continue
        count += 1
        wanted, default, formula = macros[found[1]]
        end = found.end()
        given = []
        if default is not None:
            closes = text.find("]", end) if text[end:end + 1] == "[" else -1
            given.append(default if closes < 0 else text[end + 1:closes])
            end = end if closes < 0 else closes + 1
        while len(given) < wanted:
            end += len(text[end:]) - len(text[end:].lstrip())
            behind = braced(text, end) if text[end:end + 1] == "{" else end + 1
            given.append(text[end:behind].removeprefix("{").removesuffix("}"))
            end = behind
        for k, one in enumerate(given, 1):
            if len(one) * formula.count(f"#{k}") > MAX_BYTES:
                raise Unreadable("its macros do not end")
            formula = formula.replace(f"#{k}", one)
        gap = " " if formula[-1:].isalpha() and text[end:end + 1].isalpha() else ""
        text = text[:found.start()] + formula + gap + text[end:]
        at = found.start()
        if count > MAX_MACROS or len(text) > MAX_BYTES:
            raise Unreadable("its macros do not end")
    return text


class LatexText:
    """The body of a document in LaTeX while it is read."""

    __slots__ = ("_body", "_lists", "_shapes")

    def __init__(self, body: str, shapes: Sequence[str] = ()) -> None:
        """Begin. shapes: what the document sets as the labels of each level, "" for nothing."""
        self._body = body
        self._shapes = shapes
        self._lists: list[tuple[str, int, Counters]] = []   # open ones: name, level, numbers

    def text(self) -> str:
        """Return the text."""
        return "".join([_formula(*math) if math else self._words(text)
                        for text, math in formulas(self._body)])

    def _words(self, text: str) -> str:
        """Return the text between two formulas; braces only where commands are left."""
        found = _PIECE.sub(self._piece, text).replace("~", " ").replace("\\ ", " ")
        return found if re.search(r"[\\^_]", found) else found.replace("{", "").replace("}", "")

    def _piece(self, found: re.Match[str]) -> str:
        edge, name, options, item, label, shown, number, line = found.groups()
        if edge is not None:
            return self._environment(edge == "begin", name, options)
        if item is not None:
            return "\n" + (f"{label[1:-1]} " if label else self._label(item))
        if number is not None:
            for _, level, counters in self._lists[-1:]:
                counters.numbers[level] = int(number)
            return ""
        return unread(shown) if shown is not None else "\n" if line is not None else " "

    def _environment(self, begins: bool, name: str, options: str) -> str:
        if name == "tabular":
            return "\n" + unread("table") * begins
        if name not in LISTS:       # \begin{problem}[1a]
            return "\n" + (f"{options[1:-1]}\n" if re.search(r"\d", options) else "")
        if not begins:
            if self._lists:
                self._lists.pop()
            return "\n"
        item = LISTS[name]
        level = min(3, DEPTHS.get(item, sum([kind == "enumerate" for kind, _, _ in self._lists])))
        formats = {k: shape for k, (shape, _) in LEVELS.items()}
        kinds = {k: kind for k, (_, kind) in LEVELS.items()}
        starts = {}
        if name in ("itemize", "description"):
            kinds[level] = ""
        wanted = re.search(r"label\s{0,9}=\s{0,9}\{?([^,\]]*)|^\[([^=\]]*)\]", options)
        shape = (wanted[1] or wanted[2] or "") if wanted else "".join(
            self._shapes[level:level + 1]) if name == "enumerate" else ""
        if shape:
            formats[level], kinds[level] = _shape(shape, level)
        start = re.search(r"start\s{0,9}=\s{0,9}(\d{1,4})", options)
        if start is not None:
            starts[level] = int(start[1])
        self._lists.append((name, level, Counters(formats, kinds, starts)))
        return "\n"

    def _label(self, item: str) -> str:
        """Return the number of the next item."""
        for name, level, counters in reversed(self._lists):
            if LISTS[name] == item:
                return counters.next(level) + " "
        return ""


def _shape(label: str, level: int) -> tuple[str, str]:
    r"""Return the format and kind of the numbers of `label=(\alph*)`, or of `[a)]`."""
    for command, kind in ENUMERATED.items():
        if command in label:
            return re.sub(r"\\[A-Za-z]+(?:\*|\{enum[iv]+\})?", f"%{level + 1}", label).strip(
                "{} "), kind
    found = re.search(r"(?<![A-Za-z])[1aAiI](?![A-Za-z])", label)
    if found is None:
        return label, "?"
    return f"{label[:found.start()]}%{level + 1}{label[found.end():]}", found[0]


def formulas(text: str) -> Iterator[tuple[str, tuple[str, str] | None]]:
    """Yield (text, None) for what stands between formulas, ("", (how it begins, formula)) for each.
    """
    begin = at = 0
    missing: set[str] = set()
    while (found := _OPENING.search(text, at)) is not None:
        at = found.end()
        opening = found[0]
        closing = CLOSING.get(opening, rf"\end{{{found[1]}}}" if found[1] else "")
        if not closing or closing in missing:
            continue
        end = text.find(closing, at)
        while closing == "$" and end > 0 and text[end - 1] == "\\":
            end = text.find(closing, end + 1)
        if end < 0:
            missing.add(closing)
            continue
        yield text[begin:found.start()], None
        yield "", (found[1] or opening, text[at:end])
        begin = at = end + len(closing)
    yield text[begin:], None


def _formula(kind: str, text: str) -> str:
    """Return a formula on one line; the rows of an array of formulas on lines of their own."""
    if kind.startswith(("verbatim", "lst", "tikz", "comment")):
        return "" if kind == "comment" else unread(kind)
    if kind[0].isalpha():
        text = re.sub(r"\\(?:label|tag)\{[^{}]{0,99}\}|\\(?:nonumber|notag)\b|\A\{\d\}", "", text)
        lines = [" ".join(row.split()) for row in _rows(text)]
        return "\n  " + "\n  ".join([line for line in lines if line]) + "\n"
    return f" {' '.join(text.split())} "


def _rows(text: str) -> list[str]:
    r"""Return the rows of an environment, which end at each \\ that is in no inner one."""
    rows = [""]
    depth = 0
    for piece in re.split(r"(\\begin\{|\\end\{|\\\\(?:\[[^\]]{0,99}\])?|&)", text):
        depth += (piece == r"\begin{") - (piece == r"\end{")
        if piece.startswith(r"\\") and not depth:
            rows.append("")
        elif piece != "&" or depth:
            rows[-1] += piece
    return rows


# --------------------------------------------------------------------------------------------------
# Notebooks of Jupyter. With nbgrader a cell that students may not change is the teacher's, and one
# for a solution has a name, which is that of the problem or ends with it.

MAX_CELLS = 2000
_NAMED = re.compile(r"(?:.*[^0-9A-Za-z]|[A-Za-z]{1,9}?)??(\d{1,3}[a-z]?)")
_ASSIGNED = re.compile(
    r"(?:answer|ans|problem|prob|question|task|solution|sol|part|q|p)_?(\d{1,3}[a-z]?)\s*=\s*(.*)",
    re.IGNORECASE)
# Lines that are no answer: marks of nbgrader, what it leaves in a cell that nobody filled in,
# imports, symbols that are declared.
_MARKS = re.compile(
    r"#*\s*(?:BEGIN SOLUTION|END SOLUTION|YOUR (?:CODE|ANSWER) HERE|raise NotImplementedError.*"
    r"|(?:import|from)\s.*|[\w, ]+=\s*(?:\w+\.)?[sS]ymbols?\(.*)\s*")
_PICTURE = re.compile(r"!\[[^\]\n]{0,200}\]\([^)\n]{0,2000}\)|<img\b[^>]{0,2000}>", re.IGNORECASE)

_RAISED = re.compile(r"<(sup|sub)>([^<>\n]{0,200})</\1>")


def ipynb(data: bytes, left: Left | None = None) -> str:
    """Return the text of a notebook: its cells in their order. Raises `Unreadable`."""
    left = [] if left is None else left
    source, _ = decoded_text(data)
    try:
        notebook = json.loads(source)
    except (ValueError, RecursionError):
        raise Unreadable("no notebook: damaged JSON") from None
    found: list[str] = []
    for cell in _cells(notebook):
        kind, said = cell.get("cell_type"), cell.get("source", cell.get("input", ""))
        text = "".join([one for one in said if isinstance(one, str)]) if isinstance(
            said, list) else str(said)
        about = cell.get("metadata")
        graded = about.get("nbgrader") if isinstance(about, dict) else None
        if isinstance(graded, dict):
            if not graded.get("solution") and not graded.get("task"):
                continue
        lines = _code(text) if kind == "code" else _markdown(text)
        named = _NAMED.fullmatch(str(graded.get("grade_id", ""))[:100]) if isinstance(
            graded, dict) else None
        if named is not None:       # what stands in the cell, `2 sin x`, begins no other problem
            lines = [f"{named[1]}:", *["  " + line for line in lines]]
        found += lines
        left += [(one, "in the output of a cell") for one in _printed(cell)]
        if cell.get("attachments") and "attachment:" not in text:
            left.append((unread("picture"), "beside a cell"))
    return "\n".join(found)


def _printed(cell: dict[str, Any]) -> Iterator[str]:
    """Yield the texts that a cell printed or returned."""
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        text = output.get("text") or (data.get("text/plain") if isinstance(data, dict) else "")
        yield "".join(filter(lambda one: isinstance(one, str), text)) if isinstance(
            text, list) else str(text or "")


def _cells(notebook: Any) -> list[dict[str, Any]]:
    """Return the cells of a notebook, of version 3 too. Raises `Unreadable`."""
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if cells is None and isinstance(notebook, dict) and isinstance(
            notebook.get("worksheets"), list):
        cells = [cell for sheet in notebook["worksheets"] if isinstance(sheet, dict)
                 for cell in sheet.get("cells") or ()]
    if not isinstance(cells, list) or len(cells) > MAX_CELLS:
        raise Unreadable("no notebook: it has no cells, or too many")
    return [cell for cell in cells if isinstance(cell, dict)]


def _markdown(text: str) -> list[str]:
    text = "".join([_formula(*math) if math else words for words, math in formulas(
        _PICTURE.sub(lambda _: unread("picture"), text))])
    text = _RAISED.sub(lambda found: raised(found[2], "^" if found[1] == "sup" else "_"), text)
    return [re.sub(r"^#+\s*", "", line) for line in text.split("\n")]


def _code(text: str) -> list[str]:
    """Return the lines of code, comments without their sign, assignments as answers."""
    found = []
    for line in text.split("\n"):
        if not _MARKS.fullmatch(line):
            line = re.sub(r"^#+\s*", "", line)
            given = _ASSIGNED.fullmatch(line)
            found.append(f"{given[1]}: {given[2].strip(chr(34) + chr(39))}" if given else line)
    return found


# --------------------------------------------------------------------------------------------------
# RTF: words with a backslash, groups in braces.

MAX_WORDS = 60_000
MAX_RAISED = 9
_WORD = re.compile(
    rb"\\([A-Za-z]{1,32})(-?\d{1,10})? ?|\\'([0-9A-Fa-f]{2})|\\([^A-Za-z'])|([{}])|[\r\n]+"
    rb"|[^\\{}\r\n]+|\\")
SKIPPED = frozenset(
    "fonttbl colortbl stylesheet info header footer headerl headerr headerf footerl footerr footerf"
    " nonshppict generator listtable listoverridetable rsidtbl fldinst xmlnstbl themedata"
    " colorschememapping datastore latentstyles bkmkstart bkmkend template filetbl revtbl"
    " userprops docvar private1 ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn pgptbl".split())
SHOWN = {"pict": "picture", "object": "object", "mmath": "equation", "footnote": "footnote",
         "annotation": "comment", "do": "picture", "shp": "picture"}
LETTERS = {"par": "\n", "line": "\n", "sect": "\n", "page": "\n", "row": "\n", "cell": "\t",
           "tab": "\t", "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’",
           "ldblquote": "“", "rdblquote": "”", "emspace": " ", "enspace": " ", "qmspace": " "}
CHANGES = {"super": "^", "sub": "_", "nosupersub": "", "plain": ""}


def rtf(data: bytes, _left: Left | None = None) -> str:
    """Return the text of an RTF document. Raises `Unreadable`."""
    if not data.lstrip()[:5] == b"{\\rtf":
        raise Unreadable("no RTF")
    pieces = Pieces()
    # Of each group: whether it is skipped, how its letters stand, skipped letters behind \u, and
    # whether its font has signs in the place of letters.
    state = (False, "", 1, False)
    groups = []
    codec = "cp1252"
    signs = {found[1] for found in re.finditer(
        rb"\\f(\d{1,5})[^;{}]{0,200}\\fcharset2\b", data[:MAX_BYTES])}
    star = False
    left = at = count = 0
    while at < len(data):
        count += 1
        if count > MAX_WORDS:
            raise Unreadable("too large a document")
        found = _WORD.match(data, at)
        assert found is not None
        at = found.end()
        skips, how, behind, sign = state
        word, number, code, mark, brace = [
            None if one is None else one.decode("ascii", "replace") for one in found.groups()]
        value = 0 if number is None else int(number)
        if brace == "{":
            groups.append(state)
            if len(groups) > 1000:
                raise Unreadable("groups are nested too deeply")
        elif brace == "}":
            if not groups:
                raise Unreadable("a brace too many")
            state = groups.pop()
        elif word == "bin":
            at += max(0, min(value, len(data)))
        elif mark == "*":
            star = True
            continue
        elif word in SHOWN and not skips:
            pieces.add(unread(SHOWN[word]))
            state = True, how, behind, sign
        elif word in SKIPPED or (star and word not in ("shppict", "shpinst", "listtext")):
            if word == "fldinst" and re.match(rb"[\s{]*(?:\\\w+ ?)*EQ\b", data[at:at + 200]):
                pieces.add(unread("equation"))
            state = True, how, behind, sign
        elif word == "ansicpg":
            codec = {"10000": "mac_roman", "65001": "utf-8"}.get(str(number), f"cp{number}")
        elif word == "uc":
            state = skips, how, min(max(value, 0), 9), sign
        elif word == "f" and number is not None:
            state = skips, how, behind, number.encode() in signs
        elif word in CHANGES or word in ("up", "dn"):
            off = number == "0"
            raising = CHANGES.get(word, "^" if word == "up" else "_")
            around = groups[-1][1] if groups and raising else ""
            if len(around) > MAX_RAISED:
                raise Unreadable("letters are raised too often")
            state = skips, "" if off else around + raising, behind, sign and word != "plain"
        elif word in ("strike", "striked", "deleted", "v") and number != "0":
            if word == "v" or word == "deleted":
                state = True, how, behind, sign
            elif not skips:
                pieces.add(unread("struck out"))
        elif word == "u" and not skips:
            left = behind
            pieces.add(chr(value % 65536) if not 0xd800 <= value % 65536 < 0xe000 else
                       unread("sign"), how)
            star = False
            continue
        elif not skips:
            text = LETTERS.get(word or "", "")
            if code is not None:
                text = unread("sign") if sign else _decoded(bytes([int(code, 16)]), codec)
            elif mark is not None:
                text = {"~": " ", "_": "-", "\n": "\n", "\r": "\n"}.get(
                    mark, mark if mark in "\\{}" else "")
            elif word is None and found[0][:1] not in b"\r\n\\":
                text = _decoded(found[0], codec)
            if left and text and word is None:
                left, text = max(0, left - len(text)), text[left:]
            pieces.add(text, how if text.strip() else "")
        star = False
    if groups:
        raise Unreadable("RTF that was cut off")
    return "\n".join(pieces.lines())


def _decoded(data: bytes, codec: str) -> str:
    try:
        return data.decode(codec, "replace")
    except LookupError:
        return data.decode("cp1252", "replace")


READERS: dict[str, Callable[[bytes, Left], str]] = {".tex": tex, ".ipynb": ipynb, ".rtf": rtf}
