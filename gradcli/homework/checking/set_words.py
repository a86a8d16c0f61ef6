"""The words that may stand in an answer that is a set of numbers or points, and what they mean.

A word that is in none of these tables is taken for mathematics, and then for a person.
"""

from __future__ import annotations

SORTS = {
    "max": "max maxs maxima maximum maximums maximal high peak peaks hochpunkt hochpunkte hp h"
           " maxpunkt maximalstelle maximalstellen maximumstelle hochstelle globalmax",
    "min": "min mins minima minimum minimums minimal low valley valleys tiefpunkt tiefpunkte tp t"
           " minpunkt minimalstelle minimalstellen minimumstelle tiefstelle globalmin",
    "neither": "neither saddle saddles sattel sattelpunkt sattelpunkte sattelstelle terrace"
               " terrassenpunkt",
    "inflection": "inflection inflections inflexion inflexions poi wp wendepunkt wendepunkte"
                  " wendestelle wendestellen w",
    "extremum": "extremum extrema extremums extreme extremes extremstelle extremstellen"
                " extrempunkt extrempunkte"}
SORT_OF = {word: sort for sort, words in SORTS.items() for word in words.split()}
POINT_LETTERS = frozenset("htwpeqn")
"""Words of one letter: only before a bracket, H(-1|2); but for h, t and w they name any point."""

KINDS = {
    "zero zeros zeroes root roots nullstelle nullstellen intercept intercepts x-intercept"
    " x-intercepts": ("zeros",),
    "critical crit stationary kritisch kritische kritischen": ("critical", "extrema")}
KINDS_OF = {word: kinds for words, kinds in KINDS.items() for word in words.split()}
"""Words that say what is asked for, and the kinds of problems that ask so."""

EMPTY = frozenset(
    "local loc lok lokal lokale lokaler lokales lokalen relative rel relatives relativ relativer"
    " strict isolated there a an the at when where for point points solution solutions"
    " lösung lösungen punkt punkte stelle stellen f g function graph curve occur occurs it has"
    " have had of on only its answer answers ans value values x-value x-values x-coordinate"
    " x-coordinates x-wert x-werte bei hat haben besitzt der die das den dem des ein eine einen"
    " einem einer es gibt liegt liegen im am an lautet lauten real reell reelle reellen"
    " number numbers located found namely funktion p e q n".split())
"""Words without meaning."""
ONE = frozenset("is ist est".split())
"""What binds a number to the name behind it."""
ALL = frozenset("both all beide beides alle are sind each jeweils sont".split())
"""What binds all numbers before it to the name behind it."""
TWO = frozenset("both beide beides".split())
PLURAL = frozenset(
    "maxs maxima maximums peaks hochpunkte mins minima minimums valleys tiefpunkte saddles"
    " sattelpunkte points punkte maximalstellen minimalstellen extrema extremums extremes"
    " inflections wendepunkte wendestellen".split())
NONE = frozenset("none no not keine kein keinen keinerlei dne nicht doesn't don't".split())
"""Words of an answer that says that there is none."""
WITH_NONE = frozenset("does do exist exists existiert existieren empty".split())
"""Words that stand in such an answer only."""
SO = ("so", "thus", "hence", "therefore", "also", "⇒")
"""What stands before that which follows."""
SPLIT = {"and": ",", "or": ",", "und": ",", "oder": ",", "et": ",", "ou": ",", "sowie": ",",
         **dict.fromkeys(SO, ","), ",": ",", ";": ";", "\n": ";"}
"""What stands between numbers, and whether it is a comma or more."""

KNOWN = frozenset((*SORT_OF, *KINDS_OF, *EMPTY, *ONE, *ALL, *PLURAL, *NONE, *WITH_NONE, *SPLIT))
