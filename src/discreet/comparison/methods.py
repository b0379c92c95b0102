"""Methods to compare: a publication with a partition, under the roles and the guarantee of one policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from discreet.errors import InputError, PolicyError
from discreet.partition import PARTITIONS
from discreet.policy import Policy
from discreet.publication import KEYS, PUBLICATIONS
from discreet.publication.join import VARIANTS
from discreet.values.columns import Column
from discreet.words import nearest


@dataclass(frozen=True, slots=True)
class Method:
    """A publication with a partition, and for a join its variant."""

    publication: str
    partition: str = "auto"
    variant: str | None = None

    @property
    def name(self) -> str:
        chosen = (self.publication, None if self.partition == "auto" else self.partition, self.variant)
        return "/".join(part for part in chosen if part is not None)

    def under(self, policy: Policy) -> Policy:
        """The same policy for this method; options that it does not know are left out."""
        others: dict[str, Any] = dict.fromkeys(KEYS)
        plain = replace(policy, publication=plainest(policy), partition="auto", options={}, **others)
        own = {key: getattr(policy, key) for key, publication in KEYS.items() if publication == self.publication}
        chosen = replace(plain, publication=self.publication, partition=self.partition, **own)
        grouping = PARTITIONS.get(chosen.grouping)
        known = {**PUBLICATIONS[self.publication].options, **(grouping.options if grouping else {})}
        options = {name: value for name, value in policy.options.items() if name in known}
        return replace(chosen, options={**options, **({"variant": self.variant} if self.variant else {})})


def plainest(policy: Policy) -> str:
    """A publication that any policy with the same columns and guarantee could have."""
    return "full_permutation" if policy.sensitive is None else "anatomy"


def method(text: str) -> Method:
    """Read `publication/partition`; a partition may be left out, and a join may have `/direct` at the end."""
    publication, partition, variant, *more = [*text.strip().split("/"), *("", "")][: max(text.count("/") + 1, 3)]
    for part, known in ((publication, PUBLICATIONS), (partition, PARTITIONS), (variant, VARIANTS)):
        if (part or part is publication) and part not in known:
            raise InputError(f"`{text}` is not a method: there is no `{part}`", hint=nearest(part, known))
    if (
        more
        or (variant and "variant" not in PUBLICATIONS[publication].options)
        or (partition and not PUBLICATIONS[publication].grouped)
    ):
        raise InputError(
            f"`{text}` is not a method: it has too many parts",
            hint="write `anatomy/local`, `swap` or `join/mondrian/direct`",
        )
    return Method(publication, partition or "auto", variant or None)


def sensible(policy: Policy, columns: Sequence[Column], *, public: bool) -> list[Method]:
    """All methods that are worth comparing and that a policy and a table allow."""
    return [each for each in _candidates(policy, public=public) if _fits(each, policy, columns)]


def _candidates(policy: Policy, *, public: bool) -> Iterator[Method]:
    for name, publication in PUBLICATIONS.items():
        if publication.needs_public and not public:
            continue
        ranges = publication.ranges if "e" in policy.guarantee else ()
        yield from (Method(name, partition) for partition in (*publication.compared, *ranges))


def _fits(candidate: Method, policy: Policy, columns: Sequence[Column]) -> bool:
    try:
        candidate.under(policy).fit(columns)
    except PolicyError:
        return False
    return True
