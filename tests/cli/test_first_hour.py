"""The first hour of a new user: twenty and more mistakes, each with a message that, followed to the letter, mends it.

A `Desk` has a file, a policy and a target. `publish` is run; whatever is said is done by `RULES`, each of which knows
one way of saying what to do and nothing of the mistake; until a release is there.
"""

import gzip
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from table.workbook import workbook

POLICY = {"identifiers": '["name"]', "quasi": '["age", "sex"]', "sensitive": '"wage"', "guarantee": "{ l = 2 }"}
ROUNDS = 5


@dataclass
class Desk:
    """What a steward has before her; `file` is the name of the table."""

    place: Path
    policy: dict = field(default_factory=lambda: dict(POLICY))
    csv: dict = field(default_factory=dict)
    excel: dict = field(default_factory=dict)
    file: str = "staff.csv"
    target: str = "release"
    more: str = ""

    def rows(
        self, *, sign=",", wage=lambda i: str(100 + i % 9), age=lambda i: str(20 + i % 30), encoding="utf-8", name=None
    ):
        """A table of eighty people."""
        lines = [sign.join(("name", "age", "sex", "wage"))]
        lines += [sign.join((f"Zoë {i}", age(i), "fm"[i % 2], wage(i))) for i in range(80)]
        data = ("\n".join(lines) + "\n").encode(encoding)
        path = self.place / (name or self.file)
        path.write_bytes(gzip.compress(data) if path.name.endswith(".gz") and name is None else data)
        return self

    def write(self):
        lines = [f"{key} = {value}" for key, value in self.policy.items()]
        for table in ("csv", "excel"):
            held = getattr(self, table)
            lines += [f"[{table}]", *(f"{key} = {value}" for key, value in held.items())] if held else []
        (self.place / "policy.toml").write_text("\n".join(lines) + "\n" + self.more, encoding="utf-8")
        tomllib.loads((self.place / "policy.toml").read_text(encoding="utf-8"))


def set_under(desk, found):
    """`set KEY = VALUE and KEY = VALUE under [csv]`; of two ways, the first."""
    told = getattr(desk, found["table"])
    for pair in (
        re.split(r" and | or ", found["keys"]) if " or " not in found["keys"] else [found["keys"].split(" or ")[0]]
    ):
        key, value = pair.split(" = ", 1)
        told[key] = value.removesuffix(", or another of them,")


def set_key(desk, found):
    desk.policy[found["key"]] = found["value"]


def meant(desk, found):
    """A word in a line of the policy that was meant otherwise."""
    key, was, word = found["key"], found["was"], found["word"]
    if was is None:  # the key itself
        desk.policy[word] = desk.policy.pop(key)
    else:
        desk.policy[key] = desk.policy[key].replace(was, word)


def renamed(desk, found):
    (desk.place / desk.file).rename(desk.place / desk.file.removesuffix(".gz"))
    desk.file = desk.file.removesuffix(".gz")


def elsewhere(desk, found):
    desk.target += "-2"


def threshold(desk, found):
    desk.policy["guarantee"] = f"{{ l = {found['l']} }}"


def accepted(desk, found):
    desk.policy[f"accept.{found['name']}"] = '"looked at"'


def confirmed(desk, found):
    desk.more = ""
    text = (desk.place / "policy.toml").read_text(encoding="utf-8")
    lines = re.sub(r"(?m)^# (\w+) = (.*)$", r"\1 = \2", text)
    values = re.findall(r"(?m)^(\w+) = (.*)$", lines)
    desk.policy = {key: value for key, value in values if key not in {"encoding", "separator", "decimal"}}


def two_lines(desk, found):
    desk.policy |= {"person": found["person"], "identifiers": found["others"]}


def saved_as_csv(desk, found):
    (desk.place / desk.file).rename(desk.place / "staff.csv")
    desk.file = "staff.csv"


RULES = (
    (r"set (?P<keys>\w+ = .+?)(?:,? or another of them,)? under \[(?P<table>csv|excel)\]", set_under),
    (r"`(?P<key>\w+)`: the table has no column `(?P<was>[^`]+)`; did you mean `(?P<word>[^`]+)`\?", meant),
    (r"`(?P<key>\w+)`: got '(?P<was>[^']+)'; did you mean `(?P<word>[^`]+)`\?", meant),
    (
        r"`(?P<key>\w+)`(?P<was>: is not a key of a policy)?: is not a key of a policy; did you mean `(?P<word>\w+)`\?",
        meant,
    ),
    (r"remove the `#` before it", confirmed),
    (r'or set (?P<key>drop) = (?P<value>"rest")', set_key),
    (r'set (?P<key>missing_sensitive) = (?P<value>"withhold")', set_key),
    (r"write two lines: person = (?P<person>\"[^\"]+\") and identifiers = (?P<others>\[.*?\])", two_lines),
    (r"set l = (?P<l>\d+)", threshold),
    (r"choose another folder", elsewhere),
    (r"remove the ending `.gz`", renamed),
    (r"save it as one of these", saved_as_csv),
    (r'accept\.(?P<name>[\w.]+) = "…"', accepted),
)


def follow(desk, message):
    """Do what a message says; the first way of saying it that is known."""
    for pattern, act in RULES:
        if found := re.search(pattern, message):
            act(desk, {"was": None, **found.groupdict()})
            return
    raise AssertionError(f"nothing to follow in: {message}")


def numbers(**keys):
    return {**POLICY, "publication": '"permutation"', **keys}


def book(desk, sheets):
    desk.file = "staff.xlsx"
    workbook(desk.place / desk.file, sheets)
    return desk


def sheet(wage=lambda i: 100 + i % 9):
    return [["name", "age", "sex", "wage"], *([f"p{i}", 20 + i % 30, "fm"[i % 2], wage(i)] for i in range(80))]


def scripts():  # noqa: C901, PLR0915 - a list
    """What is done wrong, how, and what the first message has in it."""

    def made(title, says):
        def keep(make):
            found.append(pytest.param(make, says, id=title))
            return make

        return keep

    found = []

    @made("decimal commas", 'set decimal = ","')
    def _(desk):
        desk.policy = numbers()
        return desk.rows(sign=";", wage=lambda i: f"{100 + i % 9},50")

    @made("points between thousands", 'thousands = "."')
    def _(desk):
        desk.policy = numbers()
        return desk.rows(sign=";", wage=lambda i: f"{1 + i % 9}.500,00")

    @made("a separator that is not the file's", "looks separated by `;`")
    def _(desk):
        desk.csv = {"separator": '"|"'}
        return desk.rows(sign=";")

    @made("a rare separator", 'set separator = ":"')
    def _(desk):
        return desk.rows(sign=":")

    @made("the encoding of an office", 'set encoding = "windows-1252"')
    def _(desk):
        return desk.rows(encoding="windows-1252")

    @made("the encoding of Excel's Unicode text", 'set encoding = "utf-16"')
    def _(desk):
        return desk.rows(sign="\t", encoding="utf-16")

    @made("marks for no value", 'set missing = ["NA"]')
    def _(desk):
        desk.policy = numbers()
        return desk.rows(wage=lambda i: "NA" if i == 7 else str(100 + i % 9))

    @made("missing values", 'set missing_sensitive = "withhold"')
    def _(desk):
        return desk.rows(wage=lambda i: "" if i == 7 else str(100 + i % 9))

    @made("dates with points", 'set dates = "DD.MM.YYYY"')
    def _(desk):
        desk.policy = numbers(guarantee="{ k = 2, e = 1 }")
        return desk.rows(wage=lambda i: f"{1 + i % 28:02}.0{1 + i % 9}.2020")

    @made("dates that may be either", 'dates = "DD/MM/YYYY" or dates = "MM/DD/YYYY"')
    def _(desk):
        desk.policy = numbers(guarantee="{ k = 2, e = 1 }")
        return desk.rows(wage=lambda i: f"0{1 + i % 9}/0{1 + i % 5}/2020")

    @made("times with offsets", 'set zone = "UTC"')
    def _(desk):
        return desk.rows(age=lambda i: f"2020-01-01 {i % 24:02}:00:00+02")

    @made("a plain file called .gz", "is not compressed by gzip")
    def _(desk):
        desk.file = "staff.csv.gz"
        return desk.rows(name="staff.csv.gz")

    @made("a file of another ending", "is not a `.csv`")
    def _(desk):
        desk.file = "staff.txt"
        return desk.rows()

    @made("a workbook of two sheets", 'set sheet = "2026"')
    def _(desk):
        return book(desk, {"2026": sheet(), "notes": [["x"], [1]]})

    @made("texts among the numbers of a sheet", 'set missing = ["n/a"] under [excel]')
    def _(desk):
        desk.policy = numbers(missing_sensitive='"withhold"')
        return book(desk, {"2026": sheet(lambda i: "n/a" if i == 7 else 100 + i % 9)})

    @made("another case of a name", "did you mean `age`?")
    def _(desk):
        desk.policy["quasi"] = '["Age", "sex"]'
        return desk.rows()

    @made("a misspelt name", "did you mean `wage`?")
    def _(desk):
        desk.policy["sensitive"] = '"wages"'
        return desk.rows()

    @made("a misspelt key", "did you mean `identifiers`?")
    def _(desk):
        desk.policy["identifier"] = desk.policy.pop("identifiers")
        return desk.rows()

    @made("a misspelt word", "did you mean `anatomy`?")
    def _(desk):
        desk.policy["publication"] = '"anatomie"'
        return desk.rows()

    @made("a column that is not listed", "the column `sex` has no role")
    def _(desk):
        desk.policy["quasi"] = '["age"]'
        return desk.rows()

    @made("too much promised", "set l = 8")
    def _(desk):
        desk.policy["guarantee"] = "{ l = 50 }"
        return desk.rows()

    @made("the same file twice in one", "`name` repeats: 160 rows are of 80 people")
    def _(desk):
        desk.rows()
        path = desk.place / desk.file
        head, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join([head, *lines, *lines]), encoding="utf-8")
        return desk

    @made("visits that are taken for people", "every row is taken for a person")
    def _(desk):
        desk.policy["identifiers"] = '["visit", "name"]'
        desk.rows()
        path = desk.place / desk.file
        head, *lines = path.read_text(encoding="utf-8").splitlines()
        again = [f"{i},{line}" for i, line in enumerate([*lines, *lines[:30]])]
        path.write_text("\n".join([f"visit,{head}", *again]), encoding="utf-8")
        return desk

    @made("a release that is there already", "exists already")
    def _(desk):
        (desk.place / "release").mkdir()
        return desk.rows()

    @made("a draft that nobody has looked at", "remove the `#` before it")
    def _(desk):
        desk.policy = {}
        desk.more = "".join(f"# {key} = {value}\n" for key, value in POLICY.items())
        return desk.rows()

    return found


@pytest.mark.parametrize(("make", "says"), scripts())
def test_a_message_that_is_followed_leads_to_a_release(run, tmp_path, make, says):
    desk = make(Desk(tmp_path))
    told = []
    for _ in range(ROUNDS):
        desk.write()
        status, out, err = run(
            "publish", desk.place / desk.file, "--policy", desk.place / "policy.toml", "--to", desk.place / desk.target
        )
        if status == 0:
            break
        told.append(err)
        follow(desk, err)
    assert says in told[0]
    assert "Hint:" in told[0] or "mistake" in told[0]
    assert status == 0, told
    assert "verified" in out


def test_there_are_twenty():
    assert len(scripts()) >= 20


def test_the_same_rows_appended_twice_to_a_vault(run, tmp_path):
    desk = Desk(tmp_path).rows()
    desk.policy |= {"publication": '"generalization"', "accept.looks": '"invented"'}
    desk.write()
    assert run("vault", "init", tmp_path / "vault", "--policy", tmp_path / "policy.toml")[0] == 0
    assert run("vault", "append", tmp_path / "vault", tmp_path / "staff.csv")[0] == 0
    status, _, err = run("vault", "append", tmp_path / "vault", tmp_path / "staff.csv")
    assert status == 1
    assert "append only rows that are new" in err
    text = (tmp_path / "staff.csv").read_text(encoding="utf-8").replace("Zoë", "Ann")
    (tmp_path / "new.csv").write_text(text, encoding="utf-8")
    assert run("vault", "append", tmp_path / "vault", tmp_path / "new.csv")[0] == 0


def messy(path):
    """A table as offices keep it: Latin-1, semicolons, decimal commas, dates with points, free text, a row twice."""
    lines = ["Patienten-Nr.;Geburtsdatum;Geschlecht;Wohnort (Stadt);Größe in m;Diagnose;Bemerkung des Arztes"]
    for i in range(120):
        town, ill = ("Köln", "Düren", "k. A.")[i % 3], ("Grippe", "Asthma", "Migräne", "Gicht", "k. A.")[i * i // 7 % 5]
        birth, height = f"{1 + i % 28:02}.{1 + i % 12:02}.{1950 + i % 50}", f"1,{50 + i % 50}"
        lines.append(f'P{i:05};{birth};{"mw"[i % 2]};{town};{height};{ill};"Müde; kommt wieder am {i % 80}."')
    path.write_bytes("\r\n".join([*lines, lines[52]]).encode("latin-1"))


def test_ten_commands_from_a_messy_file_to_a_release(run, tmp_path, monkeypatch):
    """What the README says, with what the messages say: nine commands after `pip install`, and three edits."""
    monkeypatch.chdir(tmp_path)
    file, policy = Path("Patienten März.csv"), Path("policy.toml")
    messy(file)
    publish = ("publish", file, "--policy", policy, "--to", "release")

    def edit(*changes):
        text = policy.read_text(encoding="utf-8")
        for pattern, new in changes:
            text, found = re.subn(pattern, new, text, flags=re.MULTILINE)
            assert found, pattern
        policy.write_text(text, encoding="utf-8")

    status, _, err = run("inspect", file)
    assert (status, "`discreet init 'Patienten März.csv'` writes a policy" in err) == (1, True)
    status, out, _ = run("init", file)
    assert (status, "discreet publish 'Patienten März.csv' --policy policy.toml --to RELEASE" in out) == (0, True)
    edit((r"^# (\w+ = )", r"\1"))  # every suggestion is right
    assert 'drop = ["Bemerkung des Arztes"]' in policy.read_text(encoding="utf-8"), "free text is not to be published"
    assert run("inspect", file, "--policy", policy)[0] == 0
    status, _, err = run(*publish)
    [missing] = re.findall(r'set (missing_sensitive = "withhold")', err)
    edit((r"^(identifiers = .*)$", rf"\1\n{missing}"))
    status, _, err = run(*publish)
    assert (status, "(1 row repeats another in every column)" in err) == (1, True)
    assert "remove rows that are in the table twice by mistake" in err
    file.write_bytes(file.read_bytes().rpartition(b"\r\n")[0])
    status, out, _ = run(*publish)
    assert (status, "99 rows in " in out) == (0, True)
    for command in (("show",), ("ask", "SELECT COUNT(*) FROM microdata WHERE Geschlecht = 'w'"), ("verify",)):
        assert run(command[0], "release", *command[1:])[0] == 0


@pytest.mark.parametrize(
    ("asked", "says", "follow"),
    [
        (
            "SELECT COUNT(*) FROM microdata WHERE sex = 'F'",
            r"has no value 'F' in the release; the nearest: (?P<meant>'f')",
            lambda sql, found: sql.replace("'F'", found["meant"]),
        ),
        (
            "SELECT AVG(wages) FROM microdata",
            r"Write instead: discreet ask \S+ '(?P<sql>.+)'",
            lambda _, found: found["sql"],
        ),
        ("SELECT * FROM microdata", r"Write instead: discreet ask \S+ '(?P<sql>.+)'", lambda _, found: found["sql"]),
    ],
    ids=["a misspelt value", "a misspelt column", "single rows"],
)
def test_a_question_that_is_mended_as_it_is_told(run, tmp_path, asked, says, follow):
    desk = Desk(tmp_path).rows()
    desk.write()
    assert run("publish", tmp_path / "staff.csv", "--policy", tmp_path / "policy.toml", "--to", tmp_path / "r")[0] == 0
    found = re.search(says, run("ask", tmp_path / "r", asked)[2])
    status, out, err = run("ask", tmp_path / "r", follow(asked, found))
    assert (status, "_low" in out, "has no value" in err) == (0, True, False)
