"""A question together with how its release is laid out: the names and relations that answers are written in."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from discreet.answer.matches.boxes.boxes import Boxes
from discreet.answer.matches.boxes.published import Published
from discreet.answer.question.grammar import Side
from discreet.answer.question.question import Question


@dataclass(frozen=True)
class Model:
    """A question with what is needed to write its relations."""

    question: Question
    group: str
    sensitive: str | None
    boxes: Boxes | Published | None = None
    apart: bool = False  # whether every column is a side of its own

    @property
    def bounded(self) -> bool:
        """Whether hits are not counted, but lie between the `fewest` and `picks`."""
        return self.apart or self.boxes is not None

    @property
    def measured(self) -> bool:
        """Whether hits are not counted, but expected."""
        return self.apart or (self.boxes is not None and self.boxes.measured)

    def keys(self, *sides: Side) -> list[str]:
        """The names that the keys of some sides (or of all) have in the relations."""
        return [f"key_{i}" for i, key in enumerate(self.question.keys) if not sides or key.side in sides]

    def other_keys(self, side: Side) -> list[str]:
        """The names of the keys of all sides but one."""
        return [f"key_{i}" for i, key in enumerate(self.question.keys) if key.side != side]

    def named_keys(self, side: Side) -> list[exp.Expr]:
        """The keys of one side, computed from its table."""
        return [
            exp.alias_(self.on_table(key.expression), f"key_{i}")
            for i, key in enumerate(self.question.keys)
            if key.side == side
        ]

    def on_table(self, expression: exp.Expr) -> exp.Expr:
        """An expression of the question, about the columns of `qit` or `held`."""

        def placed(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Column):
                return node
            if node.name == self.sensitive:
                return exp.column("value", table="held")
            return exp.column(node.name, table="qit", quoted=True)

        return expression.transform(placed)

    def rows(self, side: Side, *columns: exp.Expr | str) -> exp.Select:
        """The rows of one side that satisfy its condition."""
        query = exp.select(*self.named_keys(side), *columns).from_("held" if side == "sensitive" else "qit")
        condition = self.question.where.get(side)
        return query if condition is None else query.where(self.on_table(condition))

    def group_column(self, alias: str) -> exp.Expr:
        return exp.alias_(exp.column(self.group, table="qit", quoted=True), alias)
