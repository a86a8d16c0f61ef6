"""The hand-written lexer against Lark's, which reads the same terminals from the grammar."""

from __future__ import annotations

import pytest
from draws import drawn
from stock_lark import RESERVED, WORDS, stock_tokens

from gradcli.lang.syntax import lexer
from gradcli.lang.syntax.lexer import KEYWORDS, KIND_NAMES, lex


def tokens(text: str) -> list[tuple[str, str]]:
    return [(kind, text[start:end]) for kind, start, end in our_tokens(text)]


def kinds_of(text: str) -> list[str]:
    return [kind for kind, _ in tokens(text)]


def our_tokens(text: str) -> list[tuple[str, int, int]]:
    return [(KIND_NAMES[kind], start, end) for kind, start, end in zip(*lex(text), strict=True)]


PIECES = [
    "x", "sin", "θ", "x₁", "_a", "inx", "var", "if", "not", "lambda", "π", "πr", "f'", "f''", "É2",
    "1", "2.5", ".5", "3.", "1e3", "2E-4", "1.e5", "0x1F", "1_0", "12", "7e", "1..2", "2.x",
    "+", "-", "−", "*", "·", "×", "/", "÷", "//", "%", "@", "^", "**", "²", "⁻¹", "¹⁰", "⁻", "√",
    "=", "==", "!=", "≠", "<", "<=", "≤", ">", ">=", "≥", "+=", "**=", "//=", "^=", "@=", "!",
    "(", ")", "[", "]", "{", "}", ",", ";", ":", ".", '"text"', "'a b'", '"a\\"b"', '"open', "'",
    "# note", "\n", "\r\n", "\n\n", "  ", "\t", "\f", "\n  ", "½", "①", "ⁿ", "|", "&", "$",
    "\\", "?", "\u00a0", "\u0663", "e\u0301", "~=", "~", "for", "pass", ":\n  ", "\n    ", "\n\t",
]


def comparable(tokens: list[tuple[str, int, int]], text: str) -> list[tuple[str, int, int]]:
    """Up to a line whose indentation fits nothing."""
    wrong = [place for place, (kind, start, end) in enumerate(tokens)
             if kind == "ERROR" and not text[start:end].strip(" \t\r\f")]
    return tokens[:wrong[0] + 1] if wrong else tokens


def visible(tokens: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """Without those whose place says nothing."""
    return [token for token in tokens if token[0] not in ("END", "NEWLINE")]


def test_agrees_with_lark_on_random_texts() -> None:
    generator = drawn(20240601)
    readable = 0
    for _ in range(3000):
        text = "".join(generator.choice(PIECES) + generator.choice(["", "", " "])
                       for _ in range(generator.randrange(1, 9)))
        ours, stocks = our_tokens(text), stock_tokens(text)
        if stocks is None:
            assert "ERROR" in [kind for kind, _, _ in ours], text
            continue
        readable += 1
        ours, stocks = comparable(ours[:-1], text), comparable(stocks, text)
        assert visible(ours) == visible(stocks), text
        assert [t[0] for t in ours] == [t[0] for t in stocks], text
    assert readable > 1000


def test_agrees_with_lark_on_every_character() -> None:
    for code in [*range(1, 0x3100), *range(0xA000, 0xAB00), *range(0xFB00, 0x10000), 0x1D465]:
        if 0xD800 <= code < 0xE000:
            continue
        for text in (chr(code), f"a{chr(code)}"):
            stocks, ours = stock_tokens(text), our_tokens(text)
            if stocks is None:
                assert ours[-3][0] == "ERROR", (hex(code), ours)
            else:
                assert [t[0] for t in ours[:-1]] == [t[0] for t in stocks], hex(code)


def test_words_are_those_of_the_reference() -> None:
    assert {word: KIND_NAMES[kind] for word, kind in KEYWORDS.items()} == {
        **WORDS, **dict.fromkeys(RESERVED, "ERROR")}


def test_python_keywords_are_reserved_or_used() -> None:
    import keyword

    assert set(keyword.kwlist) <= set(KEYWORDS)


@pytest.mark.parametrize(("text", "expected"), [
    ("2x^2", ["NUMBER", "NAME", "CIRCUMFLEX", "NUMBER"]),
    ("1.5e-3", ["NUMBER"]),
    ("1..2", ["NUMBER", "DOT", "NUMBER"]),
    ("3.T", ["NUMBER", "DOT", "NAME"]),
    ("3.+x", ["NUMBER", "PLUS", "NAME"]),
    ("x²", ["NAME", "SUPERSCRIPT"]),
    ("x⁻¹⁰", ["NAME", "SUPERSCRIPT"]),
    ("f''(x)", ["PRIMED", "LPAR", "NAME", "RPAR"]),
    ("f('a')", ["NAME", "LPAR", "STRING", "RPAR"]),
    ("2πr", ["NUMBER", "PI", "NAME"]),
    ("a//b/c", ["NAME", "DOUBLE_SLASH", "NAME", "SLASH", "NAME"]),
    ("a**b*c", ["NAME", "CIRCUMFLEX", "NAME", "STAR", "NAME"]),
    ("x**=2", ["NAME", "AUGMENTED", "NUMBER"]),
    ("a=-1", ["NAME", "EQUAL", "MINUS", "NUMBER"]),
    ("a==-1", ["NAME", "EQUAL_EQUAL", "MINUS", "NUMBER"]),
    ("inx and in_", ["NAME", "AND", "NAME"]),
])
def test_kinds(text: str, expected: list[str]) -> None:
    assert kinds_of(text) == [*expected, "NEWLINE", "END"]


def test_lines_comments_and_brackets() -> None:
    text = "# head\n\n  \na = (1 +\r\n\n  # inside\n 2)\r\n\f\nb # tail"
    assert kinds_of(text) == ["NAME", "EQUAL", "LPAR", "NUMBER", "PLUS", "NUMBER", "RPAR",
                              "NEWLINE", "NAME", "NEWLINE", "END"]


@pytest.mark.parametrize("text", ["", "\n", "  \n\t\n", "# only a comment", "\r\n\r\n"])
def test_nothing_to_read(text: str) -> None:
    assert kinds_of(text) == ["END"]


def test_a_common_margin_is_allowed_and_a_smaller_one_is_not() -> None:
    assert kinds_of("  a\n  b\n\n  c") == ["NAME", "NEWLINE"] * 3 + ["END"]
    assert kinds_of("  a\nb\nc") == ["NAME", "NEWLINE", "ERROR", "NAME", "NEWLINE", "NAME",
                                     "NEWLINE", "END"]
    assert kinds_of("  a\n    b\n  c\n") == [
        "NAME", "NEWLINE", "INDENT", "NAME", "NEWLINE", "DEDENT", "NAME", "NEWLINE", "END"]


def shape(text: str) -> str:
    """Names as they are, > for INDENT, < for DEDENT, ! for ERROR."""
    signs = {"INDENT": ">", "DEDENT": "<", "ERROR": "!", "NEWLINE": "", "END": ""}
    return "".join(signs.get(kind, found) for kind, found in tokens(text))


@pytest.mark.parametrize(("text", "expected"), [
    ("a\n  b\nc", "a>b<c"),
    ("a\n  b\n    c\nd", "a>b>c<<d"),
    ("a\n  b\n    c\n  d\n", "a>b>c<d<"),
    ("a\n  b", "a>b<"),
    ("a\n\tb\n\t c\n\td", "a>b>c<d<"),
    ("a\n  b\n\n# c\n   # d\n  e", "a>be<"),
    ("a\n  b\n (\n", "a>b!(<"),
    ("a\n  (b\nc\n d)\n  e\nf", "a>(bcd)e<f"),
    ("a\n  b\n\fc\n\f  d", "a>b<c>d<"),
    ("\f  a\n  b", "ab"),
    ("a\r\n  b\r\n\r\nc\r\n", "a>b<c"),
    # an indentation between two others is taken for that of the inner one
    ("a\n    b\n  c\n  d\ne", "a>b!cd<e"),
    ("a\n  b\n      c\n    d\n  e\nf", "a>b>c!d<e<f"),
    ("a\n  b\n      c\n d\n e\nf", "a>b>c<!de<f"),
    # tabs with spaces
    ("a\n    b\n\tc\n\td\ne", "a>b!cd<e"),
    ("a\n\tb\n        c", "a>b!c<"),
    ("a\n  b\n  \tc\n  d", "a>b>c<d<"),
])
def test_indentation(text: str, expected: str) -> None:
    assert shape(text) == expected


def test_indentation_agrees_with_python() -> None:
    """The blocks that `tokenize` finds, on texts of spaces or of tabs."""
    import io
    import tokenize

    generator = drawn(11)
    compared = 0
    for _ in range(2000):
        unit = generator.choice([" ", "\t"])
        lines = [unit * generator.randrange(5) + generator.choice(
                    ["x", "x", f"(x,\n{unit * generator.randrange(5)}x)", "", "# c"])
                 for _ in range(generator.randrange(1, 9))]
        text = "\n".join(["x", *lines]) + "\n"
        names = {tokenize.INDENT: "INDENT", tokenize.DEDENT: "DEDENT"}
        try:
            expected = [names[token.type] for token in tokenize.generate_tokens(
                io.StringIO(text).readline) if token.type in names]
        except IndentationError:
            assert "ERROR" in kinds_of(text), text
            continue
        assert [kind for kind in kinds_of(text) if kind in names.values()] == expected, text
        compared += 1
    assert compared > 500


@pytest.mark.parametrize(("text", "error"), [
    ('"abc', '"abc'), ('"abc\nx', '"abc'), ("'a\\", "'a\\"), ("a $ b", "$"),
    ("x = lambda", "lambda"), ("9" * 401, "9" * 401), ("⁻", "⁻"), ("½", "½"), ("!", "!"),
    ("a\u0301", "\u0301"),
])
def test_error_tokens(text: str, error: str) -> None:
    assert [found for kind, found in tokens(text) if kind == "ERROR"] == [error]


def test_limits() -> None:
    assert "ERROR" not in kinds_of("9" * 400)
    assert "ERROR" not in kinds_of("(" * 200 + "x" + ")" * 200)
    assert kinds_of("(" * 201 + "x" + ")" * 201).count("ERROR") == 1
    stairs = "".join(f"{' ' * level}a\n" for level in range(201))
    assert kinds_of(stairs)[-201:] == ["DEDENT"] * 200 + ["END"]
    kinds = kinds_of(stairs + " " * 201 + "b\nc")
    assert kinds[-204:] == ["ERROR", "NAME", "NEWLINE", *["DEDENT"] * 200, "END"]


def test_start_offset() -> None:
    kinds, starts, _ = lex("a\nb + c\n", 2)
    assert [KIND_NAMES[kind] for kind in kinds] == ["NAME", "PLUS", "NAME", "NEWLINE", "END"]
    assert starts[0] == 2


def test_start_inside_of_blocks() -> None:
    kinds, starts, ends = lex("a\n  b\n", 0, ["", "  ", "    "])
    assert [KIND_NAMES[kind] for kind in kinds] == [
        "DEDENT", "DEDENT", "NAME", "NEWLINE", "INDENT", "NAME", "NEWLINE", "DEDENT", "END"]
    assert starts == sorted(starts)
    assert (starts[4], ends[4]) == (2, 4)


def test_names_are_not_normalised() -> None:
    assert tokens("\u00b5 \u03bc")[:2] == [("NAME", "\u00b5"), ("NAME", "\u03bc")]


def test_kinds_fit_the_jump_keys_of_the_parser() -> None:
    assert max(KIND_NAMES) < 256
    assert len(KIND_NAMES) == lexer.PASS + 1
