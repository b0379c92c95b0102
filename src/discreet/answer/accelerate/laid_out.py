"""The layout of an answer whose relations lie in one order already: to ask the engine would take longer than the pass.

It says in arrays what `plan.layout` says in SQL, of questions that neither sort nor cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from discreet.answer.left_out import LeftOut
from discreet.answer.question.question import ENDS, Question

Named = tuple[str, pa.ChunkedArray]


def laid_out(question: Question, relations: Mapping[str, pa.Table], left_out: LeftOut) -> pa.Table | None:
    """The answer; None if relations have to be joined, or sorted by more than their keys. Missing keys come last."""
    frame = relations["frame"]
    answers = [relations[f"answer_{number}"] for number in range(len(question.aggregates))]
    keys = [f"key_{number}" for number in range(len(question.keys))]
    if question.order or question.limit is not None or question.offset is not None:
        return None
    if not all(len(answer) == len(frame) and answer.select(keys).equals(frame.select(keys)) for answer in answers):
        return None
    columns = [*_columns(question, frame, answers, left_out), *((f"by_{key}", frame.column(key)) for key in keys)]
    table = pa.table([column for _, column in columns], names=[name for name, _ in columns])
    sort_by = [(key, "ascending") for key in keys if not pa.types.is_null(frame.schema.field(key).type)]
    return table.take(pc.sort_indices(frame, sort_by)) if sort_by else table


def _columns(question: Question, frame: pa.Table, answers: list[pa.Table], left_out: LeftOut) -> Iterator[Named]:
    """Those of the answer, then how many rows match at least."""
    for column in question.columns:
        if column.aggregate is None:
            yield column.name, frame.column(f"key_{column.key}")
            continue
        answer, function = answers[column.aggregate], question.aggregates[column.aggregate].function
        for part, end in ENDS.items():
            value = left_out.in_arrays(answer.column(part), function, part, answer.column("least"))
            yield f"{column.name}{end}", value
    for number, answer in enumerate(answers):
        yield f"least_{number}", answer.column("least")
