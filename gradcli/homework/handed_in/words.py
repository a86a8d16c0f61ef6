"""What is surely no answer: names, dates, titles, words without any sign of a formula."""

from __future__ import annotations

import re

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
_NUMBER = re.compile(r"(?=.*\d).*\b(?:is|are|got|get|gives?|found|equals?|answer|value|slope|"
                     r"derivative|gradient|ist|wert|steigung|ableitung|antwort)\b", re.IGNORECASE)
# Words that an answer may need.
MEANS = re.compile(
    r"\b(?:not?|never|none|nothing|undefined|exists?|except|if|unless|only|or|plus|minus|times|over|by|"
    r"divided|multiplied|squared?|cubed?|root|half|twice|double|negative|positive|constant|infinity|"
    r"infinite|zero|(?<!(?:this|that|last|each|hard|easy) )one|two|three|"
    r"four|five|all|wrong|ignore|nicht|keine?|oder|null|eins|zwei|drei|"
    r"pas|inte|dne|[a-z]+n['’]t)\b", re.IGNORECASE)
# A number behind a colon: `four: 1/4`, and not `10:30`.
_VALUE = re.compile(r"(?<!\d):\s*[-−+]?\d{1,4}(?:[./,]\d{1,4})?\s*\Z")
BYE = re.compile(r"(?:best|(?:kind |many )?(?:regards|thanks)|thank you|cheers|sincerely|yours|lg|"
                  r"mfg|(?:viele |liebe )?grüße|mvh|merci)\b", re.IGNORECASE)
_ATTACHED = re.compile(r"\b(?:attach|photo|picture|scan|image|pdf|upload|anhang|foto|bild|back|next"
                       r" page|other file)", re.IGNORECASE)


def is_about_student(text: str) -> bool:
    """Return whether a line is a date, or says whose a file is and the like: `Name: Ann`."""
    bare = text.strip("*_`#|>- \t")
    return _DATE.fullmatch(bare) is not None or (
        _KEYED.match(bare) is not None
        and not re.search(r"[=^√∫\\]|"
                          r"(?:names?|comments?|remarks?)\s*[:#](?:[-\d.\s]+\Z|.*\d/\d)", bare))


def is_no_answer(text: str) -> bool:
    """Return whether a line is surely no answer."""
    if is_about_student(text):
        return True
    bare = text.strip("*_`#|>- \t")
    if _VALUE.search(bare) or _ATTACHED.search(bare) or _NUMBER.match(bare):
        return False
    plain = re.sub(r"(?<=[^\W\d_]{2})['’](?=[^\W\d_])", "", bare)
    words = re.findall(r"[^\W\d_]{2,}", plain)
    return not _FORMULA.search(plain) and any(
        len(word) > 2 or word[0].isupper() or not word.isascii() for word in words)
