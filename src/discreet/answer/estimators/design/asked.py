"""One question answered by design: the means of every value by key, and what aggregates make of them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from sqlglot import exp

from discreet.answer.accelerate.accelerator import Held
from discreet.answer.estimators.columns import Column, Places
from discreet.answer.estimators.design import moments
from discreet.answer.estimators.design.inverted import quantile_places
from discreet.answer.estimators.design.linear import Numbers, Way
from discreet.answer.estimators.design.moments import numbered
from discreet.answer.estimators.design.opened import Opened, Wanted
from discreet.answer.estimators.estimator import Estimated
from discreet.answer.latest import Latest
from discreet.answer.prepared import Asking
from discreet.answer.question.grammar import Side
from discreet.answer.question.question import SPREADS, Aggregate
from discreet.learn.design import Floats
from discreet.release.groups import Ints
from discreet.release.manifest import Promise
from discreet.values.coded import ranked, whole

MOST = 2**25  # numbers about keys and values that are held at once
FEW = 2**20  # that are kept for the next question
QUANTILES = {"quantile_disc", "quantile_cont"}
EXTREMES = {"min", "max"}

Means: TypeAlias = Latest[Hashable, tuple[pa.Table, Floats]]


class NotEstimated(Exception):  # noqa: N818 - no error
    """Why an aggregate is left to `even`."""


class Asked:
    """A question, as it is answered."""

    def __init__(
        self,
        name: str,
        way: Way,
        asking: Asking,
        promise: Promise,
        opened: Opened,
        wanted: Wanted,
        arguments: list[exp.Expr],
        means: Means,
    ) -> None:
        self._name, self._way = name, way
        self._asking, self._promise, self._opened, self._wanted = asking, promise, opened, wanted
        self._question, self._arguments = asking.question, arguments
        self._means = means

    def estimated(self, numbers: list[int]) -> Estimated:
        """The answer, with an estimate by design for those of these aggregates that have one."""
        relations = self._asking.relations()
        notes = [self._opened.told] if self._opened.told is not None else []
        others = {}
        for number in numbers:
            aggregate, name = self._question.aggregates[number], f"answer_{number}"
            try:
                found = self._column(aggregate, relations[name])
                if found.nothing:
                    raise NotEstimated("groups do not tell these values apart, or too few rows match")  # noqa: TRY301
            except NotEstimated as error:
                others[number] = "even"
                notes.append(f"{aggregate.name}: {error}; the estimate is that of `even`")
                continue
            put = found.put(relations[name], aggregate.name)
            relations[name], others[number] = put.answer, put.made_by(self._name)
            notes += put.notes
            if aggregate.function in QUANTILES and self._name != "design":
                others[number] = put.made_by("design")
                notes.append(f"{aggregate.name}: `{self._name}` has no quantiles; the estimate is that of `design`")
        return Estimated(self._asking.laid_out(relations), tuple(notes), others)

    def _column(self, aggregate: Aggregate, answer: pa.Table) -> Column | Places:
        function, argument = aggregate.function, aggregate.argument
        if function in EXTREMES:
            raise NotEstimated(f"`{self._name}` tells nothing of single rows")
        if function == "distinct" or function in SPREADS:
            what = "different values are counted" if function == "distinct" else "values spread"
            raise NotEstimated(f"`{self._name}` does not say how {what}")
        if argument is None or aggregate.side == "sensitive":
            return self._of_values(aggregate, answer)
        if function in QUANTILES:
            return self._quantiles_of_rows(aggregate, argument, answer)
        (names, means), design = self._solved(argument), self._opened.design
        rows, keys = self._places(answer, "quasi", names), self._keys(answer)
        targets = self._wanted.counted(None)
        if function == "avg":
            return self._way.averages(design, targets, means, rows, keys)
        return self._way.totals(design, targets, means[:1] if function == "count" else means[1:], rows, keys)

    def _of_values(self, aggregate: Aggregate, answer: pa.Table) -> Column | Places:
        """Aggregates of rows, or of what the sensitive column holds."""
        (names, means), design = self._solved(None), self._opened.design
        rows, keys = self._places(answer, "quasi", names), self._keys(answer)
        at = None if aggregate.argument is None else self._arguments.index(aggregate.argument)
        if aggregate.function == "count" or at is None:
            return self._way.totals(design, self._wanted.counted(at), means, rows, keys)
        if aggregate.function == "sum":
            return self._way.totals(design, self._wanted.summed(at), means, rows, keys)
        if aggregate.function == "avg":
            return self._way.ratios(design, self._wanted.averaged(at), means, rows, keys)
        if not design.nearly_full:
            raise NotEstimated("some values cannot be told apart")
        held = self._wanted.matching * self._wanted.sought.present(at)
        ranks, values = ranked(whole(self._wanted.sought.arguments[at]))
        if not design.columns or rows.size * ranks.size > MOST:
            raise NotEstimated("too many keys and values")
        mass = self._opened.by_value(means[0][rows]) * held[keys]
        return _quantiles(aggregate, _added(mass, ranks, len(values)), values)

    def _quantiles_of_rows(self, aggregate: Aggregate, argument: exp.Expr, answer: pa.Table) -> Column | Places:
        """Every row counts as much as the weight of its group, which the values that match give it."""
        targets, design = self._wanted.counted(None), self._opened.design
        if not targets.told.all():
            raise NotEstimated("some values cannot be told apart")
        self._asking.ready()
        found = self._asking.engine.run(moments.query_of_values(self._question, self._promise, argument))
        ranks, values = ranked(whole(found.column("value")))
        seen = moments.from_plan(found, self._opened.first, design.size.size)
        rows, keys = self._places(answer, "quasi", seen.names), self._keys(answer)
        if max(seen.count, rows.size) * len(values) > MOST or len(targets.wanted) * design.size.size > MOST:
            raise NotEstimated("too many keys and values")
        group = np.repeat(np.arange(design.size.size), np.diff(seen.offsets))
        weights = design.weights(targets.wanted)
        mass = np.empty((rows.size, len(values)))
        for key in np.unique(keys):
            amounts = seen.amounts[:, 0] * weights[key][group]
            at = seen.keys.astype(np.int64) * len(values) + ranks
            every = np.bincount(at, amounts, seen.count * len(values)).reshape(seen.count, -1)
            mass[keys == key] = every[rows[keys == key]]
        return _quantiles(aggregate, mass, values)

    def _solved(self, argument: exp.Expr | None) -> tuple[pa.Table, Floats]:
        """From what groups hold, by key, the means of every value; of the number of rows, or of an argument.

        They do not depend on what is asked of sensitive values.
        """
        question, design = self._question, self._opened.design
        keys = tuple((i, key.expression) for i, key in enumerate(question.keys) if key.side == "quasi")
        functions = frozenset(each.function for each in question.aggregates if each.argument == argument)
        about = (question.where.get("quasi"), keys, argument, functions)
        known = self._means.get(about)
        if known is None:
            found = self._moments(argument)
            if found.amounts.shape[1] * found.count * design.columns > MOST:
                raise NotEstimated("too many keys and values")
            known = found.names, design.means(design.gather(found.offsets, found.keys, found.amounts, found.count))
            if known[1].size <= FEW:
                self._means[about] = known
        return known

    def _moments(self, argument: exp.Expr | None) -> Held:
        question, design = self._question, self._opened.design
        found = self._asking.held(argument)
        if found is not None:
            return found
        if argument is None and question.where.get("quasi") is None and not self._names("quasi"):
            return moments.of_all(design.size)
        self._asking.ready()
        query = moments.query(question, self._promise, argument)
        return moments.from_plan(self._asking.engine.run(query), self._opened.first, design.size.size)

    def _names(self, side: Side) -> list[str]:
        return [f"key_{number}" for number, key in enumerate(self._question.keys) if key.side == side]

    def _keys(self, answer: pa.Table) -> Numbers:
        return self._places(answer, "sensitive", self._wanted.sought.names)

    def _places(self, answer: pa.Table, side: Side, names: pa.Table) -> Numbers:
        """Where the keys of each row of an answer are among these."""
        own = self._names(side)
        if not own:
            return np.zeros(len(answer), np.int64)
        every = numbered(pa.concat_tables([names.select(own), answer.select(own)])).numbers
        place = np.zeros(int(every.max(initial=0)) + 1, np.int64)
        place[every[: len(names)]] = np.arange(len(names))
        return place[every[len(names) :]]


def _added(mass: Floats, ranks: Ints, values: int) -> Floats:
    """What is known of codes, by the rank of their argument."""
    order = np.argsort(ranks, kind="stable")
    found: Floats = np.add.reduceat(mass[:, order], np.searchsorted(ranks[order], np.arange(values)), axis=1)
    return found


def _quantiles(aggregate: Aggregate, mass: Floats, values: pa.Array) -> Column | Places:
    found = Places(quantile_places(mass, aggregate.fraction), values)
    return found.as_numbers() if aggregate.function == "quantile_cont" else found
