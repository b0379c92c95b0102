"""Names that need double quotes: a refusal says so, and its question, written instead, is answered."""

import pyarrow as pa
import pytest

from discreet import publish
from discreet.answer.instead.named import in_quotes
from discreet.errors import QueryError

NAMES = ("# Kinder", 'Wohn "Ort"', "Kosten €", "order", "Größe", "sex")


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    rows = {
        "# Kinder": [i % 4 for i in range(60)],
        'Wohn "Ort"': ["Köln", "Bonn", "Jülich"] * 20,
        "order": [i % 7 for i in range(60)],
        "Größe": [150 + i % 9 for i in range(60)],
        "sex": [*"fm"] * 30,
        "Kosten €": [100.5 + i % 13 for i in range(60)],
    }
    rules = {"quasi": [*rows][:5], "sensitive": "Kosten €", "guarantee": {"l": 3}, "name": "my cases"}
    return publish(pa.table(rows), rules, to=tmp_path_factory.mktemp("named") / "release", seed=1)


@pytest.mark.parametrize(
    ("asked", "instead"),
    [
        ("SELECT AVG(Kosten €) FROM microdata", 'SELECT AVG("Kosten €") FROM microdata'),
        ("SELECT AVG(kosten  €) FROM my cases", 'SELECT AVG("Kosten €") FROM "my cases"'),
        (
            "SELECT Wohn \"Ort\", COUNT(*) FROM microdata WHERE # Kinder > 1 AND sex <> '# Kinder' GROUP BY 1",
            'SELECT "Wohn ""Ort""", COUNT(*) FROM microdata WHERE "# Kinder" > 1 AND sex <> \'# Kinder\' GROUP BY 1',
        ),
    ],
)
def test_a_name_without_its_quotes(release, asked, instead):
    with pytest.raises(QueryError) as refused:
        release.ask(asked)
    assert "write names with spaces or other signs in double quotes, such as " in refused.value.hint
    assert refused.value.instead == instead
    assert release.ask(instead).table.num_rows >= 1


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT AVG("Kosten €") FROM microdata WHERE "# Kinder" = 2',
        "SELECT AVG(Größe) FROM microdata WHERE sex = 'Kosten €' ORDER BY 1",
        'SELECT "Wohn ""Ort""" FROM microdata',
        "SELECT '",
    ],
)
def test_what_needs_none_stays_as_it_is(sql):
    assert in_quotes(sql, NAMES) == sql


def test_other_refusals_keep_their_hint(release):
    with pytest.raises(QueryError) as refused:
        release.ask("SELECT AVG(wage) FROM microdata")
    assert "double quotes" not in refused.value.hint
