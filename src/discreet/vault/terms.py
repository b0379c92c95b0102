"""The policy of a vault: which ones it can keep, and the text that it is kept as."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from discreet.errors import Mistake, PolicyError
from discreet.partition import PARTITIONS
from discreet.policy import Policy
from discreet.policy.meant import Meant
from discreet.policy.method import SHOWN_BY_A_VAULT
from discreet.policy.options import OF_A_VAULT
from discreet.policy.policy import plain
from discreet.vault.safety.rule import Rule
from discreet.vault.store import schema
from discreet.words import nearest

NOT_KEPT = {
    "harmless": "a vault protects every value alike; leave it out",
    "hierarchies": "a vault knows ranges of numbers and dates, and sets of other values; leave it out",
    "ordered": "a vault knows ranges of numbers and dates, and sets of other values; leave it out",
}
COMPACT = "compact"
WITHHELD = 0.02  # the share of rows that may wait, unless the policy says otherwise


def check(policy: Policy) -> None:
    """Raise if a vault cannot keep this policy."""
    found = list(mistakes(policy))
    if found:
        raise PolicyError(found, source="the policy of a vault")


def mistakes(policy: Policy | Meant) -> Iterator[Mistake]:
    """What a vault cannot keep, or would ignore; what cannot be told is not judged."""
    if policy.publication not in {SHOWN_BY_A_VAULT, None}:
        what = f"a vault shows boxes, got `{policy.publication}`"
        yield Mistake("publication", f"{what}; use `{SHOWN_BY_A_VAULT}`")
    if policy.partition not in {"auto", "mondrian", COMPACT, None}:
        what = f"a vault divides its rows by itself or by `{COMPACT}`, got `{policy.partition}`"
        yield Mistake("partition", f'{what}; leave partition out, or set partition = "{COMPACT}"')
    if policy.partition == COMPACT and policy.person is not None:
        what = f"`{COMPACT}` takes every row for a person, but the policy has a `person`"
        yield Mistake("partition", f"{what}; leave partition out")
    promised = set(policy.guarantee or ())
    if len(promised & {"l", "distinct_l"}) > 1 or not promised <= {"l", "distinct_l", "k"}:
        told = ", ".join(map(str, policy.guarantee or ()))
        yield Mistake("guarantee", f"a vault promises l, distinct_l or k, or one with k, got {told}; write {{ l = 4 }}")
    for key, why in NOT_KEPT.items():
        if getattr(policy, key):
            yield Mistake(key, why)
    yield from _options(policy.options or {}, policy.person, policy.partition)


def _options(options: Mapping[str, Any], person: str | None, partition: str | None) -> Iterator[Mistake]:
    if partition == COMPACT and options.get("growth") == "insert":
        what = f"`insert` cuts groups in its own way, and not by `{COMPACT}`"
        yield Mistake("options.growth", f"{what}; leave `growth` out, or the partition")
    if person is not None and options.get("growth") == "insert":
        yield Mistake(
            "options.growth", "`insert` counts rows and not people, but the policy has a `person`; leave `growth` out"
        )
    if person is None and "lots" in options:
        what = "says in how many lots a `person` may have rows; leave it out, or name the person"
        yield Mistake("options.lots", what)
    for key in options:
        if key == "cuts":
            if partition not in {COMPACT, None}:
                what = f'chooses how `{COMPACT}` cuts; leave it out, or set partition = "{COMPACT}"'
                yield Mistake("options.cuts", what)
        elif key not in OF_A_VAULT:
            yield Mistake(f"options.{key}", f"is no option of a vault; {nearest(str(key), OF_A_VAULT)}")
    if "withheld" in options and options.get("growth", "settle") == "settle":
        what = 'nobody waits for others with growth = "settle", the default, so it does nothing'
        yield Mistake("options.withheld", f'{what}; leave it out, or set growth = "insert"')
    elif options.get("withheld") == 0:
        yield Mistake(
            "options.withheld", "expected more than 0: some rows must be allowed to wait so that others can be released"
        )


def rule(policy: Policy) -> Rule:
    """What the groups of a vault must keep to, how many rows may wait so that they can be small, and how they grow."""
    options = policy.options
    about = Rule.of(policy.guarantee, float(options.get("withheld", WITHHELD)), options.get("growth", "settle"))
    if policy.partition == COMPACT:
        return replace(about, cuts="fitted" if PARTITIONS[COMPACT].cuts(options) == "fitted" else "blind")
    return about if policy.person is None else replace(about, lots=int(options.get("lots", 1)))


def version(policy: Policy) -> int:
    """The version of a vault that keeps it."""
    if policy.partition == COMPACT:
        return schema.COMPACT
    return schema.FORMAT if policy.person is None else schema.OF_PEOPLE


def to_text(policy: Policy) -> str:
    """A policy as JSON, the same text for the same policy."""
    values = {}
    for key in fields(policy):
        value = plain(getattr(policy, key.name))
        if value not in (None, [], {}):
            values[key.name] = value
    return json.dumps(values, indent=2, sort_keys=True, ensure_ascii=False, default=str) + "\n"


def of_text(text: str) -> Policy:
    return Policy(**json.loads(text))


def digest(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
