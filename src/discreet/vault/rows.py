"""Values on their way into a vault and out again as texts, of exact types, and the keys that tell people apart.

What has no order, and what is sensitive, is kept as a text under a code; what has one, as a position
(`values/positions.py`).

Cost: linear in the distinct values.
Claim: texts_give_the_values_back — distinct values turned into texts and back are the same, values and type.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from discreet.values.positions import stored

KEY = r"(?:[^\\|]|\\.)*"  # one of several identifiers, as `keys` writes it


def texts(values: pa.Array) -> list[str | None]:
    """Distinct values as texts, a missing one as none."""
    kind = values.type
    found = values.cast(stored(kind)).to_pylist()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return [None if value is None else str(value) for value in found]
    return [None if value is None else repr(value) if isinstance(value, float) else str(value) for value in found]


def values_of(found: Sequence[str | None], kind: pa.DataType) -> pa.Array:
    """The values of a type that have these texts."""
    make: Any = str
    if pa.types.is_boolean(kind):
        make = "True".__eq__
    elif pa.types.is_temporal(kind) or pa.types.is_integer(kind):
        make = int
    elif pa.types.is_decimal(kind):
        make = Decimal
    elif pa.types.is_floating(kind):
        make = float
    return pa.array([None if text is None else make(text) for text in found], stored(kind)).cast(kind)


def keys(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    r"""One text per row that tells its identifiers apart from all others; missing where every one of them is.

    A single identifier is its own key. Several are joined by bars, theirs escaped, and a missing one is `\0`.
    """
    found = [column.cast(pa.string()) for column in columns]
    if len(found) == 1:
        return found[0]
    nobody = found[0].is_null()
    for column in found[1:]:
        nobody = pc.and_(nobody, column.is_null())
    escaped = [pc.replace_substring(pc.replace_substring(column, "\\", "\\\\"), "|", "\\|") for column in found]
    joined = pc.binary_join_element_wise(*(pc.fill_null(column, "\\0") for column in escaped), "|")
    return pc.if_else(nobody, pa.scalar(None, pa.string()), joined)
