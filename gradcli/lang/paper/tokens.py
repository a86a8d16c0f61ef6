"""The tokens of an answer: their kinds, their spelling, and their meaning in the grammar.

Kinds of the first group are the terminals of `grammars/answer.lark`; the others are found by the
scanner and turned into terminals by `marks`.
"""

from __future__ import annotations

from gradcli.lang.messages import unknown

# ERROR is 0 and in no row of the parser's table.
(ERROR, END, NUMBER, NAME, FUNCTION, POWERED, BASED, PLUS, MINUS, STAR, SLASH, CIRCUMFLEX, LPAR,
 RPAR, LSQB, RSQB, BAR_OPEN, BAR_CLOSE, COMMA, SEMICOLON, FACTORIAL,
 ROOT, SUM, LBRACE, RBRACE, LESS, GREATER, BAR) = range(28)

# Characters of the plain text that nobody can type: operands, sums and products that stand for a
# part (`parts`), the factorial that LaTeX has, and what stands before a word that LaTeX calls. In
# what was typed they are refused.
CHARACTERS = tuple(map(chr, range(0xE000, 0xE040)))
SUMS = tuple(map(chr, range(0xE040, 0xE080)))
PRODUCTS = tuple(map(chr, range(0xE0C0, 0xE100)))
FACTORIAL_SIGN = "\ue080"
CALL_SIGN = "\ue081"
PRIVATE = frozenset((*CHARACTERS, *SUMS, *PRODUCTS, FACTORIAL_SIGN, CALL_SIGN))

DEGREES = "°º"
"""Signs that stand where a factorial does, and are its word: 30°."""

CLOSER = {LPAR: RPAR, LSQB: RSQB, LBRACE: RBRACE, LESS: GREATER}

KIND_NAMES = {
    value: name for name, value in list(globals().items())
    if name.isupper() and type(value) is int
}


class AnswerTokens:
    """The text, and parallel lists: kinds, starts and ends in the text, and words.

    The word of a NAME is the name that it loads, of a FUNCTION the operation that it calls, of a
    NUMBER its digits; elsewhere it is empty. Tokens that were not typed: products, the positions of
    signs; closing, those of opening brackets, each with that of its closing one. raw: of arranged
    tokens, those that the scanner found.
    """

    __slots__ = ("closing", "ends", "kinds", "products", "raw", "starts", "text", "words")

    def __init__(self, text: str) -> None:
        self.text = text
        self.kinds: list[int] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.words: list[str] = []
        self.products: list[int] = []
        self.closing: list[tuple[int, int]] = []
        self.raw: AnswerTokens | None = None

    def put(self, kind: int, start: int, end: int, word: str = "") -> None:
        """Append a token."""
        self.kinds.append(kind)
        self.starts.append(start)
        self.ends.append(end)
        self.words.append(word)

    def spellings(self) -> list[str]:
        """Return the names and functions as the text has them."""
        return [self.text[start:end] for kind, start, end in
                zip(self.kinds, self.starts, self.ends, strict=True)
                if NAME <= kind <= POWERED]


# --------------------------------------------------------------------------------------------------
# Words that mean a function or a constant in an answer, and the operation behind each.
#
# SCHOOL are those that need no brackets and are found inside a run of letters (`xsinx`); SPECIAL
# are functions only where they stand before a bracket, because their names are letters or words too
# (`si`, `beta`). Both hold name -> operation; the operations are rows of the table with one or two
# operands, by name or alias; a test holds them together. `root` has an optional degree (`roots`).

def _table(text: str) -> dict[str, str]:
    """Return a dictionary of words to operations: `sin; log ln` to sin: sin, log: log, ln: log."""
    found = {}
    for row in text.split(";"):
        words = row.split()
        for word in words:
            found[word] = words[0]
    return found


# `log` is decided by the problem. `abs`, `sqrt` and so on are functions like the others.
SCHOOL = _table("""
    sin sen; cos; tan tg; cot ctg cotan cotg; sec; csc cosec;
    asin arcsin arcsen; acos arccos; atan arctan arctg; acot arccot arcctg arccotan; asec arcsec;
    acsc arccsc arccosec;
    sinh; cosh; tanh; coth; sech; csch cosech;
    asinh arsinh arcsinh argsinh; acosh arcosh arccosh argcosh; atanh artanh arctanh argtanh;
    acoth arcoth arccoth argcoth; asech arsech arcsech; acsch arcsch arccsch;
    exp; log ln; log10 lg; sqrt; root; cbrt; abs; sign sgn signum
""")

# Short names from other countries: functions where the run of letters is that word alone.
ALONE = _table("sinh sh; cosh ch; tanh th; coth cth; asinh argsh; acosh argch; atanh argth")

SPECIAL = _table("""
    abs absolute fabs; acos arccos; acosh arccosh arcosh; acot arccot; acoth arccoth; asin arcsin;
    add; atan2 arctan2; besseli iv; besselie ive; besselj jv jn; besselk kv kn; besselke kve;
    bessely yv yn; beta; ceil ceiling; chi; ci cosint; copysign; cosh ch; coth cth; dawsn dawson;
    degrees rad2deg; digamma psi; divide div truediv true_divide realdiv;
    divide_no_nan div_no_nan; e1 E1; ei Ei; ellipe_complete; ellipe_incomplete ellipeinc;
    ellipf ellipkinc; ellipk; elu; erf; erfc; erfcinv; erfcx; erfi; erfinv erf_inv; exp2; expm1;
    floor; floor_divide floordiv; fmod truncatemod truncate_mod; fresnelc; fresnels; gamma tgamma;
    gammainc gammaincu; gammaincl; gelu_erf; hard_sigmoid; heaviside; hypot; igamma; igammac;
    lambertw; lbeta betaln; ldexp; lgamma gammaln loggamma; li logint; log1p; log2; log10;
    log_ndtr; log_sigmoid logsigmoid; logaddexp; logcosh; logit; maximum max; minimum min;
    mod floormod floor_mod remainder; multiply mul scalar_mul; multiply_no_nan mul_no_nan;
    ndtr norm_cdf; ndtri; negative neg; polygamma; positive identity; power pow; prelu; radians
    deg2rad; reciprocal; reciprocal_no_nan; relu; relu6; round rint; rsqrt; selu; shi; si sinint;
    sigmoid logistic expit; sign sgn; silu swish; sinc; sinh sh; softplus log1pexp; softsign;
    sphericalj spherical_jn; square; squared_difference; subtract sub; tanh th; trunc fix; xdivy;
    xlog1py; xlogy; zeta
""")

COUNTING = _table("factorial fact; binomial binom choose comb nCr nchoosek")
"""No operations: `parts` makes numbers of them, or gammas. Functions where those of SPECIAL are."""

CALLED = SPECIAL | COUNTING

OTHER_SYSTEMS = {
    **unknown.OTHER_SYSTEMS,
    **dict.fromkeys(unknown.ROOTS, "root(a, n) for the n-th root of a"),
    **dict.fromkeys(unknown.DERIVATIVES, "the formula that it stands for"),
}
"""What other systems and other people call functions, and what to write for them."""

TWO = frozenset("""
    add atan2 besseli besselie besselj besselk besselke bessely beta binomial copysign divide
    divide_no_nan ellipe_incomplete ellipf floor_divide fmod gammainc gammaincl heaviside hypot
    igamma igammac lbeta ldexp logaddexp maximum minimum mod multiply multiply_no_nan polygamma
    power prelu sphericalj squared_difference subtract xdivy xlog1py xlogy zeta
""".split())
"""Functions of two operands; all others here have one."""

# Words of everyday language; without brackets they are no functions.
_PROSE = ("positive negative neg identity square reciprocal fix round degrees radians remainder"
          " absolute").split()

# Words that stand between formulas and are no names.
STOP_WORDS = frozenset((
    "otherwise", "when", "where", "let", "then", "for", "and", "the", "with", "find",
    "falls", "sonst", "wenn", "und", "oder"))

INVERSE = {
    "sin": "asin", "cos": "acos", "tan": "atan", "cot": "acot", "sec": "asec", "csc": "acsc",
    "sinh": "asinh", "cosh": "acosh", "tanh": "atanh", "coth": "acoth", "sech": "asech",
    "csch": "acsch",
}
"""sin^-1 is asin. The inverse of any other function has a name of its own and is refused."""

# Letters of the Greek alphabet and their names; either may be declared. Those that look like Latin
# letters in every font are missing, and so are the signs of sum and product.
GREEK = dict(zip(
    "αβγδεζηθικλμνξπρστυφχψωϑϕϵΓΔΘΛΞΦΨΩ",
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi chi psi omega theta phi epsilon Gamma Delta Theta Lambda Xi Phi Psi Omega".split(),
    strict=True))
LOADED = {
    word: letter if word == "lambda" or (len(word) < 4 and word != "pi") else word
    for letter, word in reversed(GREEK.items())}
"""What an undeclared one is called in code: its name, or the letter where the name is a word of
Python or too short to be found in a run of letters."""
LONG_GREEK = frozenset(name for name in GREEK.values() if len(name) > 3)
"""Names that are found inside a run of letters; shorter ones only where the run is that word."""
BARE = frozenset(word for word, name in SPECIAL.items() if name not in TWO and len(word) > 2
                 and word.isalpha() and word not in (*_PROSE, *SCHOOL, *ALONE, *LOADED))
"""Functions of one operand that need no brackets where the run of letters is that word alone:
`erf x`, but `gamma x` with the letter gamma."""
