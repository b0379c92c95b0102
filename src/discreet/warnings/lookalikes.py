"""Sensitive values that look alike: five spellings of one disease are one disease to whoever reads them.

Values are taken as one if they differ only in capitals, spaces, accents, Unicode form, invisible characters, a dash or
an underscore for a space, the shape of an apostrophe, or a stop at the end. Other signs are kept: `A+` is not `A-`.
Cost: linear in the distinct values, and in the rows where some look alike.
Claim: lookalikes_are_one — groups are judged as if the table had been written in one spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import DiscreetWarning
from discreet.guarantees import Guarantee, Histograms
from discreet.guarantees.harmless import harmless
from discreet.publication import PUBLICATIONS
from discreet.publication.draft import Draft
from discreet.values.codes import Codes, encode
from discreet.values.columns import kind_of

SHOWN = 3  # sets of values, and spellings of each
PLAINER = (
    (r"[\x{0300}-\x{036F}\p{Cf}\x{FE00}-\x{FE0F}]", ""),  # accents, once letters are taken apart; what nobody sees
    (r"[\x{2018}\x{2019}\x{02BC}\x{FF07}`]", "'"),
    (r"[\p{Z}\s_]+", " "),
    (r"([\pL\pN]) ?\p{Pd} ?([\pL\pN])", r"\1 \2"),
    (r"([\pL\pN]) ?\p{Pd} ?([\pL\pN])", r"\1 \2"),  # again: a letter between two dashes was taken by the first
    (r"[.,;: ]+$", ""),
    (r"^ +", ""),
    ("ß", "ss"),
)


@dataclass(frozen=True)
class _Merged:
    """Values that look alike taken as one: their codes, how many have several spellings, and those of the first."""

    codes: Codes
    sets: int
    spellings: list[list[str]]


def lookalikes(draft: Draft) -> Iterator[DiscreetWarning]:
    """A warning if sensitive values look alike, with what would be left of the promise if they were the same."""
    name = draft.policy.sensitive
    if name is not None:
        yield from spelled(name, draft.sensitive, lambda codes: _left(draft, codes))


def spelled(name: str, sensitive: Codes, left: Callable[[Codes], str]) -> Iterator[DiscreetWarning]:
    """The same of a column's values; `left` says what would be left of the promise."""
    if kind_of(sensitive.domain.type) != "string":
        return
    merged = _merged(sensitive)
    if not merged.sets:
        return
    sets = "1 set of values" if merged.sets == 1 else f"{merged.sets:,} sets of values"
    differ = "differs" if merged.sets == 1 else "differ"
    shown = "; ".join(map(_written, merged.spellings)) + ("; …" if merged.sets > SHOWN else "")
    yield DiscreetWarning(
        f"lookalikes.{name}",
        f"{sets} of `{name}` {differ} only in how they are written ({shown}), and are counted as different: "
        f"{left(merged.codes)}",
        hint=f"write each value in one way, or accept `lookalikes.{name}` if they do not mean the same",
    )


def plain(values: pa.Array) -> pa.Array:
    """Texts without what makes two spellings of one word differ."""
    found = pc.utf8_normalize(values, "NFKD")
    for pattern, instead in PLAINER:
        found = pc.replace_substring_regex(found, pattern, instead)
    return pc.utf8_lower(found)


def _merged(sensitive: Codes) -> _Merged:
    of_domain = encode(pa.chunked_array([plain(sensitive.domain)]))
    # a missing value stays one of its own, after all others
    numbers = np.append(of_domain.codes, np.int32(len(of_domain.domain)))
    held = sensitive.counts()[: len(sensitive.domain)] > 0  # rows that were left out may have held the others
    several = np.flatnonzero(np.bincount(of_domain.codes[held], minlength=of_domain.size) > 1)
    spellings = [sensitive.domain.filter(pa.array(held & (of_domain.codes == each))) for each in several[:SHOWN]]
    codes = Codes(numbers[sensitive.codes], of_domain.domain, sensitive.missing)
    return _Merged(codes, several.size, [each.to_pylist() for each in spellings])


def _written(values: list[str]) -> str:
    """The first spellings of a value, in quotes that show where spaces are."""
    more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
    return ", ".join(map(repr, values[:SHOWN])) + more


def _left(draft: Draft, codes: Codes) -> str:
    """What the groups keep of their promise if values that look alike are the same."""
    policy, histograms = draft.policy, Histograms.of(draft.groups, codes.codes)
    spared = harmless(policy.harmless, draft.sensitive, policy.sensitive_column)
    if spared is not None:  # what looks like a value that is not harmless is not harmless
        others = codes.codes[~spared[draft.sensitive.codes]]
        spared = ~np.isin(np.arange(codes.size), others)
    guarantee = Guarantee.of(policy.guarantee, population=codes.counts(), harmless=spared)
    broken = ~PUBLICATIONS[policy.publication].of_values(policy, guarantee).holds(histograms)
    if draft.people is not None:
        broken |= ~draft.people.keeps(draft.groups, histograms, guarantee)
    who = "people" if draft.people is None else "rows"
    share = float((histograms.tops / histograms.sizes).max())
    kept = "still holds" if not broken.any() else f"is broken in {broken.sum():,} of {broken.size:,} groups"
    return f"if they mean the same, the promise {kept}; {share:.1%} of the {who} of one group would hold the same value"
