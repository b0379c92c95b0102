"""Where questions are answered: a release in an engine that can touch nothing else."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from threading import RLock
from typing import Any, Self, TypeAlias

import pyarrow as pa
from sqlglot import exp

from discreet.answer.accelerate.accelerator import Choice
from discreet.answer.answer import DRAWN, SWAPPED, Answer
from discreet.answer.by_value import ByValue, asks_by_value
from discreet.answer.estimators import Estimated, Estimator, check_known, chosen
from discreet.answer.estimators.columns import is_number
from discreet.answer.estimators.estimator import OfAnything
from discreet.answer.estimators.learned.select import AnySelect
from discreet.answer.given import read_given, told_unused
from discreet.answer.instead import Shown, instead
from discreet.answer.left_out import LeftOut, about
from discreet.answer.limits import check_timeout, memory_of, within
from discreet.answer.matches import Counted, Margins, Matches, Swapped
from discreet.answer.matches.boxed import Boxed
from discreet.answer.matches.boxes import Given, PublishedBoxes, TightBoxes
from discreet.answer.occurring import Occurring
from discreet.answer.people import CountOfPeople
from discreet.answer.plan.base_tables import Layout, Table, base, describe, ends, needed
from discreet.answer.plan.plan import plan
from discreet.answer.plan.shapes import MARK, abstracted, shape
from discreet.answer.prepared import Asking, Hurry, Prepared
from discreet.answer.question.own import Own
from discreet.answer.question.parse import names_of, read_question
from discreet.answer.question.question import ENDS, Question
from discreet.answer.statement.ask import Asking as Statements
from discreet.answer.statement.ask import core_questions, outline
from discreet.answer.statement.exact import NOTE, columns_shown, run_exact
from discreet.answer.statement.read import read_statement
from discreet.answer.statement.statement import Statement
from discreet.answer.told import Told, made_by, possibly_nobody
from discreet.engines import connect
from discreet.errors import EngineError, InternalError, QueryError, ReleaseError
from discreet.release.layouts import layout_of
from discreet.release.layouts.file import named
from discreet.release.relations import load_file
from discreet.release.release import Release, open_release
from discreet.values.columns import ARROW, is_ordered

REMEMBERED = 256
BESIDE = 16  # tables of the user's own
ACROSS_BOXES = (
    (),
    ("the estimate takes values to lie evenly between the ends of a box, and stderr holds only if they do",),
    ("the estimate takes all values of a label as equally likely; nothing in the release says that they are",),
)  # what an estimate stands on where a condition cuts through boxes; see `Matches.cut`

_Way: TypeAlias = Callable[..., type[Estimator]]  # which estimator, given whether rows are counted
_Owns: TypeAlias = Mapping[str, Own]
UNSTATED = "the release does not state by what chance rows came to their groups: `even` is its only estimator"


def ask(
    release: Release | str | Path,
    question: str,
    *,
    generalized: bool | Given = False,
    timeout: float | None = None,
    estimator: str | None = None,
    tables: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Answer:
    """Answer an SQL aggregate from a release, or from the folder that holds one; see `Release.ask`."""
    opened = release if isinstance(release, Release) else open_release(release)
    return opened.ask(
        question, generalized=generalized, timeout=timeout, estimator=estimator, tables=tables, progress=progress
    )


class Session:
    """Answers questions about one release, from any thread; the engine is sealed before the first is read.

    Unless it is told whether to `accelerate`, a compiled pass answers in place of the plan wherever that pays.
    """

    def __init__(self, release: Release, *, accelerate: bool | None = None) -> None:
        self.release = release
        self._lock = RLock()
        self._asked: dict[Hashable, Prepared] = {}
        self._shapes: dict[Hashable, Prepared] = {}
        self._made: set[str] = set()
        self._beside: list[str] = []
        self._estimators: dict[type[Estimator], Estimator] = {}
        self._closed = False
        promise, resources = release.promise, release.manifest.resources
        self._left_out = LeftOut.of(promise)
        self._engine = connect(groups=promise.groups, memory_limit=memory_of(release))
        try:
            for resource in resources:
                load_file(self._engine, release.path, resource, keep=resource.format == "csv")
            self._seen = self._look()
            self._engine.seal(release.file(resource.name) for resource in resources)
            relations = layout_of(promise).relations(promise)
            if any(resource.name == "labels" for resource in resources):
                relations["labels"] = exp.select("*").from_(named("labels file"))
            self._base = base(relations)
            self._statistics = describe(self._engine, self._base, promise)
            self._accelerator: Choice | None = None
            if accelerate is not False:
                self._accelerator = Choice(self._engine, release, must=accelerate is True)
        except BaseException:
            self._engine.close()
            raise

    def ask(
        self,
        sql: str,
        *,
        generalized: bool | Given = False,
        timeout: float | None = None,
        estimator: str | None = None,
        tables: Mapping[str, Any] | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Answer:
        """Answer one question, in `timeout` seconds if given; if `generalized`, from the boxes of the groups alone."""
        check_timeout(timeout)
        check_known(estimator)
        given = read_given(tables, names_of(self.release.promise))
        own = {name.lower(): Own(name, table) for name, table in given.items()}
        advised = self._advised(sql, generalized=generalized, own=own)
        with self._lock, within(self._engine, timeout, progress) as hurry, advised:
            self._check_open()
            matches = self.matches(generalized=generalized)
            way = partial(chosen, estimator, self.release.promise)
            try:
                read = self._read(sql, matches, own)
            except QueryError as error:
                return self._beyond(sql, matches, way, own, given, hurry, error)
            told = self._told(read, matches, way, hurry)
            return told.answer(sql, *told_unused(given, {each.name.lower() for each in told.question.beside}))

    def _read(self, sql: str, matches: Matches, own: _Owns | None = None) -> CountOfPeople | Prepared:
        people = CountOfPeople.read(sql, self.release.promise)
        return self._prepare(sql, matches, own) if people is None else people

    def _statement(self, sql: str, matches: Matches, own: _Owns | None = None) -> Statement | None:
        """A statement whose core questions can all be answered."""
        with _not_too_deep():
            statement = read_statement(sql, self.release.promise, matches.blocks)
            for each in core_questions(statement):
                self._read(each, matches, own)
        return statement

    def _told(self, read: CountOfPeople | Prepared, matches: Matches, way: _Way, hurry: Hurry) -> Told:
        """Answer a core question."""
        if isinstance(read, CountOfPeople):
            return self._people(read, matches, way)
        estimator = way(counted=isinstance(matches, Counted))
        with _computed():
            self._put_beside(read.question.beside)
            if asks_by_value(read.question, matches):
                estimated = Estimated(self._by_value(read.question, matches))
            else:
                estimated = self._estimator(estimator).answer(self._asking(read, matches, hurry))
        question, result = read.question, estimated.table
        possibly = self._left_out.notes(question) if self._left_out.most != 0 else possibly_nobody(question, result)
        cut = result.column(result.num_columns - 1)[0].as_py() if matches.cut is not None and len(result) else 0
        basis = estimator.basis if matches.columns else SWAPPED
        estimators = made_by(question, matches, basis.estimator, estimated)
        older = isinstance(matches, Counted) and self.release.promise.estimator is None
        unstated = (UNSTATED,) * (older and {*estimators.values()} != {"exact"})
        told = (*about(self.release.promise, self._left_out, question), *unstated, *estimated.notes)
        nowhere = tuple(self._occurring.notes(question))
        return Told(question, result, read.sql, (*nowhere, *told, *possibly, *ACROSS_BOXES[cut]), basis, estimators)

    @contextmanager
    def _advised(self, sql: str, *, generalized: bool | Given, own: Mapping[str, Own] | None = None) -> Iterator[None]:
        """Let a refusal say what to write instead, if there is a question that would be answered."""
        try:
            yield
        except QueryError as error:
            matches = self.matches(generalized=generalized)
            if self._answers(sql, matches, own):
                raise  # it is not the question that was refused
            found = instead(sql, self._shown(matches), partial(self._answers, matches=matches, own=own))
            raise QueryError(error.message, hint=error.hint, instead=found) from None

    def _answers(self, sql: str, matches: Matches, own: Mapping[str, Own] | None = None) -> bool:
        """Whether a question would be answered, with bounds."""
        try:
            return self._read(sql, matches, own) is not None
        except QueryError:
            pass
        try:
            return self._statement(sql, matches, own) is not None
        except QueryError:
            return False

    def _shown(self, matches: Matches) -> Shown:
        promise, types = self.release.promise, self._statistics.types
        alone = () if promise.sensitive is None else ((promise.sensitive,),)
        blocks = matches.blocks or (tuple(promise.quasi), *alone)
        numbers = frozenset(name for name, kind in types.items() if is_number(kind))
        return Shown(promise.table, promise.sensitive, blocks, numbers, partial(self._figure, matches))

    def _figure(self, matches: Matches, sql: str) -> float | None:
        """What a question of one figure tells, if it is exact."""
        try:
            found = self.ask(sql, generalized=matches is not self._own).table
        except QueryError:
            return None
        single = found.num_rows == 1 and found.num_columns == len(ENDS)
        low, high = (found.column(at)[0].as_py() for at in (2, 3)) if single else (None, None)
        return float(low) if low is not None and low == high else None

    def _beyond(
        self,
        sql: str,
        matches: Matches,
        way: _Way,
        own: _Owns,
        given: Mapping[str, pa.Table],
        hurry: Hurry,
        error: QueryError,
    ) -> Answer:
        """Answer what is no core question: computed from several of them, exact, or by an estimator of anything."""
        statement = None
        try:
            statement = self._statement(sql, matches, own)
        except QueryError as refused:
            error = refused
        if statement is not None:
            used: set[str] = set()

            def ask(text: str) -> Told:
                told = self._told(self._read(text, matches, own), matches, way, hurry)
                used.update(each.name.lower() for each in told.question.beside)
                return told

            asking = Statements(self._engine, self._left_out, ask)
            basis = way(counted=isinstance(matches, Counted)).basis if matches.columns else SWAPPED
            with _computed():
                answer = asking.answer(sql, statement, basis)
            return replace(answer, notes=(*answer.notes, *told_unused(given, used)))
        shown = columns_shown(sql, self.release.promise, matches, given)
        if shown is not None:
            return self._exact(sql, *shown, given, error)
        estimator = self._estimator(way(counted=isinstance(matches, Counted)))
        if not isinstance(estimator, OfAnything):
            raise error
        with _computed():
            answer = estimator.beyond(sql, given, hurry)
        return replace(answer, notes=(*about(self.release.promise, self._left_out, None), *answer.notes))

    def _exact(
        self, sql: str, asked: AnySelect, shown: list[str], given: Mapping[str, pa.Table], error: QueryError
    ) -> Answer:
        """Run any SELECT over the quasi-identifiers that are shown as they are; one that fails is refused as it was."""
        try:
            self._make({"qit": self._base["qit"]})
            result = run_exact(self._engine, asked, shown, given)
        except EngineError:
            raise error from None
        told = (*about(self.release.promise, self._left_out, None), NOTE, *told_unused(given, asked.sources))
        return Answer(sql, result, asked.sql, told)

    def _asking(self, prepared: Prepared, matches: Matches, hurry: Hurry = lambda _: None) -> Asking:
        accelerator = self._accelerator if isinstance(matches, Counted) else None
        return Asking(prepared, self._engine, self._left_out, accelerator, partial(self._ready, prepared), hurry)

    def _estimator(self, way: type[Estimator]) -> Estimator:
        """An estimator of this release, opened when it is first asked for."""
        if way not in self._estimators:
            self._estimators[way] = way.of(self._engine, self.release)
        return self._estimators[way]

    def _people(self, asked: CountOfPeople, matches: Matches, way: _Way) -> Told:
        """Count people and not rows."""
        way(counted=False)
        if matches is not self._own:
            raise QueryError("boxes tell no people apart", hint="ask for COUNT(*), or of the release as it is")
        with _computed():
            self._make({name: self._base[name] for name in ("qit", "st")})
            result, query = asked.answer(self._engine)
        nowhere = self._occurring.notes(asked.question)
        notes = (*nowhere, *about(self.release.promise, self._left_out, asked.question))
        return Told(asked.question, result, query, notes, DRAWN, {asked.question.aggregates[0].name: "even"})

    def explain(self, sql: str, *, generalized: bool | Given = False, estimator: str | None = None) -> str:
        """The statements that make a question's tables from the files, its guards, and the query that answers it."""
        check_known(estimator)
        with self._lock, self._advised(sql, generalized=generalized):
            self._check_open()
            matches = self.matches(generalized=generalized)
            way = chosen(estimator, self.release.promise, counted=isinstance(matches, Counted))
            try:
                return self._explained([sql], matches, way)
            except QueryError:
                return self._explained_beyond(sql, matches, way)

    def _explained_beyond(self, sql: str, matches: Matches, way: type[Estimator]) -> str:
        """What is run for what is no core question."""
        try:
            statement = self._statement(sql, matches)
        except QueryError:
            statement = None
        if statement is not None:
            return "\n".join([self._explained([*core_questions(statement)], matches, way), outline(statement)])
        shown = columns_shown(sql, self.release.promise, matches, ())
        if shown is not None:
            return f"-- run on the quasi-identifiers as the release shows them\n{shown[0].sql};"
        found = self._estimator(way)
        if isinstance(found, OfAnything):
            return found.spelled(sql)
        self._read(sql, matches)
        raise QueryError("the question cannot be explained", hint="ask it")

    def _explained(self, questions: Sequence[str], matches: Matches, way: type[Estimator]) -> str:
        """The tables of core questions, then what each of them runs."""
        every = [self._read(each, matches) for each in questions]
        prepared = [each for each in every if isinstance(each, Prepared)]
        if len(prepared) < len(every):
            raise QueryError("how people are counted is not one query", hint="see `sql` of the answer for what is read")
        if any(asks_by_value(each.question, matches) for each in prepared):
            raise QueryError(
                "boxes are asked once for each value of a key, which is not one query",
                hint="explain it with a condition for one value, in the place of GROUP BY",
            )
        tables = {name: table for each in prepared for name, table in each.plan.tables.items()}
        statements = [
            exp.Create(this=named(name), kind="TABLE" if table.keep else "VIEW", expression=table.query.copy())
            for name, table in {**self._files(), **tables}.items()
        ]
        made = [f"{each.sql(dialect=self._engine.dialect, pretty=True)};" for each in statements]
        faster = isinstance(matches, Counted) and self._accelerator is not None and self._accelerator.pays
        note = ["-- asked of this release, a compiled pass computes the same in place of this query"] * faster
        for each in prepared:
            guards = (
                f"-- not answered if this is above {guard.most:,}\n{query};"
                for guard, query in zip(each.plan.guards, each.guards, strict=True)
            )
            more = self._estimator(way).explain(self._asking(each, matches))
            made += [*guards, *note, f"{each.sql};", *more]
        return "\n".join(made)

    def run(self, query: exp.Expr, matches: Matches | None = None) -> pa.Table:
        """Run a query over the tables that questions are answered from, whichever it needs."""
        with self._lock:
            self._make(needed([query], self._layout(matches or self._own).tables(self._statistics)))
            return self._engine.run(query)

    def matches(self, *, generalized: bool | Given = False) -> Matches:
        """How rows match: as the release shows them, or by their boxes alone."""
        if isinstance(self._own, Boxed):
            if not isinstance(generalized, bool) and len(generalized) > 0:
                raise QueryError("a generalized release has boxes of its own", hint="ask it as it is")
            return self._own
        if isinstance(generalized, bool):
            return self._tight if generalized else self._own
        return Boxed(self._tight_boxes.widened(generalized))

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _look(self) -> list[tuple[int, int, int]]:
        """What tells whether a data file was written to or replaced: questions are answered from the files."""
        resources = self.release.manifest.resources
        found = (self.release.file(resource.name).stat() for resource in resources)
        return [(each.st_ino, each.st_size, each.st_mtime_ns) for each in found]

    def _check_open(self) -> None:
        if self._closed:
            raise QueryError("the session is closed", hint="open the release again")
        try:
            same = self._look() == self._seen
        except OSError:
            same = False
        if not same:
            raise ReleaseError(
                f"the files of `{self.release.path}` have changed since it was opened",
                hint="open it again, and check it with `discreet verify`",
            )

    def _prepare(self, sql: str, matches: Matches, own: Mapping[str, Own] | None = None) -> Prepared:
        """Read and plan a question, once however often it is asked, and once for all that differ in constants.

        Tables of one's own are told apart by what is in them.
        """
        asked = (sql, matches.key, *((name, each.relation) for name, each in (own or {}).items()))
        if asked not in self._asked:
            with _computed(), _not_too_deep():
                question = matches.check(read_question(sql, self.release.promise, matches.blocks, own))
                if asks_by_value(question, matches):
                    keys = tuple(key for key in question.keys if key.side != "quasi")
                    some = tuple(each for each in question.columns if each.key is None)
                    plain = replace(question, keys=keys, columns=some, order=())
                    prepared = replace(self._planned(plain, matches, marked=False), question=question)
                else:
                    prepared = self._planned(question, matches, marked=matches.opaque and MARK not in sql.lower())
            _remember(self._asked, asked, prepared)
        return self._asked[asked]

    def _by_value(self, question: Question, matches: Matches) -> pa.Table:
        """Answer a question by quasi-identifiers that are shown as boxes."""
        if not isinstance(matches, Boxed) or not isinstance(matches.boxes, PublishedBoxes):
            raise InternalError("only published boxes are asked value by value")

        def asked(each: Question) -> pa.Table:
            prepared = self._planned(matches.check(each), matches, marked=False)
            return self._asking(prepared, matches).direct()

        seen = partial(self.run, matches=matches)
        return ByValue(question, matches.boxes, self._engine, self._left_out, asked, seen).answer()

    def _put_beside(self, tables: Iterable[Own]) -> None:
        """Let the engine see tables of one's own, which stay in memory; the latest few are kept."""
        for each in tables:
            if each.relation not in self._beside:
                while len(self._beside) >= BESIDE:
                    oldest = next(iter(self._beside))
                    self._engine.forget(oldest)
                    self._beside.remove(oldest)
                self._engine.load(each.relation, each.loaded(), keep=False)
                self._beside.append(each.relation)

    def _planned(self, question: Question, matches: Matches, *, marked: bool) -> Prepared:
        abstract, constants = abstracted(question) if marked else (question, [])
        key = (shape(abstract), matches.key)
        if not marked or key not in self._shapes:
            found = plan(abstract, self._layout(matches), self._statistics)
            sql, *guards = (
                query.sql(dialect=self._engine.dialect, pretty=True, copy=False)
                for query in (found.query, *(guard.query for guard in found.guards))
            )
            _remember(self._shapes, key, Prepared(abstract, found, sql, tuple(guards)))
        return self._shapes[key].about(question, constants)

    def _layout(self, matches: Matches) -> Layout:
        promise = self.release.promise
        return Layout(promise.group, promise.sensitive, self._base, matches, self._left_out)

    @cached_property
    def _own(self) -> Matches:
        """How rows match as this release shows them."""
        promise = self.release.promise
        match layout_of(promise).matching:
            case "counted":
                return Counted()
            case "margins":
                alone = () if promise.sensitive is None else ((promise.sensitive,),)
                return Margins((*layout_of(promise).blocks(promise), *alone))
            case "swapped":
                return Swapped(promise)
            case "boxes":
                group = promise.group if promise.join is None else promise.join.group
                shown = [name for side in promise.boxes or () for name in (side.low, side.high) if name is not None]
                boxes = PublishedBoxes.of(promise.boxes or (), group, self._statistics.types, self._ends(shown))
                return Boxed(boxes, promise.join)

    @cached_property
    def _occurring(self) -> Occurring:
        boxes = self.release.promise.boxes or ()
        types = {**self._statistics.types, **{each.name: ARROW[each.type] for each in boxes}}
        return Occurring(self.release.manifest, types, self._engine.run)

    @cached_property
    def _tight(self) -> Boxed:
        return Boxed(self._tight_boxes)

    @cached_property
    def _tight_boxes(self) -> TightBoxes:
        """The tight boxes that the groups of a release would have in a generalized one."""
        promise = self.release.promise
        if layout_of(promise).matching == "swapped":
            raise QueryError(
                f"a release by `{promise.publication}` has no groups to generalize", hint="ask it as it is"
            )
        types = self._statistics.types
        ordered = [name for name in promise.quasi if is_ordered(types[name])]
        return TightBoxes.of(tuple(promise.quasi), promise.group, types, self._ends(ordered))

    def _ends(self, names: Sequence[str]) -> dict[str, tuple[Any, Any]]:
        """The smallest and the largest value of columns, looked up once, when boxes are first asked."""
        with self._lock:
            return ends(self._engine, self._base["qit"], names)

    def _make(self, tables: Mapping[str, Table]) -> None:
        for name, table in tables.items():
            if name not in self._made:
                self._engine.load(name, table.query, keep=table.keep)
                self._made.add(name)

    def _ready(self, prepared: Prepared) -> None:
        """Make the tables of a question, and refuse it where it asks too much of them."""
        self._make(prepared.plan.tables)
        for guard, sql in zip(prepared.plan.guards, prepared.guards, strict=True):
            found = self._engine.run(sql).column(0)[0].as_py()
            if found > guard.most:
                raise QueryError(guard.message.format(found, guard.most), hint=guard.hint)

    def _files(self) -> dict[str, Table]:
        """The files as they lie in the folder of the release."""
        resources = self.release.manifest.resources
        return {
            f"{each.name} file": Table(
                exp.select("*").from_(self._engine.scan(Path(each.path), each.kinds())), keep=each.format == "csv"
            )
            for each in resources
        }


def _remember(found: dict[Hashable, Prepared], key: Hashable, prepared: Prepared) -> None:
    while len(found) >= REMEMBERED:
        found.pop(next(iter(found)))
    found[key] = prepared


@contextmanager
def _computed() -> Iterator[None]:
    try:
        yield
    except EngineError as error:
        raise QueryError(
            f"the question cannot be computed: {error.message}",
            hint="compare columns with values of their own type, or CAST them",
        ) from None


@contextmanager
def _not_too_deep() -> Iterator[None]:
    try:
        yield
    except RecursionError:
        raise QueryError("the question is nested too deeply", hint="use IN for long lists of values") from None
