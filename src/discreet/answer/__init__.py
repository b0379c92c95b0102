"""Answers: an SQL aggregate over the table nobody may see, answered from the release with hard bounds."""

from discreet.answer.answer import Answer
from discreet.answer.session import Session, ask

__all__ = ["Answer", "Session", "ask"]
