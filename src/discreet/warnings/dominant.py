"""One value fills a group of a (k,e) release: the value of everybody in it is almost certain.

Source: the (k,e) of Koudas et al. (ICDE 2007) counts distinct values, and says nothing of how often each is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from discreet.errors import DiscreetWarning
from discreet.guarantees.dominance import dominating
from discreet.guarantees.harmless import harmless
from discreet.publication import PUBLICATIONS

if TYPE_CHECKING:
    from discreet.publication.draft import Draft


def dominant(draft: Draft) -> Iterator[DiscreetWarning]:
    """Warn if a value dominates a group; say what to do."""
    policy, sensitive = draft.policy, draft.sensitive
    if "e" not in policy.guarantee or not PUBLICATIONS[policy.publication].grouped:
        return
    name, counts = policy.sensitive_column, sensitive.counts()
    spared = harmless(policy.harmless, sensitive, name)
    found = dominating(draft.histograms, counts, spared)
    if found is None:
        return
    code, held, rows = found
    ways = [f"if whoever holds {sensitive.value(code)!r} needs no protection, name it in `harmless`"]
    ways += [] if policy.grouping == "deal" else ['use partition = "deal", which spreads values evenly']
    value, among = sensitive.value(code), counts.sum() if spared is None else counts[~spared].sum()
    yield DiscreetWarning(
        "dominant",
        f"in a group of {rows:,}, {held / rows:.1%} hold {value!r} in `{name}`, which {counts[code] / among:.1%} of all"
        " do: the value of everybody in it is almost certain",
        hint="; or ".join(
            [*ways, "promise `beta` as well, which keeps the shares in each group near those of the whole table"]
        ),
    )
