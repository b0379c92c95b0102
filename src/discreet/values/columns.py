"""What a column holds, told once: Arrow's type, the kind of its values, and the Data Package's word for it.

kind        Arrow types                                        word
integer     whole numbers, also of 38 digits                   integer
float       float32, float64                                   number
decimal     all other decimals                                 number
date        date32, date64                                     date
timestamp   timestamps of any unit, with or without a zone     datetime
time        times of day, down to microseconds                 time
boolean     bool                                               boolean
string      texts, and categories whose labels are texts       string
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import pyarrow as pa
from pyarrow import types

Kind: TypeAlias = Literal["integer", "float", "decimal", "date", "timestamp", "time", "boolean", "string"]
Word: TypeAlias = Literal["integer", "number", "boolean", "string", "date", "datetime", "time"]

WIDE = pa.decimal128(38, 0)  # whole numbers beyond 64 bits: no integer type of Arrow or Parquet holds them
UNORDERED = {"string", "boolean"}  # kinds, and words, whose values have neither an order nor distances

_IS: dict[Kind, Callable[[pa.DataType], bool]] = {
    "integer": lambda type_: types.is_integer(type_) or type_.equals(WIDE),
    "float": lambda type_: types.is_float32(type_) or types.is_float64(type_),
    "decimal": lambda type_: types.is_decimal(type_) and not types.is_decimal256(type_),
    "date": types.is_date,
    "timestamp": types.is_timestamp,
    "time": lambda type_: types.is_time(type_) and type_.unit != "ns",
    "boolean": types.is_boolean,
    "string": lambda type_: types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_),
}
_WORDS: dict[Kind, Word] = {
    "integer": "integer",
    "float": "number",
    "decimal": "number",
    "date": "date",
    "timestamp": "datetime",
    "time": "time",
    "boolean": "boolean",
    "string": "string",
}
# The type as which the values of a word are read where a file has none of its own, as a CSV file has not.
ARROW: dict[str, pa.DataType] = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
    "time": pa.time64("us"),
}


@dataclass(frozen=True)
class Column:
    """A column's name and type, and what its source says beyond that.

    `refused` is why it cannot be published as it came, and what to do; `order` are the labels of a category, if these
    have an order: the engine holds texts.
    """

    name: str
    type: pa.DataType
    refused: str | None = None
    order: tuple[str, ...] | None = None

    @cached_property
    def kind(self) -> Kind | None:
        """What kind of values it holds; None if discreet cannot publish them."""
        return kind_of(self.type)

    @property
    def word(self) -> Word | None:
        """The word that a Data Package has for it."""
        return word_of(self.type)

    @cached_property
    def ordered(self) -> bool:
        """Whether its values have an order and distances of their own."""
        return self.kind is not None and self.kind not in UNORDERED


def columns_of(schema: pa.Schema) -> tuple[Column, ...]:
    return tuple(Column(field.name, field.type) for field in schema)


def kind_of(type_: pa.DataType) -> Kind | None:
    """What kind of values a type has; None if discreet cannot publish them."""
    if types.is_dictionary(type_):
        type_ = type_.value_type
    return next((kind for kind, holds in _IS.items() if holds(type_)), None)


def word_of(type_: pa.DataType) -> Word | None:
    """The word that a Data Package has for a type."""
    kind = kind_of(type_)
    return None if kind is None else _WORDS[kind]


def may_be(word: str, type_: pa.DataType) -> bool:
    """Whether a file may hold what a Data Package describes by a word in a column of this type."""
    if types.is_decimal(type_):
        return word == "number" or (word == "integer" and type_.scale == 0)
    return not types.is_dictionary(type_) and word_of(type_) == word


def is_ordered(type_: pa.DataType) -> bool:
    """Whether the values of a type have an order and distances: texts and truth values have none."""
    kind = kind_of(type_)
    return kind is not None and kind not in UNORDERED


def exact_in_csv(type_: pa.DataType) -> bool:
    """Whether values written to a CSV file are read back as what they were, by the type of their word."""
    kind = kind_of(type_)
    if kind == "timestamp":
        return type_.unit != "ns" and type_.tz is None
    return not (types.is_uint64(type_) or types.is_decimal(type_) or types.is_float32(type_))
