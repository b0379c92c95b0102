"""A hierarchy of prefixes for codes: at each level more characters at the right are replaced by `*`.

Cost: one pass over the values per level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.errors import InputError
from discreet.hierarchies.levels import ROOT, Levels, numbered, shown
from discreet.hierarchies.match import kind, texts
from discreet.hierarchies.taxonomy import over


@dataclass(frozen=True)
class Masks:
    """How many characters each level replaces, the fewest first."""

    source: str
    lengths: tuple[int, ...]

    def levels(self, domain: pa.Array, column: str) -> Levels:
        """The codes of the column by their beginnings; for want of a list, labels stand for codes that are there."""
        holds = kind(domain.type)
        if holds not in ("text", "whole numbers"):
            raise InputError(
                f"{self.source}: `masks` are for codes, but the column `{column}` holds {holds}",
                hint="use `intervals` for numbers and `dates` for dates, or read the column as text",
            )
        codes = texts(domain)
        masked = [[code[:-length] + "*" * min(length, len(code)) for code in codes] for length in self.lengths]
        levels = [numbered(level) for level in (codes, *masked, [ROOT] * len(codes))]
        nodes = np.array([numbers for numbers, _ in levels], np.int32).reshape(len(levels), len(codes))
        return over(np.arange(len(codes), dtype=np.int32), nodes, shown([used for _, used in levels], nodes), codes)
