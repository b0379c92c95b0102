"""Prepare a table for its groups: the sensitive values as codes, the guarantee, the people; or every problem at once.

Whatever does not depend on another problem is looked for although there is one, so that a steward reads of all in one
go: missing sensitive values, people with several rows, a guarantee that is out of reach, texts that look like numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pyarrow as pa

from discreet.errors import DiscreetError, GuaranteeError, InputError, PolicyError, ProblemsError
from discreet.guarantees import Guarantee, Scale, needed
from discreet.guarantees.harmless import harmless
from discreet.policy import Policy
from discreet.policy.meant import Meant
from discreet.publication import PUBLICATIONS
from discreet.publication.axes import axes, present
from discreet.publication.default import settled
from discreet.publication.draft import Prepared
from discreet.publication.identified import check_identified
from discreet.publication.people import People
from discreet.table import Table
from discreet.values.codes import Codes
from discreet.values.random import RandomSource
from discreet.warnings.checks import Check
from discreet.warnings.repeats import repeats
from discreet.warnings.text import text


def prepare(table: Table, policy: Policy, secret: RandomSource, *, public: Table | None = None) -> Prepared:
    """Encode the sensitive values of a table that fits its policy; raise if no partition could keep the guarantee."""
    found: list[DiscreetError] = []
    people, sensitive, guarantee, later = None, nothing(0), None, [text]
    with _noted(found):
        sensitive = sensitive_codes(table, policy)
    with _noted(found):
        people = None if policy.person is None else People.of(table, policy, secret)
        if people is None:
            check_identified(table, policy)
        later.append(repeats)
    with _noted(found):
        counted = sensitive if not found else _of_the_others(table, policy)
        guarantee = promised(policy, counted)
        of_values = PUBLICATIONS[policy.publication].of_values(policy, guarantee)
        of_values.feasible(counted.counts(), policy.sensitive or "", counted.value)
    if found or guarantee is None:
        with _noted(found):
            if people is not None:
                people.check_constant(axes(table, policy), policy.person or "")
        found += _warned(later, Prepared(table, policy, sensitive, Guarantee.of({"k": 1}), secret))
        raise found[0] if len(found) == 1 else ProblemsError(found)
    return Prepared(table, settled(policy, sensitive, guarantee), sensitive, guarantee, secret, public, people)


def problems(table: Table, meant: Meant) -> tuple[DiscreetError, ...]:
    """What `prepare` would refuse of a table, where its policy has mistakes; as far as that can be told."""
    names = {column.name for column in table.columns if column.kind is not None and column.refused is None}
    alone = (meant.sensitive, meant.person)
    if meant.sensitive not in names or (meant.person or meant.sensitive) not in names:
        return ()
    others = [name for name in names if name not in alone]
    given = {
        "quasi": [name for name in meant.quasi or () if name in others and name not in (meant.identifiers or ())],
        "identifiers": [name for name in meant.identifiers or () if name in others],
        "missing_sensitive": meant.missing_sensitive or "error",
        **{key: getattr(meant, key) for key in ("sensitive", "guarantee", "publication") if getattr(meant, key)},
        **({} if meant.person is None else {"person": meant.person}),
    }
    try:
        policy = Policy(**{"guarantee": {"k": 1}, **given})
        prepare(table, policy, RandomSource())
    except ProblemsError as error:
        return error.problems
    except PolicyError:
        return ()
    except DiscreetError as error:
        return (error,)
    return ()


@contextmanager
def _noted(found: list[DiscreetError]) -> Iterator[None]:
    """Keep what a table is refused for, and go on."""
    try:
        yield
    except (InputError, GuaranteeError) as error:
        if str(error) not in map(str, found):
            found.append(error)


def _of_the_others(table: Table, policy: Policy) -> Codes:
    """The sensitive values of the rows that have one."""
    without = policy if policy.sensitive is None else replace(policy, missing_sensitive="withhold")
    return sensitive_codes(table, without)


def _warned(checks: Sequence[Check], prepared: Prepared) -> Iterator[DiscreetError]:
    """What would be warned of next, as far as that is known of a table that has problems."""
    for warning in (each for check in checks for each in check(prepared)):
        if warning.name not in prepared.policy.accept:
            yield InputError(warning.message, hint=warning.hint)


def sensitive_codes(table: Table, policy: Policy) -> Codes:
    if table.rows == 0:
        raise InputError("the table has no rows", hint="there is nothing to publish")
    if policy.sensitive is None:
        return nothing(table.rows)
    return checked(table.codes(policy.sensitive, present=present(policy)), policy)


def checked(codes: Codes, policy: Policy) -> Codes:
    """The sensitive values, unless they cannot be published as the policy has it."""
    if codes.missing and policy.missing_sensitive == "error":
        raise InputError(
            f"the sensitive column `{policy.sensitive}` has {codes.counts()[-1]:,} missing values",
            hint='set missing_sensitive = "withhold" to leave those rows out'
            + ("" if "scale" in needed(policy.guarantee) else ', or "value" to publish them as a value of their own'),
        )
    if not codes.counts().any():
        raise InputError(f"every value of the sensitive column `{policy.sensitive}` is missing")
    real = PUBLICATIONS[policy.publication].numeric and pa.types.is_floating(codes.domain.type)
    if real and not np.isfinite(codes.domain.to_numpy()).all():
        raise InputError(
            f"the sensitive column `{policy.sensitive}` holds infinite values", hint="leave those rows out"
        )
    return codes


def nothing(rows: int) -> Codes:
    """The codes of a sensitive column that is not there: every value is missing."""
    return Codes(np.zeros(rows, np.int32), pa.array([], pa.int32()), missing=True)


def promised(policy: Policy, sensitive: Codes) -> Guarantee:
    """The guarantee of a policy, about the sensitive column of the rows that are published."""
    needs = needed(policy.guarantee)
    scale = Scale.of(sensitive.domain, policy.sensitive_column) if "scale" in needs else None
    spared = harmless(policy.harmless, sensitive, policy.sensitive or "")
    return Guarantee.of(policy.guarantee, scale, sensitive.counts() if "population" in needs else None, spared)
