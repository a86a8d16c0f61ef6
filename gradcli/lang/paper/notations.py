r"""Notations of word processors, programs and LaTeX, and what people write beside a formula.

The tables say what stands for what: `SPELLINGS` other spellings of a formula, `REMARKS` words,
conditions and rounding beside it, which change nothing in what it says. Each replacement is as long
as what it replaces, so that all offsets stay those of the text as typed.
"""

from __future__ import annotations

import re

from gradcli.lang.paper.lines import SHOWN, without_alignment
from gradcli.lang.paper.tokens import SCHOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcli.lang.paper.names import ProblemNames

MOST = 8
"""So many remarks stand at one end of an answer at most."""
LONGEST = 80
"""So long is one of them."""
NOTHING = "\u200b"
"""What stands for no character in plain text, even inside of a number."""


def rewritten(text: str, names: ProblemNames, number: bool = False) -> tuple[str, list[str]]:
    """Return an answer in the notation that `read` knows, and the conditions that were left out.

    number: a number is asked for, so that digits may end in dots.
    """
    text = APPROXIMATE.sub(lambda found: found.group() if _are_names(
        found.group(), names) else _as("≈")(found), respelled(text))
    if "■" in text or "█" in text:
        text = _grids(text)
    if names.vector:
        text = _listed(text, names)
    if number:
        text = TRUNCATED.sub(_blank, text)
    return _without_remarks(text, names)


def respelled(text: str) -> str:
    """Return a formula, at its length, without the marks of word processors, programs and LaTeX
    around and inside of it.
    """
    for pattern, replacement in SPELLINGS:
        text = pattern.sub(replacement, text)
    return typeset(text)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())


def _as(sign: str) -> Callable[[re.Match[str]], str]:
    """Return the function that replaces a text by a sign, at its length."""
    return lambda found: sign.rjust(len(found.group()))


# ---- other spellings of a formula ----------------------------------------------------------------

MODULES = r"(?<![A-Za-z])(?:math|Math|cmath|np|numpy|sp|sympy|torch|tf|jnp)\."
WORD = r"(?<![^\W\d_])(?:{})(?![^\W\d_])"


def _group(found: re.Match[str]) -> str:
    """Replace Word's brackets, which group and are not shown, around one letter or function."""
    word = found[1].strip()
    return f" {found[1]} " if len(word) == 1 or word in SCHOOL else f"({found[1]})"


def _unquoted(found: re.Match[str]) -> str:
    """Replace the quotation marks around a whole text."""
    inside = next(filter(None, found.groups()))
    return found.group() if found.group() != found.string else f" {inside}".ljust(len(inside) + 2)


SPELLINGS: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    # Word: 〖x〗^2, √(3&x), ├ (x┤)
    (re.compile("〖([A-Za-zα-ωϑϕ ]{1,8})〗"), _group),
    (re.compile("〖"), "("), (re.compile("〗"), ")"), (re.compile("[├┤▒]"), " "),
    (re.compile(r"√\(([234])&"), lambda found: f"{' √∛∜'[int(found[1]) - 1]}(  "),
    # What is quoted, or set as code.
    (re.compile("\\s*(?:`+([^`]+)`+|[\"“„]([^\"“”„]+)[\"”“])\\s*", re.DOTALL), _unquoted),
    # Spreadsheets of other countries.
    (re.compile(r"(?<![A-Za-z])(?:wurzel|racine|WURZEL|RACINE)(?=\s*\()"), _as("sqrt")),
    (re.compile(r"PI\(\)"), "pi  "),
    # Python, JavaScript: their log is the natural one.
    (re.compile(MODULES + r"log(?=\s*\()"), _as("ln")),
    (re.compile(MODULES + r"(?:array|matrix)(?=\s*\()"), _blank),
    (re.compile(MODULES + "(?=[A-Za-z])"), _blank),
    (re.compile(r"\\(d?)dot\{(\w)\}(?=\s*(?:\([a-z]\))?\s*&?=)"),
     lambda found: (found[2] + ("''" if found[1] else "'")).rjust(len(found.group()))),
]
APPROXIMATE = re.compile(WORD.format(
    r"(?:approx(?:imate(?:ly)?)?|about|roughly|around|ca|circa|ungefähr|etwa|rund|env|environ"
    r"|ungefär)\.?") + r"(?=\s*[-−+]?[\d.,√\\])")
AND = re.compile(r"(?<=\s)(?:and|und|et|och)(?=\s+[^\s=]{1,12}\s*=)")
TRUNCATED = re.compile(r"(?<=\d)\s*(?:\.{3,}|…)(?=\s*(?:$|[)=≈,;]))")
ALIGNED = re.compile(r"\\\\(?:\s*\[[\d.]+[a-z]+\])?")
ENVIRONMENT = re.compile(r"\\(begin|end)|\\\\|[{}]")


def typeset(text: str) -> str:
    r"""Return the text without the displays of LaTeX around a formula, each of whose lines is one:
    align*, \[ \], and $ in pairs.
    """
    if "\\" not in text and "$" not in text:
        return text
    if len(re.findall(r"(?<!\\)\$", text)) % 2 == 0:
        text = SHOWN.sub(_blank, text)
    if "&" not in text and "\\\\" not in text:
        return text
    text = without_alignment(text)
    letters, depth = list(text), 0
    for found in ENVIRONMENT.finditer(text):
        depth += {"\\begin": 1, "\\end": -1}.get(found.group(), 0)
        if found.group() == "\\\\" and depth <= 0:
            letters[found.start():found.end()] = " \n"
    return "".join(letters)


# ---- vectors and matrices ------------------------------------------------------------------------

PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
TRANSPOSED = re.compile(r"\s*(?:\^\s*(?:T|\{\s*(?:T|\\top|\\intercal)\s*\}|\\top)|ᵀ|['’′])\s*$")


def _closing(text: str, at: int) -> int:
    """Return the offset of the bracket that closes the one at `at`; -1 without one."""
    depth = 0
    for k in range(at, len(text)):
        depth += (text[k] in "([{") - (text[k] in ")]}")
        if not depth:
            return k
    return -1


def _grids(text: str) -> str:
    """Return the text with matrices as in (■(a&b@c&d)) as lists, [a,b;c,d]."""
    letters = list(text)
    for found in re.finditer(r"[■█]\s*\(", text):
        begin, end = found.end() - 1, _closing(text, found.end() - 1)
        if end < 0:
            break
        depth = 0
        for at in range(begin, end):
            depth += (text[at] in "([{") - (text[at] in ")]}")
            if text[at] in "&@" and depth == 1:
                letters[at] = "," if text[at] == "&" else ";"
        letters[found.start()], letters[begin], letters[end] = " ", "[", "]"
        before, behind = text[:found.start()].rstrip(), text[end + 1:].lstrip()
        if PAIRS.get(before[-1:]) == behind[:1] != "":      # the brackets that are shown
            letters[len(before) - 1] = letters[len(text) - len(behind)] = " "
    return "".join(letters)


def _listed(text: str, names: ProblemNames) -> str:
    """Return a vector with commas for the bars, blanks or words between its components, and without
    the mark of a transposed one: (a | b), (a, b)^T, f_x = a and f_y = b.
    """
    found = TRANSPOSED.search(text)
    if found is not None and _is_vector(text[:found.start()]):
        text = text[:found.start()] + " " * len(found.group())
    if text.count("=") > 1:
        text = AND.sub(_as(","), text)
    begin = text.rfind("=") + 1
    bare = text[begin:].strip().rstrip(".")
    at = text.find(bare, begin)
    if "|" in bare and bare[:1] in "([" and _closing(bare, 0) == len(bare) - 1:
        parts = bare[1:-1].split("|")
        if not re.search(r"[,;]", bare) and all(map(_is_component, parts)) and not any(
                unit in re.findall(r"[A-Za-z]+", bare) for unit in "ijk"
                if unit not in names.written):
            text = text[:at] + bare.replace("|", ",") + text[at + len(bare):]
    return text


def _is_vector(text: str) -> bool:
    """Return whether a text ends in a list in brackets whose components are no lists, or in a
    matrix of LaTeX with one row or column.
    """
    text = text.rstrip()
    environment = re.search(r"\\begin\{(\w*matrix)\}((?:(?!\\begin).)*)\\end\{\1\}$", text,
                            re.DOTALL)
    if environment is not None:
        return not ("&" in environment[2] and "\\\\" in environment[2])
    inside = re.search(r"[(\[<⟨]([^=\[\]]*)[)\]>⟩]$", text)
    if inside is None or inside[1].count("(") != inside[1].count(")"):
        return False
    return ("," in inside[1]) != (";" in inside[1])


def _is_component(text: str) -> bool:
    text = text.strip()
    return bool(text) and text[0] not in "+*/^·" and text[-1] not in "+-*/^·−"


# ---- what stands beside a formula ----------------------------------------------------------------
#
# Patterns for the text as it is seen: commands of LaTeX are blanks, signs or the words in them.

SIGNS = {
    **dict.fromkeys(("ne", "neq"), "≠"), **dict.fromkeys(("le", "leq", "leqslant"), "≤"),
    **dict.fromkeys(("ge", "geq", "geqslant"), "≥"), "lt": "<", "gt": ">", "in": "∈", "notin": "∉",
    "infty": "∞", "forall": "∀", "R": "ℝ", "setminus": "∖", "backslash": "∖", "cup": "∪",
    "approx": "≈", "pi": "π", "mid": "|", "colon": ":",
    **dict.fromkeys(("quad", "qquad", "left", "right", ",", ";", ":", "!", " ", "(", ")", "[", "]",
                     "displaystyle", "enspace", "frac", "tfrac", "dfrac"), " "),
}
COMMAND = re.compile(r"\\(?:text|textrm|textit|mathrm|mbox|mathbb|mathbf|operatorname)\s*"
                     r"\{([^{}]*)\}|\\([A-Za-z]+|.)|\$")

RELATION = (r"(?:<=|>=|=<|<>|!=|=/=|=\\=|/=|[<>≤≥≠]|\s(?:is\s+not(?:\s+equal\s+to)?"
            r"|not(?:\s+equal\s+to)?|ungleich|nicht)(?=\s))")
SIDE = r"[^<>=≠≤≥∈∉,;:!'’\n]*?[^<>=≠≤≥∈∉,;:!'’\s]"
INFINITY = r"[+-]?\s*(?:∞|inf(?:inity|ty)?|oo)"
INTERVAL = (rf"[(\[\]]\s*(?:{INFINITY}\s*[,;][^,;]{{1,20}}|[^,;()\[\]]{{1,20}}[,;]\s*{INFINITY})"
            r"\s*[)\]\[]")
ELEMENTS = r"[\[(\]{][^\[\](){}]*[\])\[}]"
SET = rf"(?:{ELEMENTS}|[A-Za-zℝℤℕℚ]\S*)(?:\s*[∪∖\\U]?\s*{ELEMENTS}|\s*[∪∖\\U]\s*\S+)*"
INTRODUCED = (r"(?:(?:valid|defined|true|only|but|and|und|et|so)\s+)?(?:for|where|when|whenever|if"
              r"|with|provided(?:\s+that)?|as\s+long\s+as|assuming|given(?:\s+that)?|on|über|auf"
              r"|für|falls|wenn|wobei|mit|pour|si|avec|où|för|om|där|då|med)")
CONDITIONS = [
    rf"{SIDE}\s*(?:[∈∉]|\s(?:is\s+)?in\s(?=\s*[\[(\]A-Zℝℤℕℚ]))\s*{SET}",
    rf"{SIDE}\s*(?:{RELATION}\s*{SIDE}){{1,2}}",
    r"(?:D|Df|D_f|D_\{f\}|D\(f\)|[Dd]om(?:ain)?|Definitionsbereich)\s*(?:\(f\))?\s*"
    rf"(?:[=:]|is|∈)\s*(?:all\s+reals?(?:\s+numbers)?|{SET})",
    r"(?:∀\s*|(?:for\s+|für\s+|pour\s+|för\s+)?(?:all|any|every|each|alle|alla|tout)\s+)"
    r"(?:real\s+|reelle\s+)?(?:[A-Za-zθ]|numbers?|reals?|values?(?:\s+of\s+[a-z])?)"
    r"(?:\s*(?:∈|in)\s*\S+)?",
    r"(?:[A-Za-zθ]\s+(?:is\s+)?)?in\s+radians?",
    r"[A-Za-zθ]\s+(?:is\s+)?(?:real|reell|nonzero|positive|negative|any\s+real(?:\s+number)?)",
    rf"{INTERVAL}(?:\s*[∪U]\s*{INTERVAL})*",
]
RULES = (r"(?:(?:product|chain|quotient|power|sum|difference|constant|log|exponential|trig"
         r"|reciprocal|inverse)(?:[\s-]+(?:and|&|\+|then)[\s-]+(?:the\s+)?(?:product|chain|quotient"
         r"|power))?[\s-]+rules?|(?:implicit|logarithmic)\s+differentiation"
         r"|(?:produkt|ketten|quotienten|potenz|summen)regel|(?:produkt|kedje|kvot)regeln"
         r"|règle\s+(?:du\s+produit|du\s+quotient|de\s+la\s+chaîne))")
METHOD = (rf"(?:(?:because\s+of|due\s+to|by|using|with|from|via|applying|use|after|nach|mit|par"
          rf"|enligt|med)\s+)?(?:(?:the|der|la|implicit)\s+)?{RULES}")
DIGITS = (r"(?:(?:correct|rounded|accurate|exact|gerundet)\s+)?(?:(?:to|auf)\s+)?(?:\d+|one|two"
          r"|three|four)\s*(?:d\.?\s?p\.?|s\.?\s?f\.?|sig\.?\s*(?:fig|dig)s?\.?"
          r"|significant\s+(?:figures?|digits?)|decimals?(?:\s+places?)?|places"
          r"|(?:nachkomma|dezimal)stellen|décimales|decimaler)")
WORDS = (r"constant|(?:the\s+)?tangent(?:\s+line)?|exact(?:ly)?|simplified|rounded"
         r"|final(?:\s+answer)?|answer|gerundet|gekürzt"
         r"|[a-z]\s+(?:is\s+)?(?:a\s+)?(?:const(?:ant)?\.?|fixed|konstant)")
# What a part behind the formula must be as a whole: a condition, with a word before it; in lower
# case, a method, or a number of digits; in brackets, a word.
CONDITION = re.compile(rf"(?:({INTRODUCED})\s+)?({'|'.join(CONDITIONS)})")
REMARK = re.compile(rf"{METHOD}|({DIGITS})")
BRACKETED = re.compile(rf"(?:{WORDS})")
STARTS = re.compile(
    r"[,;]\s*|\s(?=\s*[(\[])|(?<=[\w)\]])(?=[(\[])|\s(?://|#|[-–—])\s+(?=[A-Za-z]{3})|\s+(?=[^\W\d]|∀|\])"
    r"|(?<=\d)\s*(?=to\s)")
BEFORE = re.compile(
    rf"\s*(?:(?:{METHOD})\s*(?:[,:]|\bwe\s+get\b|\bis\b)?|(?:so|thus|hence|therefore|also|daher"
    r"|donc|then|finally)\s*[,:]?(?=\s)|(?:i|we)\s+(?:get|got|have|find|found|obtain(?:ed)?)\b"
    r"\s*[,:]?|it(?:['’]s|\s+(?:is|equals)\b)|(?:(?:the|my|our|final|its|die|la|min)\s+)*(?:"
    r"answer|ans|derivative|solution|result|slope|rate\s+of\s+change|value|linearization"
    r"|linear\s+approximation|slope\s+of\s+the\s+(?:tangent(?:\s+line)?|curve|graph|function)"
    r"|(?:equation\s+(?:of|for)\s+(?:the\s+|its\s+)?)?tangent"
    r"(?:\s+(?:line|plane))?|ableitung|antwort|lösung|ergebnis|steigung"
    r"|dérivée|réponse|svar|derivata|derivatan|t(?=:))\.?\s*(?:[:=]|is(?:\s+equal\s+to)?\b|equals\b|ist\b|est\b|är\b|(?=[:=])))")
IS = r"\s*(?:is(?:\s+equal\s+to)?\b|equals\b|=|:)"
# What is named in words, and the name that says it in letters.
NAMED = [(re.compile(rf"\s*(?:(?:the|its)\s+)?{words}{IS}", re.IGNORECASE), name)
         for words, name in (
    ("(?:velocity|speed)", "v"), ("acceleration", "a"), ("position", "s"), ("gradient", "∇f"),
    (r"(?:slope|derivative|rate\s+of\s+change)\s+at\s+(?:[a-z]\s*=\s*)?(-?[\d./]+)", "f'({})"),
    (r"derivative\s+of\s+(\S[^=]*?)", "({})'"))]
DENIED = re.compile(WORD.format(
    "not?|wrong|incorrect|false|never|or|if|nicht|kein|falsch|faux|fel"))
COMMENTED = re.compile(r"[A-Za-z][A-Za-z' ,.-]*")
BARE_WORDS = frozenset((*SCHOOL, "pi", "inf", "infinity", "infty", "oo"))


def _seen(text: str) -> str:
    """Return the text without LaTeX, at its length."""
    def shown(found: re.Match[str]) -> str:
        if found[1] is not None:
            inside = {"R": "ℝ"}.get(found[1], found[1]) if "bb" in found.group() else found[1]
            return inside.rjust(found.end(1) - found.start()) + " "
        if found.group() == "$":
            return " "
        shown = found[2] if found[2] in SCHOOL else found.group()
        return SIGNS.get(found[2], shown).rjust(len(found.group()))
    return COMMAND.sub(shown, text) if "\\" in text or "$" in text else text


def _without_remarks(text: str, names: ProblemNames) -> tuple[str, list[str]]:
    """Return the text with blanks for what stands beside the formula, and the conditions there."""
    conditions: list[str] = []
    seen = _seen(text)
    bare = seen.strip(" .,:")
    if REMARK.fullmatch(bare.lower()) and not _are_names(bare, names):
        return " " * len(text), conditions
    for _ in range(MOST):
        found = _last_remark(seen, names)
        if found is None:
            break
        begin, condition = found
        if condition:
            conditions.append(text[begin:].strip(" ,;\n$"))
        text = text[:begin] + re.sub(r"[^\n$]", " ", text[begin:])
        seen = seen[:begin] + " " * (len(seen) - begin)
    for _ in range(MOST):
        first = BEFORE.match(seen.lower())
        if first is None or not seen[first.end():].strip(" .=:"):
            break
        text = " " * first.end() + text[first.end():]
        seen = " " * first.end() + seen[first.end():]
    for pattern, name in NAMED:
        named = pattern.match(seen)
        if named is not None and name not in names.written:
            label = f"{name.format(*named.groups())} ="
            text = label.rjust(named.end()) + text[named.end():]
            break
    return text, conditions


def _last_remark(seen: str, names: ProblemNames) -> tuple[int, bool] | None:
    """Return where the last remark of a text begins, and whether it is a condition; None without
    one.
    """
    end = len(seen.rstrip(" .,;\n"))
    if seen[end:end + 1] == "." and seen[:end].endswith(("p", "f", "fig", "figs", "dp", "sf")):
        end += 1
    first = max(0, end - LONGEST)
    bare: tuple[int, bool] | None = None
    for start in STARTS.finditer(seen, first, end):
        begin, part = start.start(), seen[start.end():end].strip()
        if not seen[:begin].strip(" =:") or not part:
            continue
        apart = start.group().strip() != ""
        if part[0] in "([" and _closing(part, 0) == len(part) - 1:
            inside = part[1:-1].strip()
            if BRACKETED.fullmatch(inside.lower()):
                return begin, False
            if "∈" in inside or not re.search("[,;]", inside):
                part, apart = inside, True
        elif start.group().strip() in ("//", "#") and COMMENTED.fullmatch(part) and not (
                DENIED.search(part.lower())):
            return begin, False
        found = REMARK.fullmatch(part.lower())
        if found and (apart or not found[1] or part[0].isalpha()) and not _are_names(part, names):
            return begin, False
        found = CONDITION.fullmatch(part) if start.group().strip() not in tuple("-–—") else None
        if found and _is_condition(found[2]) and _is_balanced(seen[:begin]):
            if apart or found[1]:
                return begin, True
            bare = begin, True      # 2x sin x x > 0
    return bare


# ---- units ---------------------------------------------------------------------------------------

# Behind a blank, bracket or slash, or right behind what is no letter.
UNIT_BEGIN = re.compile(r"(?<=[\w.)\]}°⁰¹²³⁴⁵⁶⁷⁸⁹])"
                        r"(?:\s*[\[(]+\s*|\s+|(?<=\d)\s*/\s*|(?<![^\W\d_]))(?:in\s+|/\s*)?(?=[^\W\d_]|[°%$€£])")
EXPONENT = re.compile(r"(?<=[\d.])[eE][-+]?\d")
"""Of a number, 4E-1, which is no unit."""
VALUE = re.compile(r"[\d√π)}\]]|(?<![^\W\d_])[^\W\d_](?![^\W\d_])")
"""A digit or letter: without one, a text is words and no value of a unit."""
UNIT = re.compile(r"\s*/?[\[(]*\s*(?:in\s+)?(?:[^\W\d_]{1,16}|[°%$€£/*·⋅. ^()-]|\d)*[\])]*[\s.,]*")
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")
BRACED = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
FRACTION = re.compile(rf"\\[dt]?frac{BRACED}{BRACED}")
SET_AS = re.compile(r"\\(?:mathrm|rm|text|textrm|mathsf|operatorname|unit|si|,|;|:|!|quad| )"
                    r"|[{}~$]")


def unit_text(text: str) -> str:
    """Return a text, at its length, in which units have no LaTeX and no raised digits."""
    if "\\" in text or "{" in text:
        text = FRACTION.sub(lambda found: f"({found[1]})/({found[2]})".rjust(len(found.group())),
                            text)
        text = SET_AS.sub(lambda found: {"{": "(", "}": ")"}.get(found.group(), _blank(found)),
                          text.replace(r"\cdot", "·    "))
    return text.translate(RAISED).replace("[", "(").replace("]", ")")


def unit_begin(text: str, names: ProblemNames | None) -> int:
    """Return where a unit may begin at the end of a text, behind a number or formula; 0 without
    one. names: those of the problem, which are not in a unit.
    """
    shown = unit_text(text)
    for found in UNIT_BEGIN.finditer(shown, max(0, len(text) - LONGEST)):
        behind = shown[found.start():]
        words = re.findall(r"[^\W\d_]+|[°%$€£]", behind)
        if VALUE.search(shown, 0, found.start()) and UNIT.fullmatch(behind) and (
                behind.count("(") == behind.count(")")) and not EXPONENT.match(
                    shown, found.start()) and not any(
                (word in BARE_WORDS and word != "sec") or word == "e" or (
                    names is not None and word in names.written) for word in words):
            return found.start()
    return 0


def _are_names(text: str, names: ProblemNames) -> bool:
    """Return whether all letters of a text are the problem's: in x (2dp), d and p may be."""
    return all(letter in names.written for letter in text if letter.isalpha())


def _is_balanced(text: str) -> bool:
    """Return whether no vector is open at the end of a text: <x, y>*2 has no condition."""
    return text.count("<") == text.count(">") and all(
        text.count(opening) == text.count(closing) for opening, closing in ("()", "[]", "{}"))


def _is_whole(side: str) -> bool:
    """Return whether no bracket of a side of a comparison is closed or opened elsewhere."""
    depth = 0
    for character in side:
        depth += (character in "([{") - (character in ")]}")
        if depth < 0:
            return False
    return depth == 0


def _is_condition(text: str) -> bool:
    """Return whether the words of a condition are functions, constants and names only, so that no
    formula of another case stands in it: -2x if x < 0. Nor may one stand between two conditions,
    x>0) 2x (x<0.
    """
    sides = re.split(RELATION, text)
    bare = " ".join(sides) if len(sides) > 1 or re.search("[∈∉]", text) else ""
    return (len(sides) == 1 or all(map(_is_whole, sides))) and all(
        word.lower() in BARE_WORDS or len(word) < 3
        for word in re.findall(r"[^\W\d_]+", bare)) and not re.search(
            WORD.format("or|if|ou|si"), bare)
