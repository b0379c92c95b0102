"""A session: from several threads, with new constants, over files that are left where they are."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Policy, open_release, publish
from discreet.answer import Session
from discreet.answer.plan.shapes import MARK
from discreet.errors import EngineError, QueryError, ReleaseError

ROWS = 600


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    rng = np.random.default_rng(4)
    born = [date(1950, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 20_000, ROWS)]
    table = pa.table(
        {
            "age": rng.integers(18, 90, ROWS),
            "sex": rng.choice(["f", "m"], ROWS),
            "born": born,
            "pay": rng.integers(0, 40, ROWS),
        }
    )
    policy = Policy(quasi=["age", "sex", "born"], sensitive="pay", guarantee={"l": 4}, partition="local")
    return publish(table, policy, to=tmp_path_factory.mktemp("session") / "a [b] release")


def close(one, other):
    return one == pytest.approx(other, rel=1e-9) if isinstance(one, float) else one == other


def same(one, other):
    return len(one) == len(other) and all(
        close(a, b)
        for left, right in zip(one, other, strict=True)
        for a, b in zip(left.values(), right.values(), strict=True)
    )


def test_threads_get_the_answers_of_one_thread(release):
    questions = [
        text.format(20 + 3 * number)
        for number in range(8)
        for text in (
            "SELECT COUNT(*) FROM microdata WHERE age > {}",
            "SELECT sex, AVG(pay) FROM microdata WHERE age > {} GROUP BY sex",
            "SELECT SUM(pay), MEDIAN(pay) FROM microdata WHERE age < {} AND pay > 3",
            "SELECT SUM(age) FROM microdata WHERE pay < {}",
        )
    ]
    with Session(release) as alone:
        expected = [alone.ask(question).rows() for question in questions]
    with Session(release) as shared, ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda question: shared.ask(question).rows(), questions))
        boxes = list(threads.map(lambda _: shared.ask(questions[0], generalized=True).rows(), range(4)))
    for question, one, other in zip(questions, found, expected, strict=True):
        assert same(one, other), question
    assert boxes == [boxes[0]] * 4


SHAPES = [
    ("age > {}", [20, 50, -3, 2.5, "'33'"]),
    ("age BETWEEN {} AND 60", [20, 61]),
    ("age IN ({}, 30, 31)", [25, "NULL"]),
    ("sex = {}", ["'f'", "'it''s'", "'discreet_constant_0_'", "'\\1'"]),
    ("born >= {}", ["'1980-01-01'", "DATE '1990-05-05'"]),
    ("age + {} > 60 AND pay < 9", [1, 20]),
    ("NOT (age < {} OR sex = 'm')", [30, 70]),
    ("age > {}", [f"{MARK}0_"]),
]


@pytest.mark.parametrize(("where", "constants"), SHAPES, ids=lambda each: each if isinstance(each, str) else "")
def test_a_new_constant_in_a_known_shape_changes_nothing_but_the_constant(where, constants, release):
    """The answer is that of a session that never saw the shape; so is the error, if there is one."""

    def outcome(session, constant):
        try:
            found = session.ask(f"SELECT COUNT(*), SUM(pay) FROM microdata WHERE {where.format(constant)}")
        except QueryError as error:
            return type(error), str(error)
        assert MARK not in found.sql.replace("'discreet_constant_0_'", "")
        return found.rows()

    with Session(release) as seen:
        for constant in constants:
            with Session(release) as fresh:
                one, other = outcome(seen, constant), outcome(fresh, constant)
                assert one == other if isinstance(one, tuple) else same(one, other), constant


def test_a_column_named_like_a_mark_is_found_in_any_case(tmp_path):
    name = f"{MARK}0_"
    table = pa.table({name: [1, 2, 3, 4], "pay": [5, 6, 7, 8]})
    policy = Policy(quasi=[name], sensitive="pay", guarantee={"l": 2}, partition="deal")
    with Session(publish(table, policy, to=tmp_path / "release")) as session:
        assert session.ask(f"SELECT COUNT(*) FROM microdata WHERE {name.upper()} > 1").rows()[0]["count"] == 3


def test_shapes_are_planned_once(release, monkeypatch):
    with Session(release) as session:
        session.ask("SELECT sex, AVG(pay) FROM microdata WHERE age > 30 GROUP BY sex")
        monkeypatch.setattr("discreet.answer.prepare.plan", None)
        for age in range(31, 40):
            session.ask(f"SELECT sex, AVG(pay) FROM microdata WHERE age > {age} GROUP BY sex")


@pytest.mark.parametrize(
    "question", ["SELECT SUM(pay) FROM microdata WHERE age > 30", "SELECT COUNT(*) FROM microdata"]
)
def test_only_what_a_question_needs_is_made(release, question):
    with Session(release) as session:
        session.ask(question)
        assert {"qit"} <= session.sealed.made <= {"qit", "st", "signatures", "signature_values"}
        assert ("st" in session.sealed.made) == ("SUM" in question)


def test_only_the_files_of_the_release_can_be_read(release, tmp_path):
    other = tmp_path / "other.parquet"
    with Session(release) as session:
        engine = session.sealed.engine
        engine.run("SELECT 1")
        for path in (other, release.path / "datapackage.json", release.path):
            with pytest.raises(EngineError, match=r"sealed|cannot be read"):
                engine._execute(f"SELECT * FROM read_text('{str(path).replace('[', '[[]')}')")


def test_a_release_closes_its_session(release):
    with open_release(release.path) as opened:
        opened.ask("SELECT COUNT(*) FROM microdata")
        assert "session" in opened.__dict__
    assert "session" not in opened.__dict__
    assert opened.ask("SELECT COUNT(*) AS n FROM microdata").rows()[0]["n"] == ROWS
    opened.close()


def test_guards_have_the_constants_of_the_question(tmp_path):
    """Columns that were shuffled apart are guarded by how many combinations of keys may occur."""
    table = pa.table({"age": np.arange(12) % 5, "sex": ["f", "m"] * 6, "pay": np.arange(12)})
    policy = Policy(quasi=["age", "sex"], sensitive="pay", guarantee={"l": 3}, publication="full_permutation")
    with publish(table, policy, to=tmp_path / "release", seed=3) as release:
        for age in (1, 2):
            rows = release.ask(f"SELECT sex, pay, COUNT(*) FROM microdata WHERE age > {age} GROUP BY sex, pay").rows()
            assert len(rows) > 1


def test_a_closed_session_says_so(release):
    session = Session(release)
    session.close()
    for act in (session.ask, session.explain):
        with pytest.raises(QueryError, match="closed"):
            act("SELECT COUNT(*) FROM microdata")


@pytest.mark.parametrize("change", ["written", "replaced", "gone"])
def test_files_that_changed_are_not_asked(release, change, tmp_path):
    folder = shutil.copytree(release.path, tmp_path / "copy")
    with Session(open_release(folder)) as session:
        session.ask("SELECT COUNT(*) FROM microdata")
        if change == "written":
            pq.write_table(pq.read_table(folder / "st.parquet").slice(0, 5), folder / "st.parquet")
        else:
            (folder / "st.parquet").unlink()
            if change == "replaced":
                shutil.copyfile(folder / "qit.parquet", folder / "st.parquet")
        with pytest.raises(ReleaseError, match="changed since it was opened"):
            session.ask("SELECT COUNT(*) FROM microdata")
