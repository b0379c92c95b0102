"""How questions are asked of an open release: by which estimator, beside which tables, for how long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.answer import Answer
from discreet.cli import show
from discreet.release.release import Release


@dataclass(frozen=True, slots=True)
class Asking:
    """A release, and what holds for every question about it."""

    release: Release
    generalized: bool = False
    estimator: str | None = None
    tables: Mapping[str, str] | None = None
    timeout: float | None = None

    def answer(self, question: str) -> Answer:
        """Answer a question; on a terminal, a bar shows how far it is."""
        steps = 1
        if "learned" in {self.estimator, self.release.promise.estimator}:
            from discreet.learn.draws import STEPS

            steps += STEPS
        with show.steps(steps) as step:
            step("answering")
            return self.release.ask(
                question,
                generalized=self.generalized,
                timeout=self.timeout,
                estimator=self.estimator,
                tables=self.tables,
                progress=step,
            )

    def explain(self, question: str) -> str:
        """The SQL that answers a question."""
        return self.release.explain(question, generalized=self.generalized, estimator=self.estimator)
