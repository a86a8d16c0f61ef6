"""The grammar run by stock Lark, with nothing of gradcli but the grammar's text.

Lark reads the terminals; `Shaper` does what the grammar leaves to a lexer: words, newlines,
indentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from lark import Lark, Token
from lark.exceptions import UnexpectedInput

from gradcli.lang.syntax.grammar import grammar_text

WORDS = {
    "if": "IF", "else": "ELSE", "and": "AND", "or": "OR", "not": "NOT", "true": "TRUE",
    "True": "TRUE", "false": "FALSE", "False": "FALSE", "none": "NONE", "None": "NONE",
    "var": "VAR", "const": "CONST", "input": "INPUT", "tape": "TAPE", "forward": "FORWARD",
    "stop_recording": "STOP_RECORDING", "resume": "RESUME", "elif": "ELIF", "while": "WHILE",
    "for": "FOR", "in": "IN", "break": "BREAK", "continue": "CONTINUE", "def": "DEF",
    "return": "RETURN", "expect": "EXPECT", "pass": "PASS",
}
RESERVED = (
    "as assert async await class del except finally from global import is lambda nonlocal raise"
    " try with yield").split()
MAX_BLOCKS = 200


class Shaper:
    """Between Lark's lexer and its parser."""

    always_accept = ()
    text = ""

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        depth, fresh = 0, True
        levels: list[str] = []
        for token in stream:
            if token.type == "NEWLINE":
                if depth or fresh:
                    continue
                fresh = True
                yield token
                continue
            if fresh:
                yield from self.indented(levels, token.start_pos or 0)
                fresh = False
            if token.type == "NAME":
                kind = "ERROR" if token in RESERVED else WORDS.get(token, "NAME")
                token = Token.new_borrow_pos(kind, token, token)
            depth += token.type in ("LPAR", "LSQB", "LBRACE")
            depth -= bool(depth) and token.type in ("RPAR", "RSQB", "RBRACE")
            yield token
        size = len(self.text)
        if not fresh:
            yield Token("NEWLINE", "", start_pos=size, end_pos=size)
        for _ in levels[1:]:
            yield Token("DEDENT", "", start_pos=size, end_pos=size)

    def indented(self, levels: list[str], at: int) -> Iterator[Token]:
        """The tokens between the line before and the one whose first token is at `at`; `levels`
        are the margin and the indentations of the open blocks. An ERROR ends what is comparable.
        """
        line = self.text.rfind("\n", 0, at) + 1
        indentation = self.text[line:at].rpartition("\f")[2]
        if indentation in levels:
            while levels[-1] != indentation:
                levels.pop()
                yield Token("DEDENT", "", start_pos=line, end_pos=line)
            return
        if not levels or (indentation.startswith(levels[-1]) and len(levels) <= MAX_BLOCKS):
            levels.append(indentation)
            if len(levels) > 1:
                yield Token("INDENT", indentation, start_pos=line, end_pos=at)
            return
        yield Token("ERROR", indentation, start_pos=line, end_pos=at)


@cache
def stock() -> tuple[Lark, Shaper]:
    shaper = Shaper()
    lark = Lark(grammar_text(), parser="lalr", lexer="basic", maybe_placeholders=False,
                postlex=shaper)
    lark.lexer = lark._build_lexer()  # which `lex` would build anew for every text
    return lark, shaper


def stock_tokens(text: str) -> list[tuple[str, int, int]] | None:
    """(terminal, start, end) of each token; None if Lark meets a character it cannot read."""
    lark, shaper = stock()
    shaper.text = text
    try:
        return [(t.type, t.start_pos or 0, t.end_pos or 0) for t in lark.lex(text)]
    except UnexpectedInput:
        return None


def stock_reductions(text: str) -> list[str] | None:
    """The aliases of the rules reduced, in order; None if Lark rejects the text."""
    lark, shaper = stock()
    shaper.text = text
    done: list[str] = []

    def recorder(alias: str | None) -> Any:
        return lambda children: done.append(alias) if alias else None

    machine = lark.parser.parser.parser
    machine.callbacks = {rule: recorder(rule.alias) for rule in machine.callbacks}
    try:
        lark.parse(text)
    except UnexpectedInput:
        return None
    return done
