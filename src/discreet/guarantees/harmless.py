"""Harmless values: those that need no protection, such as a wage of 0 or the illness "none".

Source: the don't-care set of Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", TKDD 2007, section 4.3.
Theirs lets a harmless value fill a group; ours also protects whoever is known not to hold one: a promise counts the
rows that hold no harmless value, as if a group had no others (see `docs/promise.md` for what follows).
Cost: a comparison per harmless value and distinct value.
Claim: harmless_values_are_found_by_type — a value is found if and only if it is of the column's kind, and there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import Mistake, PolicyError
from discreet.values.codes import Codes
from discreet.values.columns import kind_of
from discreet.words import closest

# What a policy may write for a value of each kind, and how that is told.
WRITTEN: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "integer": (lambda value: type(value) is int, "a whole number, like 0"),
    "float": (lambda value: type(value) in {int, float}, "a number, like 0 or 0.5"),
    "decimal": (lambda value: type(value) in {int, float, Decimal}, "a number, like 0 or 0.5"),
    "date": (lambda value: type(value) is date, "a date without quotes, like 2026-11-30"),
    "timestamp": (lambda value: isinstance(value, datetime), "a date and time without quotes"),
    "time": (lambda value: isinstance(value, time), "a time without quotes, like 09:30:00"),
    "boolean": (lambda value: type(value) is bool, "true or false"),
    "string": (lambda value: isinstance(value, str), 'a text in quotes, like "none"'),
}
COMMON = 10  # rows; what fewer hold are cells of single people, which no message shows
VALUES = (bool, int, float, Decimal, str, date, datetime, time)


def is_value(value: Any) -> bool:
    """Whether it may be a value of some column."""
    return isinstance(value, VALUES) and not (isinstance(value, float | Decimal) and not math.isfinite(value))


def unlike(values: Sequence[Any], type_: pa.DataType) -> list[str]:
    """What is wrong with harmless values of a column of this type, by what they are."""
    kind = kind_of(type_)
    if kind is None:
        return []
    fits, expected = WRITTEN[kind]
    zoned = kind == "timestamp" and type_.tz is not None
    found = [f"got {value!r}, expected {expected}: the column holds {type_}" for value in values if not fits(value)]
    if kind == "timestamp":
        strange = [value for value in values if fits(value) and (value.tzinfo is not None) != zoned]
        expected = f"a time {'with' if zoned else 'without'} a zone"
        found += [f"got {value!r}, expected {expected}: the column holds {type_}" for value in strange]
    return found


def harmless(values: Sequence[Any], sensitive: Codes, name: str) -> npt.NDArray[np.bool_] | None:
    """Of each code whether its value is harmless, None if none is; raise if one does not occur, or all are named."""
    if not values:
        return None
    found = np.zeros(sensitive.size, np.bool_)
    common = np.flatnonzero(sensitive.counts()[: len(sensitive.domain)] >= COMMON)
    domain = sensitive.domain.take(pa.array(common)).to_pylist()
    wrong = []
    for value in values:
        same = _same(value, sensitive.domain)
        if not same.any():
            wrong.append(Mistake("harmless", f"no row has {value!r} in `{name}`; {_near(value, domain)}"))
        found[: same.size] |= same
    if not wrong and found[np.flatnonzero(sensitive.counts())].all():
        wrong = [Mistake("harmless", f"every value of `{name}` is named, so nothing is left to protect; name fewer")]
    if wrong:
        raise PolicyError(wrong)
    return found


def as_told(values: pa.Array) -> list[bool | int | float | str]:
    """Values as a manifest tells them: numbers, truth values and texts as JSON has them, all others as texts."""
    kind = kind_of(values.type)
    if kind == "integer":
        return [int(value) for value in values.to_pylist()]
    found: list[bool | float | str] = (
        values if kind in {"float", "boolean", "string"} else values.cast(pa.string())
    ).to_pylist()
    return found


def _same(value: Any, domain: pa.Array) -> npt.NDArray[np.bool_]:
    """Which values of the domain are this one."""
    if pa.types.is_decimal(domain.type):
        return np.array([each == _decimal(value) for each in domain.to_pylist()], np.bool_)
    try:
        return np.asarray(pc.equal(domain, pa.scalar(value, domain.type)))
    except (pa.ArrowInvalid, OverflowError):  # out of the type's range: no row can hold it
        return np.zeros(len(domain), np.bool_)


def _near(value: Any, domain: Sequence[Any]) -> str:
    """The value that may have been meant, of those that many people hold."""
    if isinstance(value, str):
        meant = closest(value, domain)
    elif isinstance(value, bool | time) or not domain:
        meant = None
    else:
        wanted = _decimal(value) if isinstance(domain[0], Decimal) else value
        meant = min(domain, key=lambda each: abs(each - wanted))
    return "write it as it stands in the table" if meant is None else f"did you mean {meant!r}?"


def _decimal(value: float | Decimal) -> Decimal:
    """A number as the decimal that it is written as."""
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
