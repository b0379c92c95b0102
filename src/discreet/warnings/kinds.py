"""Every kind of warning, and the names by which a policy accepts them.

A warning is named by its kind, or by its kind and what it is about: `tells.zipcode`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from discreet.errors import Mistake
from discreet.words import nearest

KINDS: Mapping[str, str] = {
    "insert": 'a vault\'s growth = "insert" does not count heads, and who waits in it tells something',
    "lookalikes": "sensitive values that differ only in how they are written are counted as different",
    "tells": "a quasi-identifier, or two or three together, tell the sensitive value of not a few people",
    "repeats": "one of several identifiers repeats: perhaps it tells people apart, and these have several rows",
    "near_limit": "l is close to the largest that the sensitive column allows, so that answers will be vague",
    "minimality": "refused cuts make somebody's value certain; without a seed that is an error that nobody can accept",
    "looks": "groups were formed by looking at sensitive values, and what that tells is not fully tried",
    "coarse": "blind cuts left so few groups that the release tells next to nothing",
    "formulas": "a CSV file would hold texts that a spreadsheet takes for formulas",
    "dominant": "in a group nearly everybody holds one sensitive value, so that its people are known almost surely",
    "text": "a column is published as text, though all its values look like numbers or dates",
    "earlier": "an earlier release shows other columns, so that people are recognised by those that both show alone",
    "public": "the public table of a join lists people twice, without an identifier, or otherwise than the microdata",
}


def accepted(given: Mapping[str, Any]) -> dict[str, Any]:
    """The reasons by the names of the warnings, however deep TOML nests them: `{tells = {zipcode = …}}`."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, Mapping):
            found |= {f"{name}.{inner}": reason for inner, reason in accepted(value).items()}
        else:
            found[str(name)] = value
    return found


def accept_mistakes(given: Any) -> Iterator[Mistake]:
    """What is wrong with the key `accept` of a policy."""
    if not isinstance(given, Mapping):
        yield Mistake("accept", f'expected a table like {{ public = "the reason" }}, got {given!r}')
        return
    for name, reason in accepted(given).items():
        kind = name.split(".")[0]
        if kind not in KINDS:
            yield Mistake(f"accept.{name}", f"`{kind}` is no kind of warning; {nearest(kind, KINDS)}")
        if not (isinstance(reason, str) and reason.strip()):
            yield Mistake(f"accept.{name}", f"expected the reason as a text, got {reason!r}")
