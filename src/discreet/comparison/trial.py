"""Try several methods on one table: publish by each into a folder that is deleted, and ask it the same questions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.audit.metrics import metrics
from discreet.audit.utility.answered import answers, summed_up, valid
from discreet.audit.utility.workload import Query
from discreet.comparison.attacked import worst_attacker
from discreet.comparison.comparison import Comparison, Outcome
from discreet.comparison.methods import Method, method, plainest, sensible
from discreet.comparison.sweep import Sweep
from discreet.comparison.workload import workload
from discreet.errors import (
    DiscreetError,
    DiscreetWarning,
    EngineError,
    GuaranteeError,
    InputError,
    PolicyError,
    UnacceptedError,
)
from discreet.guarantees import PROMISES
from discreet.guarantees.harmless import harmless
from discreet.guarantees.l import L
from discreet.learn.plausible import TABLES
from discreet.policy import Given, Policy
from discreet.policy.options import ignored_mistakes
from discreet.publication import PUBLICATIONS
from discreet.publication.axes import present
from discreet.publication.identified import check_identified
from discreet.publication.publish import publish
from discreet.publication.source import opened_with
from discreet.release import Release
from discreet.release.groups import PUBLICATIONS as SHOW_ROWS
from discreet.scratch import workplace
from discreet.table import Table
from discreet.warnings import minimality
from discreet.words import nearest

FEW = 500  # rows that a method is tried on first


def compare(
    table: Any,
    policy: Given,
    *,
    methods: Iterable[str] | None = None,
    queries: int = 200,
    seed: int | None = None,
    public: Any = None,
    learned: bool = False,
    attack: bool | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Comparison:
    """Publish `table` by several `methods`, at the guarantee of `policy`, and ask each the same random questions.

    A method is written `publication/partition`, like `anatomy/local`; unless they are named, all sensible ones are
    compared. The publication and the partition of the policy do not matter; columns, hierarchies and
    options do. Where several estimators are valid, each has an outcome; `learned` only if it is asked for, because a
    model has to be fitted. Each release is attacked by those who need nothing beside it and take about as long as the
    rest, and the worst of them is told; with `attack` by all who need nothing beside it, which takes many times as
    long, and if that is False by nobody. `public` is the public table of a join. With a `seed` the questions and the
    groups are the same again.
    What comes out are statistics of the private table, and not to be published; the releases are deleted.
    `progress` is told the name of each method as its turn comes.
    """
    policy = Policy.of(policy)
    with _tables(table, public, policy) as (private, others):
        chosen = None if methods is None else [method(text) for text in methods]
        if chosen is None:
            chosen = sensible(policy, private.columns, public=others is not None)
        asked = _asked(private, policy, chosen, queries, seed, progress)
        return _compared(
            private, others, policy, chosen, asked, seed, learned=learned, attack=attack, progress=progress
        )


def sweep(
    table: Any,
    policy: Given,
    name: str,
    thresholds: Sequence[float],
    *,
    methods: Iterable[str] | None = None,
    queries: int = 200,
    seed: int | None = None,
    public: Any = None,
    learned: bool = False,
    attack: bool | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Sweep:
    """Compare methods at several `thresholds` of the guarantee called `name`, with the same questions at each.

    Unless they are named, the only method is that of the policy. Everything else is as for `compare`.
    """
    if name not in PROMISES:
        raise InputError(f"`{name}` is not a guarantee", hint=nearest(name, PROMISES))
    policy = Policy.of(policy)
    own = Method(policy.publication, policy.partition if PUBLICATIONS[policy.publication].grouped else "auto")
    chosen = [own] if methods is None else [method(text) for text in methods]
    steps = [replace(policy, guarantee={**policy.guarantee, name: threshold}) for threshold in sorted(set(thresholds))]
    if not steps:
        raise InputError(f"there is no threshold of `{name}` to try", hint="name some, like `l=2,3,5,10`")
    with _tables(table, public, policy) as (private, others):
        asked = _asked(private, steps[0], chosen, queries, seed, progress)
        found = [
            _compared(private, others, each, chosen, asked, seed, learned=learned, attack=attack, progress=progress)
            for each in steps
        ]
    return Sweep(name, tuple(found))


@contextmanager
def _tables(table: Any, public: Any, policy: Policy) -> Iterator[tuple[Table, Table | None]]:
    """The private table and the public one, opened here unless they were already."""
    with ExitStack() as opened:
        private = opened_with(table, policy.csv, policy.excel, opened)
        yield private, None if public is None else opened_with(public, policy.csv, policy.excel, opened)


def _asked(
    table: Table,
    policy: Policy,
    chosen: Sequence[Method],
    queries: int,
    seed: int | None,
    progress: Callable[[str], None],
) -> list[Query]:
    """The questions, once it is clear that the policy fits and that there is something to compare."""
    if queries < 1:
        raise InputError(f"{queries} questions are too few", hint="ask at least 1")
    unused = list(ignored_mistakes(policy.options))
    if unused:
        raise PolicyError(unused)
    plain = Method(plainest(policy)).under(policy)
    plain.fit(table.columns)
    check_identified(table, plain)
    table.hold(plain.needed)
    if not chosen:
        raise InputError("there is no method to compare", hint="name some, like `anatomy/local`")
    progress("asking the table")
    return workload(table, plain, queries, np.random.default_rng(seed))


def _compared(
    table: Table,
    public: Table | None,
    policy: Policy,
    chosen: Sequence[Method],
    asked: Sequence[Query],
    seed: int | None,
    *,
    learned: bool,
    attack: bool | None,
    progress: Callable[[str], None],
) -> Comparison:
    outcomes: list[Outcome] = []
    for each in chosen:
        progress(each.name)
        outcomes += _tried(each, table, public, policy, asked, seed, learned=learned, attack=attack)
    name, guarantee = policy.name or table.name, dict(policy.guarantee)
    return Comparison(name, table.rows, guarantee, len(asked), tuple(outcomes), _limit(table, policy))


def _limit(table: Table, policy: Policy) -> int | None:
    """The largest l that the sensitive column allows, if the policy's is close to it."""
    if policy.sensitive is None or "l" not in policy.guarantee:
        return None
    sensitive = table.codes(policy.sensitive, present=present(policy))
    spared = harmless(policy.harmless, sensitive, policy.sensitive)
    counts = sensitive.counts() if spared is None else np.where(spared, 0, sensitive.counts())
    return L(int(policy.guarantee["l"])).limit(counts) if counts.any() else None


def _tried(
    tried: Method,
    table: Table,
    public: Table | None,
    policy: Policy,
    asked: Sequence[Query],
    seed: int | None,
    *,
    learned: bool,
    attack: bool | None,
) -> list[Outcome]:
    """What a method comes to by each estimator, or why it does not fit."""
    try:
        rules = tried.under(policy)
        rules = replace(rules, accept={**rules.accept, minimality.LOOKS: "compared, and not published"})
        others = public if PUBLICATIONS[tried.publication].needs_public else None
        with workplace() as folder:
            _warm(table, others, rules, folder / "few")
            start = perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DiscreetWarning)  # they are about the table, not about a method
                drawn = TABLES if learned and rules.publication in SHOW_ROWS else None
                release = publish(table, rules, to=folder / "release", public=others, seed=seed, plausible=drawn)
            seconds = perf_counter() - start
            with closing(release):
                certain = [each.message for each in release.warnings if each.name == minimality.KIND]
                if certain:  # only a seed let it pass
                    return [Outcome(method=tried.name, refused=certain[0])]
                told = _told(tried.name, release, seconds)
                if attack is not False:
                    told = replace(told, attacked=worst_attacker(release, table, quick=attack is None))
                return [
                    _measured(replace(told, estimator=each), release, asked) for each in valid(release, learned=learned)
                ]
    except PolicyError as error:
        return [Outcome(method=tried.name, refused="; ".join(mistake.message for mistake in error.mistakes))]
    except (InputError, GuaranteeError, UnacceptedError, EngineError) as error:
        return [Outcome(method=tried.name, refused=error.message)]


def _warm(table: Table, public: Table | None, policy: Policy, to: Path) -> None:
    """Publish a few rows: what is compiled when first used is no cost of the method."""
    few = [None if each is None else _first_rows(each) for each in (table, public)]
    with suppress(DiscreetError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        publish(few[0], policy, to=to, public=few[1])


def _first_rows(table: Table) -> pa.Table:
    return table.engine.run(table.select(table.names()).limit(FEW))


def _told(name: str, release: Release, seconds: float) -> Outcome:
    """What a release loses, whatever it is asked."""
    found = metrics(release)
    return Outcome(
        method=name,
        loss=found.ncp_share,
        dm=found.dm,
        share=found.largest_share,
        groups=found.groups,
        suppressed=release.suppressed,
        publish_seconds=seconds,
    )


def _measured(told: Outcome, release: Release, asked: Sequence[Query]) -> Outcome:
    """The errors of the answers of a release by one estimator."""
    found, seconds, why = answers(release, asked, told.estimator)
    told = replace(told, unanswered=why)
    return replace(told, query_seconds=float(np.median(seconds)), **summed_up(found)) if found else told
