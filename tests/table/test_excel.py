"""Excel sheets: what cells hold is what is read; a sheet that is not clear is asked for."""

import datetime as dt
import sys

import pytest

from discreet import Policy, Vault, publish, read
from discreet.errors import InputError, MissingExtraError, PolicyError
from table.workbook import workbook

HEAD = ["name", "age", "height", "born", "seen", "member", "zip"]
DAY, MOMENT = dt.date(1990, 5, 1), dt.datetime(2026, 1, 2, 3, 30)  # noqa: DTZ001
ROWS = [["Ann", 34, 1.75, DAY, MOMENT, True, "02139"], ["Bob", 27, 2, DAY, MOMENT, False, "00501"], [""] + [None] * 6]


def rows(table):
    return table.engine.run(table.select(table.names())).to_pylist()


def test_cells_are_what_they_are(tmp_path):
    with read(workbook(tmp_path / "people.xlsx", {"people": [HEAD, *ROWS]})) as table:
        assert {column.name: column.kind for column in table.columns} == dict(
            zip(HEAD, ["string", "integer", "float", "date", "timestamp", "boolean", "string"], strict=True)
        )
        assert rows(table) == [dict(zip(HEAD, row, strict=True)) for row in ROWS[:2]]
        assert table.name == "people"


def test_one_sheet_of_several_must_be_named(tmp_path):
    path = workbook(
        tmp_path / "t.xlsx", {"2025": [["a"], [1]], "2026": [["a"], [2]], "notes": [["x"]]}, hidden=["notes"]
    )
    with pytest.raises(InputError, match=r'has 2 sheets: `2025`, `2026`\nHint: set sheet = "2025", or another'):
        read(path)
    assert rows(read(path, excel={"sheet": "2026"})) == [{"a": 2}]
    with pytest.raises(InputError, match=r"has no sheet `2024`\nHint: did you mean `202"):
        read(path, excel={"sheet": "2024"})
    with pytest.raises(InputError, match=r"`excel.sheet`: expected the name of a sheet, got 1"):
        read(path, excel={"sheet": 1})


def test_a_mixed_column_is_refused_only_if_it_is_published(tmp_path):
    data = [
        ["age", "wage", "remark"],
        *([20 + i % 5, i % 7 if i % 6 else "n/a", i if i % 2 else "x y"] for i in range(40)),
    ]
    path = workbook(tmp_path / "t.xlsx", {"t": data})
    keys = {"quasi": ["age"], "sensitive": "wage", "drop": ["remark"], "guarantee": {"l": 2}}
    message = (
        r'`wage` holds texts and numbers, first in row 3; if they stand for no value, set missing = \["n/a"\] under'
    )
    with pytest.raises(PolicyError, match=message):
        publish(path, Policy(**keys), to=tmp_path / "release")
    rules = Policy(**keys, excel={"missing": ["n/a"]}, missing_sensitive="withhold")
    assert publish(path, rules, to=tmp_path / "release", seed=1).withheld == 7


@pytest.mark.parametrize(
    ("sheet", "message"),
    [
        ([], "is empty"),
        (
            [["People of 2026", None], ["age", "wage"], [1, 2]],
            r"the first row does not name every column\nHint: delete titles",
        ),
        ([["age", "Age"], [1, 2]], "stands twice"),
    ],
    ids=["empty", "title", "twice"],
)
def test_sheets_that_are_no_table(tmp_path, sheet, message):
    with pytest.raises(InputError, match=message):
        read(workbook(tmp_path / "t.xlsx", {"t": sheet}))


def test_what_is_no_workbook(tmp_path):
    (tmp_path / "t.xlsx").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"is not an Excel file, or it is damaged, or has a password"):
        read(tmp_path / "t.xlsx")
    with pytest.raises(InputError, match="there is no file"):
        read(tmp_path / "absent.xlsx")


def test_a_sheet_without_rows(tmp_path):
    assert read(workbook(tmp_path / "t.xlsx", {"t": [["a", "b"]]})).rows == 0


def test_without_the_library_it_is_said_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'discreet\[excel\]', or save the sheet as CSV"):
        read(workbook(tmp_path / "t.xlsx", {"t": [["a"], [1]]}))


def test_a_vault_takes_sheets_too(tmp_path):
    rules = Policy(
        identifiers=["id"],
        quasi=["age"],
        sensitive="ill",
        guarantee={"l": 2},
        publication="generalization",
        excel={"sheet": "b"},
        accept={"looks": "invented"},
    )
    data = [["id", "age", "ill"], *([f"p{i}", i % 9, "ab"[i % 2]] for i in range(40))]
    with Vault.create(tmp_path / "vault", rules) as vault:
        assert vault.append(workbook(tmp_path / "t.xlsx", {"a": [["x"]], "b": data})).rows == 40
