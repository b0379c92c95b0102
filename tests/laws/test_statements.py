"""Statements over answers: every figure against all tables that the release allows, each asked of plain DuckDB.

The oracle shares nothing with `discreet.answer`: it writes out every world as a table and runs the statement on it.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from discreet.errors import QueryError
from laws.questions import Case, Column
from laws.worlds import worlds

RANDOM = st.randoms(use_true_random=False)
NAMES = ("age", "sex", "held")


def random_table(rng: Random) -> Case:
    """Up to eight people in two or three groups, with few enough worlds to ask each of them."""
    sizes = rng.choice([[3, 3], [2, 3], [4], [2, 2, 2], [3, 2, 2]])
    rows = sum(sizes)
    held = [rng.choice([-3, 0, 1, 2, 5, 10, None if rng.random() < 0.3 else 4]) for _ in range(rows)]
    if all(value is None for value in held):
        held[0] = 7
    table = pa.table(
        {
            "age": pa.array([rng.choice([1, 2, 3]) for _ in range(rows)], pa.int64()),
            "sex": pa.array([rng.choice(["f", "m", None]) for _ in range(rows)], pa.string()),
            "held": pa.array(held, pa.int64()),
        }
    )
    groups = [number for number, size in enumerate(sizes) for _ in range(size)]
    age, sex, value = (Column(name, "none", ()) for name in NAMES)
    return Case((age, sex), value, table, tuple(groups), rng.choice(["anatomy", "permutation"]))


CONDITIONS = (
    *("age > 1", "sex = 'f'", "held > 1", "held IS NULL", "held < 4 AND age < 3", "sex IS NULL"),
    *("age = 2 OR held > 3", "NOT (sex = 'f' AND held > 1)", "held BETWEEN 0 AND 4", "sex = 'm' OR age = 1"),
)
AGGREGATES = (
    *(
        "COUNT(*)",
        "COUNT(*)",
        "COUNT(held)",
        "SUM(held)",
        "AVG(held)",
        "MIN(held)",
        "MAX(held)",
        "SUM(age)",
        "AVG(age)",
    ),
    *("COUNT(*) FILTER (WHERE {c})", "SUM(held) FILTER (WHERE {c})", "AVG(age) FILTER (WHERE {c})", "COUNT_IF({c})"),
    *(
        "SUM(CASE WHEN {c} THEN 1 ELSE 0 END)",
        "SUM(CASE WHEN {c} THEN held ELSE age END)",
        "AVG(CASE WHEN {c} THEN 1.0 ELSE 0 END)",
    ),
    *("COUNT(CASE WHEN {c} THEN 1 END)", "MAX(held) FILTER (WHERE {c})", "(SELECT COUNT(*) FROM microdata WHERE {c})"),
    *("(SELECT SUM(held) FROM microdata)", "AVG(CASE WHEN {c} THEN held END)"),
)
FORMULAS = (
    *(
        "{a}",
        "{a}",
        "{a} + {b}",
        "{a} - {b}",
        "{a} * {b}",
        "{a} / {b}",
        "100.0 * {a} / COUNT(*)",
        "-{a}",
        "ABS({a} - {b})",
    ),
    *(
        "ROUND({a} / 3.0, 1)",
        "COALESCE({a}, 0)",
        "{a} / NULLIF({b}, 0)",
        "CAST({a} AS DOUBLE) / 2",
        "{a} - {a}",
        "{a} // 2",
    ),
    *(
        "CASE WHEN {a} > {b} THEN 1 ELSE 0 END",
        "GREATEST({a}, {b})",
        "LEAST({a}, 2)",
        "FLOOR({a} / 2.0)",
        "SQRT(ABS({a}))",
    ),
    *(
        "CASE WHEN {b} > 1 THEN {a} END",
        "{a} > {b}",
        "POWER({a}, 2)",
        "COALESCE({a}, {b}, 1)",
        "({a} + {b}) / ({b} + 1)",
    ),
    *(
        "CASE WHEN {a} IS NULL THEN -1 ELSE {a} END",
        "NULLIF({a}, 1)",
        "{a} BETWEEN 1 AND 3",
        "SIGN({a})",
        "CAST({a} AS INTEGER)",
    ),
)
OVER = (
    *("SUM({a}) OVER ()", "{a} / SUM(COUNT(*)) OVER ()", "AVG({a}) OVER ()", "MIN({a}) OVER ()", "MAX({a}) OVER ()"),
    *("RANK() OVER (ORDER BY {a} DESC)", "ROW_NUMBER() OVER (ORDER BY {a}, {k})", "DENSE_RANK() OVER (ORDER BY {a})"),
    *(
        "{a} - LAG({a}) OVER (ORDER BY {k})",
        "LEAD({a}) OVER (ORDER BY {k})",
        "SUM({a}) OVER (ORDER BY {k})",
        "COUNT(*) OVER ()",
    ),
    *("AVG({a}) OVER (ORDER BY {k} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", "SUM(COUNT(*)) OVER (PARTITION BY {k})"),
)


def formula(rng: Random, templates: tuple[str, ...], key: str = "age") -> str:
    one, other = (rng.choice(AGGREGATES).format(c=rng.choice(CONDITIONS)) for _ in range(2))
    return rng.choice(templates).format(a=one, b=other, k=key)


def random_statement(rng: Random) -> str:
    """A statement whose figures are m0, m1 and so on."""
    key = rng.choice(["", "age", "sex", "held", "held > 2"])
    templates = (*FORMULAS, *OVER) if key else FORMULAS
    figures = ", ".join(f"{formula(rng, templates, key)} AS m{at}" for at in range(rng.randint(1, 3)))
    where = f" WHERE {rng.choice(CONDITIONS)}" if rng.random() < 0.5 else ""
    if key:
        group = rng.choice([f"GROUP BY {key}", "GROUP BY 1", "GROUP BY k0"])
        return f"SELECT {key} AS k0, {figures} FROM microdata{where} {group}"
    return f"SELECT {figures} FROM microdata{where}"


def truths(case: Case, sql: str) -> list[dict[tuple[Any, ...], dict[str, Any]]]:
    """What plain DuckDB says in every world, by key."""
    possible = worlds(case.table, "held", case.groups)
    values = list(dict.fromkeys(case.table["held"].to_pylist()))
    found = []
    with duckdb.connect(config={"threads": "1"}) as database:
        for world in possible.held:
            held = pa.array([values[code] for code in world], pa.int64())
            table = case.table.set_column(2, "held", held)
            database.register("microdata", table)
            found.append(_by_key(database.sql(sql).to_arrow_table().to_pylist()))
    possible.close()
    return found


def _by_key(rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {tuple(value for name, value in row.items() if name[0] == "k"): row for row in rows}


def _number(value: Any) -> float | None:
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else float(value)


def _check(sql: str, rows: list[dict[str, Any]], possible: list[dict[tuple[Any, ...], dict[str, Any]]]) -> None:
    answered = {tuple(value for name, value in row.items() if name[0] == "k"): row for row in rows}
    for key in {key for world in possible for key in world}:
        assert key in answered, f"{sql}: {key} is missing"
        row = answered[key]
        for name in (name for name in row if name[0] == "m" and "_" not in name):
            low, high = _number(row[f"{name}_low"]), _number(row[f"{name}_high"])
            for world in possible:
                true = _number(world[key][name]) if key in world else None
                if true is None:
                    continue
                slack = 1e-9 * max(1.0, abs(true)) if math.isfinite(true) else 0
                assert low is None or low <= true + slack, f"{sql}: {name} of {key} is {true}, below {row}"
                assert high is None or high >= true - slack, f"{sql}: {name} of {key} is {true}, above {row}"


@pytest.mark.parametrize("seed", range(3))
def test_statement_bounds_contain_every_world(seed: int) -> None:
    """Claim: see `statement/cells.py`."""
    rng = Random(seed)  # noqa: S311
    for _ in range(2):
        case = random_table(rng)
        with case.released() as release:
            for _ in range(8):
                sql = random_statement(rng)
                _check(sql, release.ask(sql).rows(), truths(case, sql))


LINEAR = ("COUNT(*) FILTER (WHERE {c})", "SUM(held) FILTER (WHERE {c})", "COUNT(held)", "SUM(held)", "COUNT_IF({c})")


@pytest.mark.parametrize("seed", range(2))
def test_statement_stderr_is_never_too_small(seed: int) -> None:
    """Claim: of sums, differences and multiples, by `even`; the estimate is the mean over all worlds."""
    rng = Random(100 + seed)  # noqa: S311
    case = random_table(rng)
    with case.released() as release:
        for _ in range(8):
            one, other = (rng.choice(LINEAR).format(c=rng.choice(CONDITIONS)) for _ in range(2))
            sql = f"SELECT 2 * COALESCE({one}, 0) - COALESCE({other}, 0) / 4 AS m0 FROM microdata WHERE age > 1"
            figures = np.array([float(world[()]["m0"]) for world in truths(case, sql)])
            [row] = release.ask(sql, estimator="even").rows()
            assert row["m0"] == pytest.approx(figures.mean()), sql
            assert row["m0_stderr"] >= figures.std() - 1e-9, sql


def table() -> Case:
    ages, sexes = pa.array([1, 1, 2, 2, 3, 3]), pa.array(["f", "m", "f", "m", "f", "f"])
    held = pa.array([10, 20, 30, 40, 50, 60])
    columns = tuple(Column(name, "none", ()) for name in NAMES)
    rows = pa.table({"age": ages, "sex": sexes, "held": held})
    return Case(columns[:2], columns[2], rows, (0, 0, 0, 1, 1, 1))


def test_statements_of_one_release() -> None:
    """What has one answer: exact figures, counts of nobody, orders, names, notes."""
    with table().released() as release:

        def rows(sql: str) -> list[dict[str, Any]]:
            return release.ask(sql).rows()

        found = rows("SELECT sex, COUNT(*) FILTER (WHERE age = 3) AS n FROM microdata GROUP BY ALL")
        assert found == [
            {"sex": "f", "n": 2, "n_stderr": 0, "n_low": 2, "n_high": 2},
            {"sex": "m", "n": 0, "n_stderr": 0, "n_low": 0, "n_high": 0},
        ]
        [row] = rows("SELECT SUM(held) / COUNT(*) AS x, AVG(held) - AVG(held) AS y FROM microdata")
        assert (row["x_low"], row["x"], row["x_high"], row["x_stderr"]) == (35, 35, 35, 0)
        assert (row["y_low"], row["y_high"]) == (0, 0)
        share = "SELECT COUNT(*) FILTER (WHERE held > 20 AND sex = 'f') / COUNT(*) AS x FROM microdata WHERE held > 10"
        [row] = rows(share)
        assert 0 <= row["x_low"] <= row["x"] <= row["x_high"] <= 1
        answer = release.ask(
            "SELECT age, SUM(held) AS x FROM microdata GROUP BY age HAVING SUM(held) > 50 ORDER BY 2 DESC"
        )
        assert [row["age"] for row in answer.rows()] == [3, 2]
        assert any("by the bounds, 1 of 2 rows shown may not satisfy it" in note for note in answer.notes), answer.notes
        top = release.ask("SELECT sex, AVG(held) AS x FROM microdata GROUP BY sex ORDER BY AVG(held) / 2 DESC LIMIT 1")
        assert any("rows left out may belong among them" in note for note in top.notes)
        answer = release.ask("SELECT COUNT(*) / COUNT(*) FILTER (WHERE held > 20 AND age = 1) AS x FROM microdata")
        assert (answer.rows()[0]["x_low"], answer.rows()[0]["x_high"]) == (None, None)
        assert any(note.startswith("x: in this row low or high is not known: it divides") for note in answer.notes)
        named = release.ask("SELECT sex AS age, COUNT(*) AS n, COUNT(*) + 1 AS n FROM microdata GROUP BY sex").columns
        assert named[:2] == ["age", "n"]
        assert "n_2" in named
        assert rows("SELECT MAX(n) AS x FROM (SELECT sex, COUNT(*) AS n FROM microdata GROUP BY sex) AS t")[0]["x"] == 4
        assert (
            rows("SELECT n FROM (SELECT sex AS s, COUNT(*) AS n FROM microdata GROUP BY 1) t WHERE s = 'm'")[0]["n"]
            == 2
        )
        both = "SELECT sex, COUNT(*) AS n FROM microdata GROUP BY sex UNION ALL SELECT 'all', COUNT(*) FROM microdata"
        assert [row["n"] for row in rows(both)] == [4, 2, 6]
        plain = rows(
            "WITH m AS (SELECT age * 2 AS twice, held FROM microdata WHERE sex = 'f') SELECT SUM(held) AS x FROM m WHERE twice > 2"
        )
        assert plain == rows("SELECT SUM(held) AS x FROM microdata WHERE age * 2 > 2 AND sex = 'f'")
        everything = release.ask("SELECT sex, LIST(age ORDER BY age) AS ages FROM microdata GROUP BY sex ORDER BY sex")
        assert everything.rows() == [{"sex": "f", "ages": [1, 2, 3, 3]}, {"sex": "m", "ages": [1, 2]}]
        assert any("exact" in note for note in everything.notes)
        told = release.explain("SELECT SUM(held) / SUM(age) AS x FROM microdata WHERE sex = 'f'")
        assert "part_0" in told
        assert '("part_0" / "part_1")' in told or '"part_0" / "part_1"' in told


def test_figures_are_put_into_no_text() -> None:
    """The engine has them as floating-point numbers: a text would show `3.0` for 3, and no bounds."""
    with table().released() as release:
        for text in ("'n=' || COUNT(*)", "CAST(AVG(held) AS VARCHAR)", "CONCAT('n', SUM(held))"):
            with pytest.raises(QueryError, match="puts a figure into a text"):
                release.ask(f"SELECT sex, {text} AS t FROM microdata WHERE held > 20 GROUP BY sex")
        [row, _] = release.ask("SELECT sex || '!' AS s, COUNT(*) * 2 AS n FROM microdata GROUP BY 1").rows()
        assert (row["s"], row["n"]) == ("f!", 8)


def test_whole_quotients_of_figures_are_cut_where_those_of_the_table_are() -> None:
    """`//` of counts is a whole number; of a sum, which the engine sees as a fraction, both readings are inside."""
    case = table()
    of_counts = "COUNT(*) FILTER (WHERE held > 20) // 3 AS m0, COUNT_IF(held > 20 AND age < 3) // 2 AS m1"
    sql = f"SELECT {of_counts}, SUM(age) // 7 AS m2, (SUM(held) + 1) // COUNT(*) AS m3 FROM microdata"
    with case.released() as release:
        rows = release.ask(sql).rows()
        _check(sql, rows, truths(case, sql))
        assert (rows[0]["m0_low"], rows[0]["m0"], rows[0]["m0_high"]) == (1, 1, 1)
        assert rows[0]["m1"] == int(rows[0]["m1"])
        decades = release.ask("SELECT age // 2 AS half, COUNT(*) // 2 AS n FROM microdata GROUP BY age").rows()
        assert [(type(row["half"]), row["half"], row["n"]) for row in decades] == [
            (int, 0, 1),
            (int, 1, 1),
            (int, 1, 1),
        ]
