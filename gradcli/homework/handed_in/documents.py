r"""Documents of word processors as lines of text: .docx and .odt.

The text is what a person would see, and what is seen but is no text, a picture, a note, words that
were struck out, becomes a command that LaTeX has not, such as `\picture?`: an answer that holds one
is unreadable, and elsewhere it is a line that no problem claims. So a person looks at it. For the
same reason the readers are our own: those that there are for Python drop what they do not know,
raised letters among it, and x² becomes x2.

XML has no entities and no document type here, at most so many elements, and nothing that it names
is loaded.
"""

from __future__ import annotations

import io
import re

from gradcli.homework.handed_in.equations import mathml, omml, unread
from gradcli.homework.handed_in.files import Archive
from gradcli.homework.handed_in.paragraphs import Counters, Pieces, within
from gradcli.homework.handed_in.records import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from xml.etree.ElementTree import Element

MAX_XML = 8 * 1024 * 1024
MAX_ELEMENTS = 200_000
MAX_NESTED = 100

OFFICE = "http://schemas.openxmlformats.org/"
STRICT = "http://purl.oclc.org/ooxml/"
OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
PREFIXES = {
    **{f"{there}wordprocessingml/{main}": "w-" for there, main in (
        (OFFICE, "2006/main"), (STRICT, "main"))},
    **{f"{there}officeDocument/{math}": "m-" for there, math in (
        (OFFICE, "2006/math"), (STRICT, "math"))},
    f"{OFFICE}markup-compatibility/2006": "mc-", "http://www.w3.org/1998/Math/MathML": "math-",
    "http://www.w3.org/1999/xlink": "xlink-",
    **{f"{OASIS}{name}:1.0": f"{name}-" for name in (
        "text", "table", "style", "office", "xsl-fo-compatible", "drawing", "script")},
}
# Elements and attributes by prefix and name: w-p, text-span. Those of other namespaces have no use
# but to be there.


def parsed_xml(data: bytes) -> Element:
    """Parse XML that somebody sent. Raises `Unreadable`."""
    from xml.etree.ElementTree import TreeBuilder
    from xml.parsers import expat

    count = depth = 0

    def named(name: str) -> str:
        space, _, local = name.rpartition("}")
        return PREFIXES.get(space, "" if not space else "other-") + local

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count, depth
        count += 1
        depth += 1
        if count > MAX_ELEMENTS or depth > MAX_NESTED:
            raise Unreadable("too large a document")
        builder.start(named(name), {named(key): value for key, value in attributes.items()})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(named(name))

    def refused(*_: object) -> None:
        raise Unreadable("XML with a document type")

    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refused
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError):
        raise Unreadable("damaged XML") from None
    return builder.close()


def _part(archive: Archive, name: str) -> Element | None:
    """Return a part of a document, None where there is none. Raises `Unreadable`."""
    return parsed_xml(archive.read(name, MAX_XML)) if name in archive.paths()[0] else None


def _packed(data: bytes) -> Archive:
    return Archive(io.BytesIO(data), "", 1)


# --------------------------------------------------------------------------------------------------
# Word.

IN_PARAGRAPHS = frozenset(
    "w-hyperlink w-ins w-smartTag w-sdt w-sdtContent w-moveTo w-customXml w-dir w-bdo w-fldSimple"
    " mc-Choice".split())
PASSED = frozenset(
    "w-pPr w-rPr w-del w-moveFrom w-bookmarkStart w-bookmarkEnd w-proofErr w-permStart w-permEnd"
    " w-commentRangeStart w-commentRangeEnd w-sdtPr w-sdtEndPr w-lastRenderedPageBreak"
    " w-footnoteRef w-endnoteRef w-annotationRef w-delText w-delInstrText w-fldChar w-softHyphen"
    " w-sectPr w-moveFromRangeStart w-moveFromRangeEnd w-moveToRangeStart w-moveToRangeEnd"
    " w-tblPr w-tblGrid w-trPr w-tcPr w-tblPrEx w-smartTagPr w-customXmlPr w-fldData"
    " mc-Fallback".split())
_EQUATION = re.compile(r"\s*EQ\b")      # a field of old documents
SIGNS = {"w-tab": "\t", "w-ptab": "\t", "w-br": "\n", "w-cr": "\n", "w-noBreakHyphen": "-"}
WORDS = {"w-drawing": "picture", "w-pict": "picture", "w-object": "object",
         "w-footnoteReference": "footnote", "w-endnoteReference": "endnote",
         "w-commentReference": "comment", "w-sym": "symbol"}
KINDS = {"decimal": "1", "decimalZero": "1", "lowerLetter": "a", "upperLetter": "A",
         "lowerRoman": "i", "upperRoman": "I", "bullet": "", "none": "none"}


def docx(data: bytes) -> str:
    """Return the text of a document of Word. Raises `Unreadable`."""
    return "\n".join(WordDocument(_packed(data)).text())


class WordDocument:
    """A document of Word while it is read."""

    __slots__ = ("_body", "_lists", "_raising", "_styled")

    def __init__(self, archive: Archive) -> None:
        found = _part(archive, "word/document.xml")
        body = None if found is None else found.find("w-body")
        if body is None:
            raise Unreadable("no document of Word")
        self._body = body
        self._lists = _word_lists(_part(archive, "word/numbering.xml"))
        self._raising: dict[str, str] = {}      # style of letters to how it raises them
        self._styled: dict[str, tuple[str, int]] = {}   # style of paragraphs to list and level
        styles = _part(archive, "word/styles.xml")
        for style in () if styles is None else styles.iterfind("w-style"):
            name = style.get("w-styleId", "")
            self._raising[name] = _raises(style.find("w-rPr"), {})
            number = style.find("w-pPr/w-numPr")
            if number is not None:
                self._styled[name] = _value(number, "w-numId", ""), int(
                    _value(number, "w-ilvl", "0"))

    def text(self) -> Iterator[str]:
        """Yield the lines."""
        return self._blocks(self._body)

    def _blocks(self, node: Element) -> Iterator[str]:
        for part in node:
            if part.tag == "w-p":
                yield from self._paragraph(part)
            elif part.tag == "w-tr":
                yield "\t".join(["\n  ".join(self._blocks(cell)) for cell in part.iter("w-tc")
                                 ]).strip()
            elif part.tag in ("m-oMath", "m-oMathPara"):
                pieces = Pieces()
                pieces.add(within(omml(part)))
                yield from pieces.lines()
            elif part.tag == "w-tbl" or part.tag in IN_PARAGRAPHS:
                yield from self._blocks(part)
            elif part.tag not in PASSED:
                yield unread(WORDS.get(part.tag, part.tag))

    def _paragraph(self, node: Element) -> list[str]:
        pieces = Pieces()
        self._inline(node, pieces)
        return pieces.lines(self._label(node.find("w-pPr")))

    def _label(self, properties: Element | None) -> str:
        """Return the number of a paragraph in a list, "" if it has none."""
        if properties is None:
            return ""
        number = properties.find("w-numPr")
        if number is not None:
            id, level = _value(number, "w-numId", ""), int(_value(number, "w-ilvl", "0"))
        else:
            id, level = self._styled.get(_value(properties, "w-pStyle", ""), ("", 0))
        if id not in self._lists:
            return ""
        counters, anew = self._lists[id]
        counters.numbers.update(anew)
        anew.clear()
        return counters.next(level)

    def _inline(self, node: Element, pieces: Pieces) -> None:
        for part in node:
            if part.tag == "w-r":
                self._run(part, pieces)
            elif part.tag in ("m-oMath", "m-oMathPara"):
                pieces.add(within(omml(part)))
            elif part.tag == "w-fldSimple" and _EQUATION.match(part.get("w-instr", "")):
                pieces.add(unread("equation"))
            elif part.tag == "mc-AlternateContent" or part.tag in IN_PARAGRAPHS:
                self._inline(part, pieces)
            elif part.tag not in PASSED:
                pieces.add(unread(WORDS.get(part.tag, part.tag)))

    def _run(self, node: Element, pieces: Pieces) -> None:
        properties = node.find("w-rPr")
        how = _raises(properties, self._raising)
        if properties is not None and _is_on(properties, "w-vanish"):
            return
        if properties is not None and (
                _is_on(properties, "w-strike") or _is_on(properties, "w-dstrike")):
            pieces.add(unread("struck out"))
        for part in node:
            if part.tag == "w-t":
                pieces.add((part.text or "").replace("\xa0", " "), how)
            elif part.tag in SIGNS:
                pieces.add(SIGNS[part.tag])
            elif part.tag == "m-oMath":
                pieces.add(within(omml(part)))
            elif part.tag in ("mc-AlternateContent", "mc-Choice"):
                self._run(part, pieces)
            elif part.tag == "w-instrText":
                if _EQUATION.match(part.text or ""):
                    pieces.add(unread("equation"))
            elif part.tag in ("w-pict", "w-drawing") and part.find(".//w-txbxContent") is not None:
                for box in part.iter("w-txbxContent"):
                    pieces.add("".join([f"\n{line}" for line in self._blocks(box)]) + "\n")
            elif part.tag == "w-pict" and any("other-hr" in one.attrib for one in part):
                pieces.add("\n")
            elif part.tag not in PASSED:
                pieces.add(unread(WORDS.get(part.tag, part.tag)))


def _value(node: Element, name: str, otherwise: str) -> str:
    """Return the value of a property, the otherwise where it has none or one that is no number."""
    found = node.find(name)
    said = otherwise if found is None else found.get("w-val", otherwise)
    return said if not otherwise.isdigit() or (said.isdecimal() and len(said) < 6) else otherwise


def _is_on(properties: Element, name: str) -> bool:
    found = properties.find(name)
    return found is not None and found.get("w-val", "1") not in ("0", "false", "off")


def _raises(properties: Element | None, styles: Mapping[str, str]) -> str:
    """Return how letters of these properties stand: "^" raised, "_" lowered, "" as others."""
    if properties is None:
        return ""
    said = _value(properties, "w-vertAlign", "")
    if said:
        return {"superscript": "^", "subscript": "_"}.get(said, "")
    shift = properties.find("w-position")
    if shift is not None and shift.get("w-val", "0") != "0":
        return "_" if shift.get("w-val", "").startswith("-") else "^"
    return styles.get(_value(properties, "w-rStyle", ""), "")


def _word_lists(numbering: Element | None) -> dict[str, tuple[Counters, dict[int, int]]]:
    """Return the counters of each list of a document, and where it sets them as it begins: lists of
    one kind share them.
    """
    if numbering is None:
        return {}
    shared = {}
    for kind in numbering.iterfind("w-abstractNum"):
        formats, kinds, starts = {}, {}, {}
        for level in kind.iterfind("w-lvl"):
            k = _level(level)
            formats[k] = _value(level, "w-lvlText", "")
            kinds[k] = KINDS.get(_value(level, "w-numFmt", "decimal"), "1")
            starts[k] = int(_value(level, "w-start", "1"))
        shared[kind.get("w-abstractNumId", "")] = Counters(formats, kinds, starts)
    found = {}
    for number in numbering.iterfind("w-num"):
        counters = shared.get(_value(number, "w-abstractNumId", ""))
        if counters is not None:
            found[number.get("w-numId", "")] = counters, {
                _level(one): int(_value(one, "w-startOverride", "1")) - 1
                for one in number.iterfind("w-lvlOverride")
                if one.find("w-startOverride") is not None}
    return found


def _level(node: Element) -> int:
    said = node.get("w-ilvl", "")
    return int(said) if re.fullmatch(r"[0-9]", said) else 0


# --------------------------------------------------------------------------------------------------
# LibreOffice and others: OpenDocument.

def odt(data: bytes) -> str:
    """Return the text of an OpenDocument text. Raises `Unreadable`."""
    return "\n".join(OpenDocument(_packed(data)).text())


class OpenDocument:
    """An OpenDocument text while it is read."""

    __slots__ = ("_archive", "_body", "_levels", "_lists", "_raising")

    def __init__(self, archive: Archive) -> None:
        content = _part(archive, "content.xml")
        body = None if content is None else content.find("office-body/office-text")
        if content is None or body is None:
            raise Unreadable("no OpenDocument text")
        self._archive = archive
        self._body = body
        self._raising: dict[str, tuple[str, bool]] = {}     # style: how it raises, whether struck
        self._levels: dict[str, tuple[dict[int, str], dict[int, str], dict[int, int]]] = {}
        self._lists: dict[str, Counters] = {}       # while they go on
        for part in (_part(archive, "styles.xml"), content):
            if part is not None:
                self._styles(part)

    def _styles(self, part: Element) -> None:
        for style in part.iter("style-style"):
            found = style.find("style-text-properties")
            if found is None:
                continue
            said = found.get("style-text-position", "")
            how = "_" if said.startswith(("sub", "-")) else (
                "^" if said.startswith("super") or re.match(r"[1-9]", said) else "")
            struck = "none" not in (found.get("style-text-line-through-style", "none"),
                                    found.get("style-text-line-through-type", ""))
            self._raising[style.get("style-name", "")] = how, struck
        for list in part.iter("text-list-style"):
            formats: dict[int, str] = {}
            kinds: dict[int, str] = {}
            starts: dict[int, int] = {}
            for level in list:
                k = _number(level, "text-level", 1) - 1
                shown = _number(level, "text-display-levels", 1)
                inner = ".".join([f"%{one + 1}" for one in range(max(0, k + 1 - shown), k + 1)])
                formats[k] = (level.get("style-num-prefix", "") + inner
                              + level.get("style-num-suffix", ""))
                kinds[k] = level.get("style-num-format", "")
                starts[k] = _number(level, "text-start-value", 1)
            self._levels[list.get("style-name", "")] = formats, kinds, starts

    def text(self) -> Iterator[str]:
        """Yield the lines."""
        return self._blocks(self._body)

    def _blocks(self, node: Element) -> Iterator[str]:
        for part in node:
            if part.tag in ("text-p", "text-h"):
                yield from self._paragraph(part)
            elif part.tag == "text-list":
                yield from self._list(part, part.get("text-style-name", ""), 0)
            elif part.tag == "table-table-row":
                yield "\t".join(["\n  ".join(self._blocks(cell)) for cell in part
                                 if cell.tag == "table-table-cell"]).strip()
            elif part.tag.startswith(("table-table", "text-section", "text-index-body")):
                yield from self._blocks(part)
            elif part.tag.startswith("drawing-"):
                pieces = Pieces()
                self._inline_part(part, pieces, "")
                yield from pieces.lines()
            elif part.tag.startswith("text-") and not part.tag.endswith(("-decls", "-changes")):
                yield from self._blocks(part)
            elif not part.tag.startswith(("text-", "office-forms", "other-")):
                yield unread(part.tag)

    def _list(self, node: Element, style: str, level: int) -> Iterator[str]:
        """Yield the lines of a list. style: the name of its outermost one's."""
        going_on = node.get("text-continue-numbering") == "true" or "text-continue-list" in (
            node.attrib)
        if not level and (style not in self._lists or not going_on):
            self._lists[style] = Counters(*self._levels.get(style, ({}, {}, {})))
        counters = self._lists[style]
        for item in node:
            if "text-start-value" in item.attrib:
                counters.numbers[level] = _number(item, "text-start-value", 1) - 1
            label = counters.next(level) if item.tag == "text-list-item" and any(
                part.tag in ("text-p", "text-h") for part in item) else ""
            for part in item:
                if part.tag == "text-list":
                    yield from self._list(part, style, level + 1)
                elif part.tag in ("text-p", "text-h"):
                    yield from self._paragraph(part, label)
                    label = ""

    def _paragraph(self, node: Element, label: str = "") -> list[str]:
        pieces = Pieces()
        self._inline(node, pieces, self._how(node, pieces))
        return pieces.lines(label)

    def _how(self, node: Element, pieces: Pieces) -> str:
        """Return how the letters of an element stand."""
        how, struck = self._raising.get(node.get("text-style-name", ""), ("", False))
        if struck:
            pieces.add(unread("struck out"))
        return how

    def _inline(self, node: Element, pieces: Pieces, how: str) -> None:
        pieces.add(_blanks(node.text), how)
        for part in node:
            self._inline_part(part, pieces, how)
            pieces.add(_blanks(part.tail), how)

    def _inline_part(self, part: Element, pieces: Pieces, how: str) -> None:
        name = part.tag
        if name == "text-span":
            self._inline(part, pieces, self._how(part, pieces) or how)
        elif name == "text-s":
            pieces.add(" " * min(_number(part, "text-c", 1), 100), how)
        elif name in ("text-tab", "text-line-break"):
            pieces.add("\t" if name == "text-tab" else "\n")
        elif name in ("text-note", "office-annotation"):
            pieces.add(unread("note" if name == "text-note" else "comment"))
        elif name == "drawing-frame":
            self._frame(part, pieces)
        elif name.startswith("drawing-"):
            pieces.add(unread("picture"))
        elif name.startswith("text-") and not name.startswith(("text-change", "text-bookmark",
                                                               "text-reference", "text-soft")):
            self._inline(part, pieces, how)

    def _frame(self, node: Element, pieces: Pieces) -> None:
        """Add an equation, the text of a box, or that there is a picture."""
        held = node.find("drawing-object")
        box = node.find("drawing-text-box")
        if held is not None:
            path = held.get("xlink-href", "").removeprefix("./").rstrip("/")
            try:
                formula = held.find("math-math") if len(held) else _part(
                    self._archive, f"{path}/content.xml")
            except Unreadable:
                formula = None
            pieces.add(unread("object") if formula is None or formula.tag != "math-math" else
                       f" {within(mathml(formula))} ")
        elif box is not None:
            pieces.add("".join([f"\n{line}" for line in self._blocks(box)]) + "\n")
        else:
            pieces.add(unread("picture"))


def _blanks(text: str | None) -> str:
    """Return a text as it is shown: blanks and line ends of the XML are one blank."""
    return re.sub(r"[ \t\r\n]+", " ", text or "").replace("\xa0", " ")


def _number(node: Element, name: str, otherwise: int) -> int:
    said = node.get(name, "")
    return int(said) if said.isdecimal() and len(said) < 6 else otherwise

# --------------------------------------------------------------------------------------------------
# Pages: equations in MathML, or as pictures whose LaTeX the editor of Canvas keeps beside.

_SHOWN = re.compile(r"<math\b|<img\b[^>]{0,9000}>", re.IGNORECASE)
_CLOSED = re.compile(r"</math\s{0,9}>", re.IGNORECASE)
_SOURCE = re.compile(
    r"""data-equation-content\s?=\s?"([^"]{0,4000})"|alt\s?=\s?"LaTeX: ([^"]{0,4000})""" + '"')
_ENTITY = re.compile(r"&(?!(?:lt|gt|amp|quot|apos);)\w{1,40};")


def typeset(page: str) -> str:
    """Return a page with LaTeX in the place of equations, and where there are pictures."""
    from html import escape, unescape

    twice = unread("equation") if "katex-html" in page or 'class="MathJax' in page else ""
    parts = []
    begin = at = 0
    while (found := _SHOWN.search(page, at)) is not None:
        at = found.end()
        if found[0][1] in "iI":
            source = _SOURCE.search(found[0])
            text = f" {source[1] or source[2] or ''} " if source else unread("picture")
        else:
            closed = _CLOSED.search(page, at)
            if closed is None:
                text, at = unread("equation"), len(page)
            else:
                at = closed.end()
                inside = _ENTITY.sub(lambda one: unescape(one[0]), page[found.start():at])
                try:
                    text = f" {escape(mathml(parsed_xml(inside.encode())))} {twice}"
                except (Unreadable, UnicodeEncodeError):
                    text = unread("equation")
        parts += [page[begin:found.start()], text]
        begin = at
    return "".join([*parts, page[begin:]])


READERS: dict[str, Callable[[bytes], str]] = {
    ".docx": docx, ".docm": docx, ".dotx": docx, ".odt": odt, ".ott": odt}
