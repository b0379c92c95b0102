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
    from discreet.policy import Policy
    from discreet.publication.draft import Draft
    from discreet.values.codes import Codes


def dominant(draft: Draft) -> Iterator[DiscreetWarning]:
    """Warn if a value dominates a group; say what to do."""
    policy, sensitive = draft.policy, draft.sensitive
    if "e" not in policy.guarantee or not PUBLICATIONS[policy.publication].grouped:
        return
    found = dominating(
        draft.histograms, sensitive.counts(), harmless(policy.harmless, sensitive, policy.sensitive_column)
    )
    if found is not None:
        yield of_group(policy, sensitive, *found)


def of_group(policy: Policy, sensitive: Codes, code: int, held: int, rows: int) -> DiscreetWarning:
    """The warning of a group of so many rows, of which some hold a value."""
    name, counts = policy.sensitive_column, sensitive.counts()
    spared = harmless(policy.harmless, sensitive, name)
    ways = [f"if whoever holds {sensitive.value(code)!r} needs no protection, name it in `harmless`"]
    ways += [] if policy.grouping == "deal" else ['use partition = "deal", which spreads values evenly']
    value, among = sensitive.value(code), counts.sum() if spared is None else counts[~spared].sum()
    return DiscreetWarning(
        "dominant",
        f"in a group of {rows:,}, {held / rows:.1%} hold {value!r} in `{name}`, which {counts[code] / among:.1%} of all"
        " do: the value of everybody in it is almost certain",
        hint="; or ".join(
            [*ways, "promise `beta` as well, which keeps the shares in each group near those of the whole table"]
        ),
    )
