"""What a release says of itself beside its promise: the key `about` of a policy, as a Data Package has it.

Nothing of it is derived from the table: it is what the steward writes, and it is published as it is.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from discreet.errors import Mistake
from discreet.policy.method import shown
from discreet.words import nearest

ADDRESS = re.compile(r"https?://\S+")
IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")  # of SPDX's list, like CC-BY-4.0
MAIL = re.compile(r"(?:(?P<name>[^<>]*\S)\s*<)?(?P<mail>[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+)>?")
VERSION = re.compile(r"\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?")
SPDX = "https://spdx.org/licenses/"


def _text(value: Any) -> str | None:
    return None if isinstance(value, str) and value.strip() else "a text"


def _licence(value: Any) -> str | None:
    fits = isinstance(value, str) and (ADDRESS.fullmatch(value) or IDENTIFIER.fullmatch(value))
    return None if fits else 'an identifier of SPDX, like "CC-BY-4.0", or an address that begins with https://'


def _contact(value: Any) -> str | None:
    fits = isinstance(value, str) and (MAIL.fullmatch(value) or ADDRESS.fullmatch(value))
    return None if fits else 'an address, like "Statistics Office <data@example.org>" or "https://example.org/contact"'


def _keywords(value: Any) -> str | None:
    return None if isinstance(value, list | tuple) and not any(map(_text, value)) else "a list of texts"


def _homepage(value: Any) -> str | None:
    return None if isinstance(value, str) and ADDRESS.fullmatch(value) else "an address that begins with https://"


def _version(value: Any) -> str | None:
    return None if isinstance(value, str) and VERSION.fullmatch(value) else 'three numbers with points, like "1.0.0"'


def _date(value: Any) -> str | None:
    try:
        fits = dt.date.fromisoformat(str(value)).isoformat() == str(value)
    except ValueError:
        fits = False
    return None if fits else "a date, like 2026-11-30"


KEYS: Mapping[str, Callable[[Any], str | None]] = {
    "title": _text,
    "description": _text,
    "licence": _licence,
    "contact": _contact,
    "keywords": _keywords,
    "homepage": _homepage,
    "version": _version,
    "date": _date,
}


def about_mistakes(given: Any) -> Iterator[Mistake]:
    """What is wrong with the key `about` of a policy."""
    if not isinstance(given, Mapping):
        yield Mistake("about", f'expected a table like {{ title = "…" }}, got {shown(given)}')
        return
    for key, value in given.items():
        if key not in KEYS:
            yield Mistake(f"about.{key}", f"is not a key of `about`; {nearest(str(key), KEYS)}")
        elif (expected := KEYS[key](value)) is not None:
            yield Mistake(f"about.{key}", f"expected {expected}, got {shown(value)}")


def members(about: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a Data Package that say the same."""
    found: dict[str, Any] = {key: about[key] for key in ("title", "description", "homepage", "version") if key in about}
    if "keywords" in about:
        found["keywords"] = tuple(about["keywords"])
    if "date" in about:
        found["created"] = f"{about['date']}T00:00:00Z"
    if "licence" in about:
        address = about["licence"] if ADDRESS.fullmatch(about["licence"]) else f"{SPDX}{about['licence']}"
        named = {} if address == about["licence"] else {"name": about["licence"]}
        found["licenses"] = ({**named, "path": address},)
    if "contact" in about:
        mail = MAIL.fullmatch(about["contact"])
        who = {"path": about["contact"]} if mail is None else {"email": mail["mail"]}
        title = about["contact"] if mail is None else mail["name"] or mail["mail"]
        found["contributors"] = ({"title": title, **who, "roles": ["contact"]},)
    return found
