"""`discreet init`: a draft that assigns nothing, says what to look at, and loads once its comments are confirmed."""

import json
import re
import tomllib

import pyarrow.csv
import pytest

import discreet
from discreet import Policy
from discreet.errors import PolicyError
from discreet.table.people import people
from discreet.table.suggest import drafted
from table.workbook import workbook


def confirmed(path):
    """The draft with every suggestion taken."""
    path.write_text(re.sub(r"(?m)^# (\w+ = )", r"\1", path.read_text(encoding="utf-8")), encoding="utf-8")
    return path


@pytest.fixture
def patients(tmp_path):
    pyarrow.csv.write_csv(people(1_000), tmp_path / "patients.csv")
    return tmp_path / "patients.csv"


def test_from_a_table_to_a_release(run, patients, tmp_path):
    draft = tmp_path / "policy.toml"
    status, out, err = run("init", patients, "--to", draft)
    assert (status, err) == (0, "")
    assert (
        f"check each suggestion, and remove the `#` before those that are right. Then:\n  discreet publish {patients} --policy {draft} --to RELEASE\n"
        in out
    )
    assert list(tomllib.loads(draft.read_text())) == ["name"], "nothing is assigned"
    with pytest.raises(PolicyError) as caught:
        Policy.load(draft)
    lines = draft.read_text().splitlines()
    for mistake in caught.value.mistakes:
        assert "a comment suggests it: look at it, and remove the `#` before it" in mistake.message
        assert lines[mistake.line - 1].startswith(f"# {mistake.key} = ")
    assert {mistake.key for mistake in caught.value.mistakes} == {"quasi", "sensitive", "guarantee"}
    rules = Policy.load(confirmed(draft))
    assert rules.identifiers == ("name",)
    assert rules.sensitive == "diagnosis"
    assert rules.drop == ("salary",), "one sensitive column is protected; another must not be published as it is"
    status, out, _ = run("publish", patients, "--policy", draft, "--to", tmp_path / "release")
    assert status == 0
    assert "verified" in out


def test_nothing_is_overwritten(run, patients, tmp_path):
    (tmp_path / "policy.toml").write_text("mine\n")
    status, _, err = run("init", patients, "--to", tmp_path / "policy.toml")
    assert status == 1
    assert "exists already" in err
    assert (tmp_path / "policy.toml").read_text() == "mine\n"


def test_how_a_file_is_written_is_found(run, tmp_path):
    rows = "".join(
        f"Zoë {i}:{i % 28 + 1:02}.0{i % 9 + 1}.1990:{'-' if i == 3 else f'{i % 7},5'}:{i % 5}\n" for i in range(90)
    )
    path = tmp_path / "amt.csv"
    path.write_bytes(("name:born:wage:size\n" + rows).encode("windows-1252"))
    status, out, _ = run("init", path, "--to", tmp_path / "p.toml", "--json")
    assert status == 0
    assert json.loads(out)["roles"] == {"name": "identifiers", "born": "quasi", "wage": "sensitive", "size": "quasi"}
    found = tomllib.loads((tmp_path / "p.toml").read_text(encoding="utf-8"))["csv"]
    assert found == {
        "encoding": "windows-1252",
        "separator": ":",
        "dates": "DD.MM.YYYY",
        "decimal": ",",
        "missing": ["-"],
    }
    confirmed(tmp_path / "p.toml").open("a").close()
    rules = Policy.load(tmp_path / "p.toml")
    with discreet.read(path, csv=rules.csv) as table:
        assert [column.kind for column in table.columns] == ["string", "date", "float", "integer"]


def test_dates_that_may_be_either_are_left_to_the_steward(run, tmp_path):
    (tmp_path / "t.csv").write_text("born;wage\n01/02/2020;1\n03/04/2020;2\n")
    run("init", tmp_path / "t.csv", "--to", tmp_path / "p.toml")
    text = (tmp_path / "p.toml").read_text()
    assert '# dates = "DD/MM/YYYY"\n# dates = "MM/DD/YYYY"\n' in text
    assert tomllib.loads(text)["csv"] == {}


@pytest.mark.parametrize("name", ['say "hi"', "a\nb", "tab\tbed", "\x1b[2J", "#", "ключ", "\\", "]", "x" * 3_000])
def test_any_name_of_a_column(tmp_path, name):
    from discreet.table.suggest import drafted

    pyarrow.csv.write_csv(pyarrow.table({name: ["1,5", "2,5", "2,5"], "wage": [1, 2, 2]}), tmp_path / "t.csv")
    (tmp_path / "p.toml").write_text(drafted(tmp_path / "t.csv").text, encoding="utf-8")
    assert Policy.load(confirmed(tmp_path / "p.toml")).quasi == (name,)


def test_a_sheet(run, tmp_path):
    book = workbook(tmp_path / "t.xlsx", {"a": [["x"], [1]], "b": [["age", "wage"], [1, 2], [2, 2], [1, 3]]})
    status, _, err = run("init", book, "--to", tmp_path / "p.toml")
    assert status == 1
    assert "use the option --sheet" in err
    assert run("init", book, "--to", tmp_path / "p.toml", "--sheet", "b")[0] == 0
    assert Policy.load(confirmed(tmp_path / "p.toml")).excel == {"sheet": "b"}


def test_what_is_no_table(run, tmp_path):
    for name, text in (("absent.csv", None), ("t.txt", "a,b\n"), ("empty.csv", "")):
        if text is not None:
            (tmp_path / name).write_text(text)
        status, _, err = run("init", tmp_path / name, "--to", tmp_path / "p.toml")
        assert status == 1
        assert err.startswith("error: ")
    assert not (tmp_path / "p.toml").exists()


def test_what_may_be_either_is_left_to_the_steward(tmp_path):
    """1,984 may be a thousand or two; marks beside it are sure, and stand there once."""
    path = tmp_path / "t.csv"
    path.write_text(
        "x\ty\n" + "".join(f"{i}\t{1 + i % 9},{100 + i}\n" for i in range(40)) + "41\tN/A\n", encoding="utf-8"
    )
    text = drafted(path).text
    assert text.count("missing = ") == 1
    assert '\nmissing = ["N/A"]\n' in text
    assert 'may be either; remove the `#` of one:\n# decimal = ","\n# thousands = ","\n' in text
    tomllib.loads(text.replace('# thousands = ","', 'thousands = ","'))


def test_marks_in_quotes_are_pointed_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('x;y\n1;"k. A."\nk. A.;b\n' + "".join(f"{i};b\n" for i in range(9)), encoding="utf-8")
    text = drafted(path).text
    assert '\nmissing = ["k. A."]\n' in text
    assert "\n# missing_quoted = true\n" in text


@pytest.mark.parametrize(
    ("later", "written"),
    [
        ("03.04.1999;1,5;k. A.;x", 'dates = "DD.MM.YYYY"'),
        ("soon;1,5;12;x", 'decimal = ","'),
        ("03.04.1999;1,5 m;12;x", 'dates = "DD.MM.YYYY"'),
        ("03.04.1999;1.500,5;n/a;x", 'thousands = "."'),
        ('03.04.1999;1,5;12;"of two\nlines"', 'decimal = ","'),
    ],
)
def test_the_first_lines_of_a_long_file_decide_nothing_alone(tmp_path, monkeypatch, later, written):
    """What is found with their help is what is found without."""
    from discreet.table import suggest

    rows = [f"{1 + i % 28:02}.{1 + i % 12:02}.1980;{i % 7},{i % 10};{i};x" for i in range(40)]
    rows.insert(10 if "\n" in later else 30, later)  # a text of two lines is cut where the first lines end
    path = tmp_path / "long.csv"
    path.write_text("\n".join(["born;height;number;rest", *rows]), encoding="utf-8")
    slow = suggest.drafted(path)
    assert written in slow.text
    monkeypatch.setattr(suggest, "LONG", 0)
    monkeypatch.setattr(suggest, "FIRST", 12)
    assert suggest.drafted(path) == slow


def test_a_draft_asks_whether_a_row_is_a_person(tmp_path):
    """It names the column that may tell people apart; the line, added as it stands, is a key of the policy."""
    lines = ["visit,patient_id,age,ill"]
    lines += [f"V{i},P{i if i < 90 else 3},{20 + i % 50},{'abcde'[i % 5]}" for i in range(100)]
    (tmp_path / "visits.csv").write_text("\n".join(lines), encoding="utf-8")
    text = drafted(tmp_path / "visits.csv").text
    assert "# Is every row another person?" in text
    [line] = re.findall(r"(?m)^#   (person = .*)$", text)
    assert tomllib.loads(line) == {"person": "patient_id"}
    assert "person" not in re.findall(r"(?m)^#? ?(\w+) = ", text), "it is no suggestion"
