"""Which role a column may have, and why: by its name, and by how many of its values are different. Never assigned."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["identifiers", "quasi", "sensitive", "drop"]
NAMES: Mapping[Role, re.Pattern[str]] = {
    "identifiers": re.compile(
        r"(?i)(^|_|\b)(name|surname|forename|id|ssn|e?mail|phone|mobile|address|street|iban|passport|licen[cs]e|uuid|person|patient)(_?(id|no|nr|number))?($|_|\b)"
    ),
    "sensitive": re.compile(
        r"(?i)diagnos|disease|illness|\bill\b|salary|income|wage|earning|\bpay\b|hiv|drug|religion|debt|score|grade|credit|crime|offence|offense|vote|loan|amount|medication|treatment|result"
        r"|krankheit|befund|gehalt|lohn|einkommen|schulden|patholog|maladie|salaire|revenu|dette|enfermedad|salario|sueldo"
        r"|ingresos|deuda|malattia|stipendio|reddito|ziekte|inkomen"
    ),
}
# What people are called or reached by, however many share it.
CALLED = re.compile(
    r"(?i)(^|_|\b)(name|surname|forename|firstname|lastname|vorname|nachname|nom|pr[ée]nom|apellidos?|e?mail|phone|telefon|address|adresse|street)($|_|\b)"
)
# The same, of what is never the name of a town or a ward.
OWN = re.compile(
    r"(?i)surname|forename|first[ _]?name|last[ _]?name|vorname|nachname|pr[ée]nom|nom de famille|apellido"
)
# What somebody wrote down about a person, however few different texts there are so far.
REMARKS = re.compile(
    r"(?i)remark|comment|free[ _-]?text|bemerkung|anmerkung|kommentar|notiz|freitext|remarque|observa[cçt]|comentario"
    r"|comentário|osservazion|opmerking|anteckning|(^|[^a-z])(notes?|hinweise?|uwagi)($|[^a-z])"
)
MANY = 50  # distinct values, so that it is not the name of a town or a ward
SENTENCE = 4  # words, of a text that somebody wrote and did not choose from a list
TELLING = 0.9  # of the rows hold a value that no other has: a number or a text that names people
LIKELY = 0.5  # the same, if the name of the column says so, too


@dataclass(frozen=True, slots=True)
class Suggested:
    """A role, and the reason for it."""

    role: Role
    why: str


def suggested(name: str, kind: str, rows: int, distinct: int, unique: int, words: float = 1) -> Suggested:
    """The role that a column with so many `distinct` values may have; `unique` rows hold one that no other has.

    `words` is how many a different text has, on average.
    """
    share = unique / rows if rows else 0.0
    cases: tuple[tuple[object, Role, str], ...] = (
        (kind.startswith("not supported"), "drop", "values of this type cannot be published"),
        (distinct <= 1, "drop", "all rows hold the same"),
        (
            share > TELLING and kind in {"string", "integer"},
            "identifiers",
            f"{share:.0%} of the rows hold a value that no other row has",
        ),
        (
            share > LIKELY and NAMES["identifiers"].search(name),
            "identifiers",
            f"it is named so, and {share:.0%} of the rows hold a value that no other row has",
        ),
        (
            kind == "string" and distinct >= MANY and CALLED.search(name),
            "identifiers",
            "it is named like something that people are called or reached by",
        ),
        (
            kind == "string" and OWN.search(name),
            "drop",
            "it is named like something that people are called by, and too many share it to tell them apart",
        ),
        (
            kind == "string" and REMARKS.search(name),
            "drop",
            "it is named like remarks, and what somebody wrote may say who a person is",
        ),
        (
            kind == "string" and (distinct > rows / 2 or (words >= SENTENCE and distinct >= MANY)),
            "drop",
            "it looks like free text, which may say who somebody is",
        ),
        (NAMES["sensitive"].search(name), "sensitive", "it is named like something that people keep to themselves"),
        (True, "quasi", "others may know it of a person; if nobody does, it is sensitive"),
    )
    return next(Suggested(role, why) for applies, role, why in cases if applies)
