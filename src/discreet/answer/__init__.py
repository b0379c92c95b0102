"""Answers: an SQL aggregate over the table nobody may see, answered from the release with hard bounds."""

from discreet.answer.answer import Answer
from discreet.answer.desk import Desk, ask

__all__ = ["Answer", "Desk", "ask"]
