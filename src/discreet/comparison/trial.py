"""Try several methods on one table: publish by each into a folder that is deleted, and ask it the same questions."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.audit.metrics import metrics
from discreet.comparison.comparison import Comparison, Outcome
from discreet.comparison.methods import Method, method, plainest, sensible
from discreet.comparison.workload import Query, workload
from discreet.errors import (
    DiscreetError,
    DiscreetWarning,
    EngineError,
    GuaranteeError,
    InputError,
    PolicyError,
    QueryError,
    UnacceptedError,
)
from discreet.policy import Policy
from discreet.policy.options import ignored_mistakes
from discreet.publication import PUBLICATIONS
from discreet.publication.identified import check_identified
from discreet.publication.publish import publish
from discreet.release import Release
from discreet.table import Table, read

FEW = 500  # rows that a method is tried on first
NEAR = 1e-9


def compare(
    table: Any,
    policy: Policy,
    *,
    methods: Iterable[str] | None = None,
    queries: int = 200,
    seed: int | None = None,
    public: Any = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Comparison:
    """Publish `table` by several `methods`, at the guarantee of `policy`, and ask each the same random questions.

    A method is written `publication/partition`, like `anatomy/local`; unless they are named, all sensible ones are
    compared. The publication and the partition of the policy do not matter; columns, hierarchies and
    options do. `public` is the public table of a join. With a `seed` the questions and the groups are the same again.
    What comes out are statistics of the private table, and not to be published; the releases are deleted.
    `progress` is told the name of each method as its turn comes.
    """
    if not isinstance(table, Table):
        with read(table) as private:
            return compare(
                private, policy, methods=methods, queries=queries, seed=seed, public=public, progress=progress
            )
    if public is not None and not isinstance(public, Table):
        with read(public) as others:
            return compare(table, policy, methods=methods, queries=queries, seed=seed, public=others, progress=progress)
    if queries < 1:
        raise InputError(f"{queries} questions are too few", hint="ask at least 1")
    chosen = [method(text) for text in methods] if methods is not None else None
    unused = list(ignored_mistakes(policy.options))
    if unused:
        raise PolicyError(unused)
    plain = Method(plainest(policy)).under(policy)
    plain.fit(table.columns)
    check_identified(table, plain)
    if chosen is None:
        chosen = sensible(policy, table.columns, public=public is not None)
    if not chosen:
        raise InputError("there is no method to compare", hint="name some, like `anatomy/local`")
    progress("asking the table")
    asked = workload(table, plain, queries, np.random.default_rng(seed))
    outcomes = []
    for each in chosen:
        progress(each.name)
        outcomes.append(_tried(each, table, public, policy, asked, seed))
    return Comparison(policy.name or table.name, table.rows, dict(policy.guarantee), len(asked), tuple(outcomes))


def _tried(
    tried: Method, table: Table, public: Table | None, policy: Policy, asked: Sequence[Query], seed: int | None
) -> Outcome:
    """What a method comes to, or why it does not fit."""
    try:
        rules = tried.under(policy)
        others = public if PUBLICATIONS[tried.publication].needs_public else None
        with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
            _warm(table, others, rules, Path(folder) / "few")
            start = perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DiscreetWarning)  # they are about the table, not about a method
                release = publish(table, rules, to=Path(folder) / "release", public=others, seed=seed)
            seconds = perf_counter() - start
            with closing(release):
                return _measured(tried.name, release, asked, seconds)
    except PolicyError as error:
        return Outcome(method=tried.name, refused="; ".join(mistake.message for mistake in error.mistakes))
    except (InputError, GuaranteeError, UnacceptedError, EngineError) as error:
        return Outcome(method=tried.name, refused=error.message)


def _warm(table: Table, public: Table | None, policy: Policy, to: Path) -> None:
    """Publish a few rows: what is compiled when first used is no cost of the method."""
    few = [None if each is None else _first_rows(each) for each in (table, public)]
    with suppress(DiscreetError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        publish(few[0], policy, to=to, public=few[1])


def _first_rows(table: Table) -> pa.Table:
    return table.engine.run(table.select(table.names()).limit(FEW))


def _measured(name: str, release: Release, asked: Sequence[Query], seconds: float) -> Outcome:
    """The errors of the answers of a release, and what it loses."""
    found = metrics(release)
    told = Outcome(
        method=name,
        loss=found.ncp_share,
        dm=found.dm,
        groups=found.groups,
        suppressed=release.suppressed,
        publish_seconds=seconds,
    )
    errors: dict[str, list[float]] = {}
    widths, times, outside, why = [], [], 0, None
    for query in asked:
        start = perf_counter()
        try:
            estimate, _, low, high = release.ask(query.sql).rows()[0].values()
        except QueryError as error:
            why = error.message
            continue
        times.append(perf_counter() - start)
        if estimate is None or low is None or high is None:
            why = "nobody may match" if why is None else why
            continue
        low, high, size = float(low), float(high), abs(query.truth)
        errors.setdefault(query.aggregate, []).append(abs(float(estimate) - query.truth) / size)
        widths.append((high - low) / size)
        slack = NEAR * max(size, abs(low), abs(high))
        outside += not low - slack <= query.truth <= high + slack
    told = replace(told, unanswered=why, outside=outside)
    every = [error for one in errors.values() for error in one]
    if not every:
        return told
    return replace(
        told,
        answered=len(every),
        error=float(np.median(every)),
        mean_error=float(np.mean(every)),
        errors={aggregate: float(np.median(one)) for aggregate, one in sorted(errors.items())},
        width=float(np.mean(widths)),
        query_seconds=float(np.median(times)),
    )
