"""The page of the sixty questions: every answer beside the truth, and every refusal with what to write instead."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

import discreet
from discreet.answer.answer import key, measure
from discreet.visible import in_a_line
from sixty.judge import Asked, Outcome, by_key, measures, plain, plain_value, truth, whole
from sixty.table import ASKED

PAGE = Path(__file__).parents[2] / "docs" / "sixty.md"
ROWS = 6  # of an answer that the page shows
SIGNS = {"exact": "=", "estimate": "±", "no bounds": "~", "refused": "→"}
Outcomes = Mapping[str, Mapping[int, Outcome]]  # by column of the page, and number of the question


def written(asked: Sequence[Asked], outcomes: Outcomes) -> str:
    """The whole page."""
    first, *_ = ASKED
    page = Template((Path(__file__).parent / "page.md").read_text(encoding="utf-8"))
    return page.substitute(
        counted="\n".join(_counted(outcomes)),
        matrix="\n".join(matrix(asked, outcomes)),
        answers="\n".join(section(each, outcomes[first][each.number]) for each in asked).rstrip(),
        others="\n".join(_others(asked, outcomes)).rstrip(),
    )


KINDS = {
    "exact": "exact",
    "estimate": "estimate and bounds",
    "no bounds": "estimate",
    "refused": "refused, with what to write instead",
}


def _counted(outcomes: Outcomes) -> Iterator[str]:
    yield "| | " + " | ".join(KINDS.values()) + " |"
    yield "|---|" + "---|" * len(KINDS)
    for name, of_name in outcomes.items():
        found = Counter(outcome.kind for outcome in of_name.values())
        yield f"| {name} | " + " | ".join(str(found[kind] or "") for kind in KINDS) + " |"


def matrix(asked: Sequence[Asked], outcomes: Outcomes) -> Iterator[str]:
    """A row for each question, with a sign for each publication."""
    yield "| | " + " | ".join(outcomes) + " |"
    yield "|---|" + "---|" * len(outcomes)
    for each in asked:
        found = (of_name.get(each.number) for of_name in outcomes.values())
        signs = " | ".join("" if outcome is None else SIGNS[outcome.kind] for outcome in found)
        yield f"| [{each.number}](#q{each.number}). {each.title} | {signs} |"


def section(asked: Asked, outcome: Outcome) -> str:
    """A question in full, with its answer."""
    lines = [f"### {asked.number}. {asked.title} {{#q{asked.number}}}", "", *_sql(asked.sql), ""]
    if outcome.refusal is not None:
        lines += [*_refused(outcome), ""]
    told = outcome if outcome.instead is None else outcome.instead
    if told.answer is not None:
        sql = asked.sql if outcome.instead is None else told.answer.question
        lines += [*_table(sql, told.answer, told), *_notes(told.answer), ""]
    return "\n".join(lines)


def _sql(sql: str) -> list[str]:
    return ["```sql", *sql.splitlines(), "```"]


def _refused(outcome: Outcome) -> Iterator[str]:
    refusal = outcome.refusal
    if refusal is None:
        return
    yield f"*Refused*: {in_a_line(refusal.message)}. {refusal.hint[:1].upper()}{in_a_line(refusal.hint[1:])}."
    if refusal.instead:
        yield from ("", "Write instead:", "", *_sql("\n".join(textwrap.wrap(refusal.instead, 110))))


def _table(sql: str, answer: discreet.Answer, outcome: Outcome) -> Iterator[str]:
    """The first rows, the truth beside each figure."""
    names, figures = plain(answer), measures(answer)
    keys = [at for at, name in enumerate(names) if name not in figures]
    every = whole(sql)
    real = by_key(outcome.truth if every is None else truth(every), keys)
    yield "| " + " | ".join(f"{name} | truth" if name in figures else name for name in names) + " |"
    yield "|" + "---|" * (len(names) + len(figures))
    for row in answer.rows()[:ROWS]:
        found = real.get(tuple(plain_value(row[names[at]]) for at in keys))
        cells = []
        for at, name in enumerate(names):
            cells += _cell(row, name, None if found is None else found[at]) if name in figures else [key(row[name])]
        yield "| " + " | ".join(cells) + " |"
    if len(answer) > ROWS:
        yield f"\n… and {len(answer) - ROWS} more rows."


def _cell(row: Mapping[str, Any], name: str, real: Any) -> list[str]:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    exact = low == high and low is not None
    bounds = "" if exact or (low is None and high is None) else f" [{measure(low)}, {measure(high)}]"
    return [f"{measure(row[name])}{bounds}", measure(real)]


def _notes(answer: discreet.Answer) -> Iterator[str]:
    for note in answer.notes:
        yield from ("", f"*{in_a_line(note)}*")


def _others(asked: Sequence[Asked], outcomes: Outcomes) -> Iterator[str]:
    """Refusals that the first publication does not have, each once."""
    first, *others = outcomes
    for each in asked:
        seen: dict[str, list[str]] = {}
        refusals = {}
        for name in others:
            outcome = outcomes[name].get(each.number)
            if outcome is None or outcome.refusal is None or outcomes[first][each.number].refusal is not None:
                continue
            text = "\n".join(_refused(outcome))
            seen.setdefault(text, []).append(name)
            refusals[text] = outcome
        for text, names in seen.items():
            yield f"**{each.number}. {each.title}**, by {', '.join(names)}\n\n{text}\n"
