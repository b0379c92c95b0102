"""Values as a hierarchy spells them, found in a column by what they mean: `01` is 1, `1.50` is 1.5, `TRUE` is true."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Hashable, Sequence
from decimal import Context, Decimal, InvalidOperation

import numpy as np
import pyarrow as pa
from pyarrow import types

from discreet.errors import InputError
from discreet.values.columns import Kind, kind_of
from discreet.values.positions import PER_SECOND, per_day, stored

_DIGITS = 80  # more than any decimal column has
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MOMENT = dt.timedelta(microseconds=1)


def kind(type_: pa.DataType) -> str:
    """What a column of this type holds, in words."""
    found = kind_of(type_)
    if found is None:
        return f"values of the type {type_}"
    return "whole numbers" if found == "decimal" and type_.scale == 0 else _KINDS[found]


_KINDS: dict[Kind, str] = {
    "string": "text",
    "integer": "whole numbers",
    "float": "numbers",
    "decimal": "decimals",
    "date": "dates",
    "timestamp": "timestamps",
    "time": "times",
    "boolean": "booleans",
}


def keys(values: pa.Array) -> list[Hashable]:
    """What each value is, as something to be looked up."""
    found: list[Hashable] = values.cast(stored(values.type)).to_pylist()
    return found


def texts(values: pa.Array) -> list[str]:
    """Each value as a text that can be turned back into it."""
    if kind(values.type) == "timestamps" and values.type.tz is not None:
        values = values.cast(pa.timestamp(values.type.unit, "UTC"))
    found: list[str] = values.cast(pa.string()).to_pylist()
    return found


def respelled(found: Sequence[Hashable], type_: pa.DataType) -> list[str]:
    """What was looked up as texts, in the spelling of the column."""
    return texts(pa.array(found, stored(type_)).cast(type_))


def reader(type_: pa.DataType, column: str) -> Callable[[str], Hashable | None]:
    """How to read a text as a value of the column; None for one that the column cannot hold."""
    readers: dict[str, Callable[[str], Hashable | None]] = {
        "text": lambda text: text,
        "whole numbers": lambda text: _whole(text, type_),
        "numbers": lambda text: _float(text, type_),
        "decimals": lambda text: _decimal(text, type_.precision, type_.scale),
        "dates": lambda text: _day(text, per_day(type_)),
        "timestamps": lambda text: _moment(text, PER_SECOND[type_.unit], zone=type_.tz is not None),
        "times": lambda text: _time(text, PER_SECOND[type_.unit]),
        "booleans": lambda text: {"true": True, "false": False}.get(text.strip().lower()),
    }
    holds = kind(type_)
    if holds not in readers:
        raise InputError(f"the column `{column}` holds {holds}, for which there are no hierarchies")
    return readers[holds]


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if "_" not in text and number.is_finite() and abs(number.adjusted()) < _DIGITS else None


def _whole(text: str, type_: pa.DataType) -> Hashable | None:
    number = _number(text)
    if number is None or number != int(number):
        return None
    if types.is_decimal(type_):
        return _decimal(text, type_.precision, type_.scale)
    about = np.iinfo(type_.to_pandas_dtype())
    return int(number) if about.min <= number <= about.max else None


def _decimal(text: str, precision: int, scale: int) -> Decimal | None:
    number = _number(text)
    if number is None:
        return None
    exact = Context(prec=2 * _DIGITS)
    rounded = number.quantize(Decimal(1).scaleb(-scale, exact), context=exact)
    fits = rounded == number and abs(number) < Decimal(1).scaleb(precision - scale, exact)
    return rounded if fits else None


def _float(text: str, type_: pa.DataType) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    if "_" in text or np.isnan(number):
        return None
    with np.errstate(over="ignore"):
        return float(type_.to_pandas_dtype()(number))


def _day(text: str, per: int) -> int | None:
    try:
        return (dt.date.fromisoformat(text.strip()) - _EPOCH.date()).days * per
    except ValueError:
        return None


def _moment(text: str, per: int, *, zone: bool) -> int | None:
    try:
        moment = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if moment.tzinfo is not None and not zone:
        return None
    since = moment.replace(tzinfo=moment.tzinfo or dt.UTC) - _EPOCH
    return _exact(since // _MOMENT, per)


def _time(text: str, per: int) -> int | None:
    try:
        time = dt.time.fromisoformat(text.strip())
    except ValueError:
        return None
    since = dt.timedelta(hours=time.hour, minutes=time.minute, seconds=time.second, microseconds=time.microsecond)
    return _exact(since // _MOMENT, per) if time.tzinfo is None else None


def _exact(microseconds: int, per: int) -> int | None:
    units, rest = divmod(microseconds * per, 1_000_000)
    return units if rest == 0 and abs(units) < 2**63 else None
