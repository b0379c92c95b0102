"""Values one by one, as relations: all that boxes of a release may hold in a column, or all of each box.

domain_i   all whole numbers or days from the smallest end of a box to the largest, and their positions
points_i   the values of every `box` that has few, a missing one among them
sizes_i    how many values a label stands for
"""

from __future__ import annotations

from sqlglot import exp

from discreet.answer.matches.boxes.conditions import parsed
from discreet.answer.matches.boxes.ordered import Axis


def all_values(axis: Axis) -> dict[str, exp.Query]:
    """The relations that end with all values of a whole column; of a ranked one those that are known are a table."""
    if axis.form != "whole":
        return {}
    values = parsed(DOMAIN.format(i=axis.number)).from_(_numbers((axis.span or 0) + 1).subquery("numbers"))
    return {"digits": _digits(), f"domain_{axis.number}": values}


def points(axis: Axis, most: int) -> dict[str, exp.Query]:
    """The relations that end with all points of boxes that have at most so many in a column."""
    i = axis.number
    if axis.form == "labels":
        return {f"sizes_{i}": parsed(LABEL_SIZES.format(i=i)), f"points_{i}": parsed(LABEL_POINTS.format(i=i))}
    if axis.form == "whole":
        steps = {"digits": _digits(), "steps": _numbers(most)}
        return {**steps, f"points_{i}": parsed(WHOLE_POINTS.format(i=i, most=most))}
    return {f"points_{i}": parsed(ONE_POINT.format(i=i))}


def number_of_points(axis: Axis) -> str:
    """How many points a box has in a column, as SQL beside `sizes_i`; NULL if nobody knows."""
    text = {"labels": "sizes_{i}.n", "whole": WHOLE_SIZE}.get(axis.form, ONE_SIZE)
    return f"CAST({text.format(i=axis.number)} AS DOUBLE)"


def _digits() -> exp.Select:
    return exp.select("d").from_(exp.values([(digit,) for digit in range(10)], alias="ten", columns=["d"]))


def _numbers(count: int) -> exp.Select:
    """The whole numbers from 0 up to a count, as `n`."""
    width = len(str(count - 1))
    query = exp.select(f"{' + '.join(f'{10**place} * d{place}.d' for place in range(width))} AS n")
    query = query.from_("digits AS d0")
    for place in range(1, width):
        query = query.join(f"digits AS d{place}", join_type="cross")
    return exp.select("n").from_(query.subquery("counted")).where(f"n < {count}")


DOMAIN = """
    SELECT (SELECT MIN(start_{i}) FROM boxes) + n AS place,
           (SELECT MIN(low_{i}) FROM boxes) + CAST(n AS INTEGER) AS value
"""
LABEL_SIZES = "SELECT label, COUNT(*) AS n FROM meanings_{i} GROUP BY label"
LABEL_POINTS = "SELECT boxes.box, value FROM boxes JOIN meanings_{i} ON boxes.label_{i} = meanings_{i}.label"
WHOLE_SIZE = "CASE WHEN NOT boxes.missing_{i} IS NULL THEN boxes.width_{i} END"
WHOLE_POINTS = """
    SELECT box, low_{i} + CAST(n AS INTEGER) AS value FROM boxes JOIN steps ON n <= stop_{i} - start_{i}
    WHERE stop_{i} - start_{i} < {most} AND NOT low_{i} IS NULL
    UNION ALL SELECT box, NULL FROM boxes WHERE missing_{i}
"""
ONE_SIZE = """
    CASE WHEN boxes.low_{i} = boxes.high_{i} THEN 1 WHEN boxes.low_{i} IS NULL AND boxes.missing_{i} THEN 0 END
    + boxes.gap_{i}
"""
ONE_POINT = """
    SELECT box, low_{i} AS value FROM boxes WHERE low_{i} = high_{i}
    UNION ALL SELECT box, NULL FROM boxes WHERE missing_{i}
"""
