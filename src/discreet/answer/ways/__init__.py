"""The ways to answer a question about a release, in the order in which they are tried."""

from __future__ import annotations

from dataclasses import replace

from discreet.answer.limits import not_too_deep
from discreet.answer.prepare import Preparing
from discreet.answer.sealed import Sealed
from discreet.answer.ways.anything import Anything
from discreet.answer.ways.core import Core
from discreet.answer.ways.exact import Exact
from discreet.answer.ways.statements import Statements
from discreet.answer.ways.way import Asked, Reading, Way
from discreet.errors import InternalError, QueryError

__all__ = ["Asked", "Reading", "Ways"]


class Ways:
    """The ways of one release: the first that can read a question answers it."""

    def __init__(self, sealed: Sealed) -> None:
        self.core = core = Core(sealed, Preparing(sealed))
        self.ordered: tuple[Way, ...] = (core, Statements(sealed, core), Exact(sealed), Anything(sealed))

    def read(self, asked: Asked) -> Reading:
        """The question, ready to be answered; if no way can, what the last one said that gave a reason."""
        for way in self.ordered:
            try:
                with not_too_deep():
                    found = way.read(asked)
            except QueryError as error:
                asked = replace(asked, refused=error)
                continue
            if found is not None:
                return found
        raise asked.refused or InternalError("no way said why it does not answer")

    def explain(self, asked: Asked) -> str:
        """What is run for a question; of one that no way can read, why it is no core question."""
        try:
            found = self.read(asked)
        except QueryError:
            self.core.read(asked)
            raise
        return found.explain()

    def bounded(self, asked: Asked) -> bool:
        """Whether a question would be answered with bounds."""
        for way in self.ordered:
            try:
                with not_too_deep():
                    found = way.read(asked) if way.bounded else None
                    if found is not None:
                        found.check()
                        return True
            except QueryError:
                continue
        return False
