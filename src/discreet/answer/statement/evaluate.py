"""Compute a statement: ask for its parts, lay their answers side by side by key, and take its steps one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from discreet.answer.left_out import LeftOut
from discreet.answer.statement.core import Core
from discreet.answer.statement.sheet import Sheet
from discreet.answer.statement.side_by_side import SideBySide
from discreet.answer.statement.stacked import once, stacked
from discreet.answer.statement.statement import Asked, Selected, Source, Stacked
from discreet.answer.statement.steps import Steps
from discreet.engines import Engine


@dataclass(frozen=True)
class Evaluation:
    """A statement under way: how core questions are asked, and what is to be said beside the figures."""

    engine: Engine
    left_out: LeftOut
    ask: Callable[[str], Core]
    told: list[str] = field(default_factory=list)

    def rows(self, source: Source) -> Sheet:
        match source:
            case Asked():
                return SideBySide(self.engine, self.left_out, self.ask, self.told).rows(source)
            case Selected():
                return Steps(self.told).taken(self.rows(source.source), source.step)
            case Stacked():
                return self._stacked(source)

    def _stacked(self, source: Stacked) -> Sheet:
        found = stacked(self.rows(source.upper), self.rows(source.lower), source.names)
        if not source.distinct:
            return found
        found, notes = once(found, len(source.names))
        self.told.extend(notes)
        return found
