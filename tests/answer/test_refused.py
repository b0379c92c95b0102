"""Every refused question is refused for the reason its case names, with a hint, before anything runs."""

import re
from collections import Counter
from pathlib import Path

import pytest

from discreet.answer import advised
from discreet.errors import QueryError
from discreet.policy import Policy
from discreet.publication.publish import publish

CASES = (Path(__file__).parent.parent / "cases" / "sql" / "refused.sql").read_text(encoding="utf-8")
MOST = 6  # refusals with the same hint
REFUSED = [
    pytest.param(*parts, id=parts[0])
    for parts in re.findall(r"^-- (.+?) \| (.+?)\n((?:(?!-- ).*\n)*)", CASES, re.MULTILINE)
]


def made(people, folder):
    policy = Policy(
        quasi=["age", "sex", "education"], sensitive="salary", drop="rest", guarantee={"l": 4}, partition="deal"
    )
    return publish(people, policy, to=folder / "r")


@pytest.fixture(scope="module", params=["duckdb", "postgres"])
def release(request, people, tmp_path_factory, placed):
    return placed(made(people, tmp_path_factory.mktemp("releases")), request.param)


@pytest.mark.spark
def test_spark_refuses_the_same(people, tmp_path_factory, placed, monkeypatch):
    """Every fifth case; what could be written instead is looked for in one of them, since that starts jobs."""
    release = placed(made(people, tmp_path_factory.mktemp("releases")), "spark")
    for number, (_, reason, sql) in enumerate(case.values for case in REFUSED[::5]):
        with pytest.raises(QueryError, match=re.escape(reason)) as refused:
            release.ask(sql)
        assert refused.value.hint
        if not number:
            monkeypatch.setattr(advised, "instead", lambda *_: "")


@pytest.mark.parametrize(("title", "reason", "sql"), REFUSED)
def test_refused(release, title, reason, sql):
    with pytest.raises(QueryError, match=re.escape(reason)):
        release.ask(sql)


def test_there_are_cases():
    assert len(REFUSED) > 70


def test_hints_are_about_the_question(release):
    """Each refusal has a hint, and none serves for more than a few of them."""
    hints = Counter()
    for _, _, sql in (case.values for case in REFUSED):
        with pytest.raises(QueryError) as refused:
            release.ask(sql)
        hints[refused.value.hint] += 1
    assert "" not in hints
    assert {hint: cases for hint, cases in hints.items() if cases > MOST} == {}


def test_the_engine_behind_the_session_is_sealed(release, tmp_path):
    """Even SQL that slipped through could not touch files, the network or settings."""
    from sqlglot import parse_one

    from discreet.errors import EngineError

    release.ask("SELECT COUNT(*) FROM microdata")
    for sql in [
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM 'qit.parquet'",
        f"COPY qit TO '{tmp_path / 'out.csv'}'",
        "ATTACH 'other.db'",
        "SET enable_external_access = true",
        "SET threads = 1",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SELECT * FROM read_csv('http://localhost/x.csv')",
    ]:
        engine = release.session.sealed.engine
        with pytest.raises(EngineError):
            getattr(engine, "_execute", engine.run)(parse_one(sql, dialect="duckdb"))
    assert not (tmp_path / "out.csv").exists()
