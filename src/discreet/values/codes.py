"""Turn a column into integer codes over its ordered domain.

Code i stands for the i-th smallest value; a missing value has the code after the largest, so
that it is a value of its own, equal only to itself, wherever codes are compared.
Cost: linear in the rows, plus sorting the distinct values.
Claim: encode_round_trip — decoding the codes gives the column back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True, slots=True)
class Codes:
    """A column as codes into `domain`, its distinct values in ascending order; `missing` is their number if any are."""

    codes: npt.NDArray[np.int32]
    domain: pa.Array
    missing: bool

    @property
    def size(self) -> int:
        """How many codes there are, the missing value's among them."""
        return len(self.domain) + self.missing

    def counts(self) -> npt.NDArray[np.int64]:
        """How many rows hold each code."""
        return np.bincount(self.codes, minlength=self.size)

    def value(self, code: int) -> object:
        """The value that a code stands for; None if that is missing."""
        return self.domain[code].as_py() if code < len(self.domain) else None

    def decode(self, codes: npt.NDArray[np.integer]) -> pa.Array:
        """The values that the codes stand for."""
        mask = codes == len(self.domain)
        return self.domain.take(pa.array(codes, mask=mask))


@dataclass(frozen=True, slots=True)
class Tally(Codes):
    """A column of which is known how often each value occurs, and no row: it has no codes."""

    times: npt.NDArray[np.int64]

    @classmethod
    def of(cls, values: pa.ChunkedArray, times: npt.NDArray[np.int64]) -> Tally:
        """Of different values and how often each occurs."""
        found = encode(values)
        counts = np.zeros(found.size, np.int64)
        counts[found.codes] = times
        return cls(np.zeros(0, np.int32), found.domain, found.missing, counts)

    def counts(self) -> npt.NDArray[np.int64]:
        return self.times


def encode(values: pa.ChunkedArray) -> Codes:
    """Encode one column; see the module's docstring for the order."""
    if pa.types.is_string(values.type) and values.nbytes > 2**31:  # more text than fits into one array
        values = values.cast(pa.large_string())
    found = values.combine_chunks().dictionary_encode()
    order = pc.sort_indices(found.dictionary)
    rank = np.empty(len(order) + 1, np.int32)
    rank[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    rank[-1] = len(order)
    missing = found.null_count > 0
    at = pc.fill_null(found.indices, len(order)).to_numpy() if missing else found.indices.to_numpy()
    return Codes(rank[at], found.dictionary.take(order), missing)
