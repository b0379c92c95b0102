"""Read and plan core questions, once however often they are asked, and once for all that differ in constants."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

from discreet.answer.by_value import asks_by_value
from discreet.answer.latest import Latest
from discreet.answer.limits import not_too_deep
from discreet.answer.matches import Matches
from discreet.answer.plan.narrow import narrowed
from discreet.answer.plan.plan import plan
from discreet.answer.plan.shapes import MARK, abstracted, shape
from discreet.answer.prepared import Prepared
from discreet.answer.question.own import Own
from discreet.answer.question.parse import read_question
from discreet.answer.question.question import Question
from discreet.answer.sealed import Sealed, computed

REMEMBERED = 256


class Preparing:
    """The questions and the shapes of questions that were planned last."""

    def __init__(self, sealed: Sealed) -> None:
        self._sealed = sealed
        self._asked: Latest[Hashable, Prepared] = Latest(REMEMBERED)
        self._shapes: Latest[Hashable, Prepared] = Latest(REMEMBERED)

    def prepared(self, sql: str, matches: Matches, own: Mapping[str, Own]) -> Prepared:
        """A question with its plan; tables of one's own are told apart by what is in them."""
        asked = (sql, matches.key, *((name, each.relation) for name, each in own.items()))
        if asked not in self._asked:
            with computed(), not_too_deep():
                question = matches.check(read_question(sql, self._sealed.promise, matches.blocks, own))
                if asks_by_value(question, matches):
                    prepared = replace(self.planned(_without_values(question), matches), question=question)
                else:
                    marked = matches.opaque and MARK not in sql.lower()
                    prepared = self.planned(question, matches, marked=marked)
            self._asked[asked] = prepared
        return self._asked[asked]

    def planned(self, question: Question, matches: Matches, *, marked: bool = False) -> Prepared:
        """A question that was read, with its plan; if its constants are marked, that of its shape."""
        if not self._sealed.release.in_files:
            types = self._sealed.statistics.types
            ends = {each.name: each.low for each in self._sealed.promise.boxes or () if each.low is not None}
            question = narrowed(question, {**types, **{name: types[low] for name, low in ends.items()}})
        abstract, constants = abstracted(question) if marked else (question, [])
        key = (shape(abstract), matches.key)
        if not marked or key not in self._shapes:
            self._sealed.put_beside(question.beside)
            found = plan(abstract, self._sealed.layout(matches), self._sealed.statistics)
            sql, *guards = (
                self._sealed.engine.written(query, found.tables)
                for query in (found.query, *(guard.query for guard in found.guards))
            )
            self._shapes[key] = Prepared(abstract, found, sql, tuple(guards))
        return self._shapes[key].about(question, constants)


def _without_values(question: Question) -> Question:
    """The same without the keys that are asked value by value."""
    keys = tuple(key for key in question.keys if key.side != "quasi")
    columns = tuple(each for each in question.columns if each.key is None)
    return replace(question, keys=keys, columns=columns, order=())
