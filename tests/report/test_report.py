"""The report: its facts are those of the sources, the public one knows no truth, and nothing in it is markup."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.audit import attacks
from discreet.audit.attacks.attack import Failed, Rate, Success, Threat
from discreet.errors import InputError
from discreet.report.sections import SECTIONS

QUASI = ["age", "sex", "town"]
ODD = "</script><b>x\u202e\x1b[2J" + "ö" * 400


class Guesser:
    """An attack that takes no time: it knows the truth's first value."""

    name = "guesser"
    threat = Threat("nothing", "a value", "the release alone")

    def suits(self, release, given):
        return None

    def run(self, release, given, *, progress):
        people = len(given.scores())
        return Success("guesser", self.threat, people, Rate.of(people / 4, people), Rate.of(people / 8, people))


class Unsuited(Guesser):
    name = "unsuited"

    def suits(self, release, given):
        return "it is about boxes"


def invented(rows=240, seed=1):
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "age": random.integers(20, 90, rows),
            "sex": random.choice(["f", "m"], rows),
            "town": random.choice(["Aa", "Bee", "Cey"], rows),
            "illness": random.choice([f"illness {i}" for i in range(9)], rows),
        }
    )


def published(table, to, **changes):
    policy = {
        "quasi": QUASI,
        "sensitive": "illness",
        "guarantee": {"l": 3},
        "partition": "deal",
        "name": "patients",
        **changes,
    }
    return discreet.publish(table, discreet.Policy(**policy), to=to).path


@pytest.fixture(autouse=True, scope="module")
def cheap():
    """Attacks and questions that take no time; what they find is tried where they are."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(attacks, "ATTACKS", {"guesser": Guesser(), "unsuited": Unsuited()}, raising=False)
        patched.setattr("discreet.report.usefulness.QUERIES", 20)
        yield


@pytest.fixture(scope="module")
def table():
    return invented()


@pytest.fixture(scope="module")
def release(table, tmp_path_factory):
    return published(table, tmp_path_factory.mktemp("release") / "r")


@pytest.fixture(scope="module")
def written(table, release, tmp_path_factory, cheap):
    place = tmp_path_factory.mktemp("report")
    return discreet.report(release, to=place, truth=table, recipient="a <b>office</b>", population=100_000)


class Strict(HTMLParser):
    """Every element is closed, in order; what is loaded, and the headings."""

    alone = frozenset({"meta", "br"})

    def __init__(self, text):
        super().__init__()
        self.open, self.headings, self.loaded, self.ids, self.within, self.images = [], [], [], set(), None, []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, kind, given):
        given = dict(given)
        self.loaded += [
            (kind, key, given[key])
            for key in ("src", "href", "data", "srcset", "poster", "action", "xlink:href")
            if key in given
        ]
        assert not any(key.startswith("on") for key in given)
        if "id" in given:
            assert given["id"] not in self.ids
            self.ids.add(given["id"])
        if given.get("role") == "img":
            self.images.append(given["aria-label"])
        if kind not in self.alone:
            self.open.append(kind)
        self.within = kind

    def handle_startendtag(self, kind, given):
        pass

    def handle_endtag(self, kind):
        assert self.open.pop() == kind
        self.within = None

    def handle_data(self, data):
        if self.within in {"h1", "h2"}:
            self.headings.append(data)


def texts(written, audience):
    return {path.name: path.read_text() for path in written.files if f".{audience}." in path.name}


# Of what a memo consists: signs of a line, the height of a line in lines of text at 9 points, and the room around it.
MEMO = {
    "h1": (52, 1.7, 1),
    "h2": (80, 1.3, 1.5),
    "h4": (95, 1.1, 0.6),
    "p": (95, 1, 0.3),
    "dd": (80, 1, 0.25),
    "div": (88, 1.2, 1.5),
}
A4 = 63  # such lines, beside the line to sign: Chromium prints one page of so many, and two of 66


def printed_lines(memo):
    """How high a memo is on paper, estimated from above."""
    found = 0.0
    body = memo[memo.index("<body") :]
    for start, inside in re.findall(
        r"<(h1|h2|h4|p|dd|div class=\"(?:line|alert)\")[^>]*>(.*?)</(?:\w+)>\s*(?=<)", body
    ):
        signs, high, room = MEMO[start.split()[0]]
        found += -(-len(unescape(re.sub(r"<[^>]+>", "", inside))) // signs) * high + room
    return found


def test_the_memo_is_one_page(written):
    """As it is, and at its longest: names, a promise and a failure of any length, and every attack that it can name."""
    from discreet.report.page import memo_page
    from discreet.report.wp216 import answers

    for audience in ("public", "private"):
        assert 30 < printed_lines(texts(written, audience)[f"report.{audience}.memo.html"]) < A4
    facts = written.private
    named = (("linkage", 5, 8), ("presence", 5, 8), ("population", 9, 10))
    made = [
        Success(name, Guesser.threat, 9_000, Rate.of(9_000 * right // of, 9_000), Rate.of(1, 9_000))
        for name, right, of in named
    ]
    published = replace(facts.published, title=ODD, promise="no sensitive value, " * 90, for_publication=False)
    found = answers(published, facts.after, made, broken=None)
    assert all(f"`{name}`" in "".join(sum((each.because for each in found), ())) for name, *_ in named)
    longest = memo_page(replace(facts, published=published, attacks=tuple(made), answers=found))
    assert printed_lines(longest) < A4
    failing = replace(facts.checks[0], ok=False, detail="`a file` is wrong, " * 90)
    nothing = answers(published, None, [], broken="the release does not verify")
    broken = replace(facts, verified=False, checks=(failing,), published=published, after=None, utility=None)
    assert printed_lines(memo_page(replace(broken, attacks=(), answers=nothing))) < A4


def test_headings_are_in_the_order_of_the_standard(written):
    expected = ["Report on patients", "In short", *(each.heading for each in SECTIONS)]
    for audience in ("public", "private"):
        page = Strict(texts(written, audience)[f"report.{audience}.html"])
        assert page.headings == expected
    topics = [heading.split(":")[0].split(". ")[1] for heading in expected[2:]]
    assert topics == [
        "Context",
        "Data",
        *["Identifiability"] * 3,
        "What the release is good for",
        "Singling out, linkability, inference",
        "What was not tested",
        "Governance",
    ]


def test_pages_are_whole_by_themselves(written):
    for path in written.files:
        if path.suffix != ".html":
            continue
        text = path.read_text()
        page = Strict(text)
        assert all(kind == "a" and target.startswith("#") for kind, _, target in page.loaded)
        assert {target[1:] for _, _, target in page.loaded} <= page.ids
        assert not re.search(r"url\(|@import|https?:|<script|<img|<link|<iframe", text)
        assert "default-src 'none'" in text.replace("&#x27;", "'")
        assert len(text) < 3_000_000
        assert all(len(label) > 20 for label in page.images)


def test_each_page_says_whose_it_is(written):
    for audience, words in (("public", "it may be handed out"), ("private", "Private: not to be handed out")):
        for name, text in texts(written, audience).items():
            if name.endswith(".html"):
                running = text[text.index('<header class="running">') : text.index("</header>")]
                assert words in running
    assert {path.stat().st_mode & 0o777 for path in written.files if ".private." in path.name} == {0o600}
    style = texts(written, "private")["report.private.html"]
    assert re.search(r"\.running \{ display: table-header-group; break-inside: avoid", style)  # on each printed page


def test_public_files_do_not_depend_on_the_truth(table, release, written, tmp_path):
    alone = discreet.report(release, to=tmp_path / "alone", recipient="a <b>office</b>")
    assert texts(written, "public") == texts(alone, "public")
    assert alone.private is None
    assert len(alone.files) == 3
    facts = json.loads(texts(written, "public")["report.public.json"])
    assert (facts["before"], facts["utility"], facts["belongs"], facts["swept"]) == (None, None, None, None)
    assert [each["why"] for each in facts["attacks"]] == [
        "without the private table nobody can say how often it is right",
        "it is about boxes",
    ]
    assert facts["after"]["journalist"] is None


def test_facts_are_those_of_the_sources(table, release, written):
    facts = json.loads(texts(written, "private")["report.private.json"])
    assert facts["checks"] == [
        {"name": c.name, "ok": c.ok, "detail": c.detail} for c in discreet.verify(release).checks
    ]
    after = discreet.risks(release, population=100_000)
    before = discreet.risks(table, quasi=QUASI, sensitive="illness", population=100_000)
    for found, expected in ((facts["after"], after), (facts["before"], before)):
        assert found["unique"] == expected.unique
        assert found["l"] == expected.l
        assert found["prosecutor"]["highest"] == expected.prosecutor.highest
        assert found["journalist"]["average"] == expected.journalist.average
        assert found["population"]["count"] == expected.population.count
    manifest = discreet.open_release(release).manifest
    assert {each["path"]: each["digest"] for each in facts["published"]["files"]}.items() >= {
        resource.path: resource.hash for resource in manifest.resources
    }.items()
    assert facts["belongs"] == {"looked_at": "rows", "rows": 240, "accounted": 240, "people": 240, "fitting": 240}
    guessed = facts["attacks"][0]
    assert (guessed["people"], guessed["attacker"]["share"], guessed["blind"]["share"]) == (240, 0.25, 0.125)
    [even] = [each for each in facts["utility"]["estimators"] if each["estimator"] == "even"]
    assert (even["answered"], even["outside"]) == (facts["utility"]["queries"], 0)
    assert 0 <= even["coverage"] <= 1
    assert facts["grouped"]["groups"] == manifest.discreet.groups == sum(b["groups"] for b in facts["grouped"]["bins"])


def test_figures_of_the_facts_are_on_the_page(written):
    page = re.sub(r"<[^>]+>", " ", texts(written, "private")["report.private.html"])
    assert "25.0% 19.9% to 30.8%" in re.sub(r"\s+", " ", page)
    assert f"{written.private.after.unique:,} of 240 records" in page
    for each in written.private.untested:
        assert each.what.replace("`", " ").split()[-1] in page


def test_what_was_not_made_is_a_failure(written):
    listed = {each.what: each.why for each in written.private.untested}
    assert listed["The attack `unsuited`"] == "does not apply: it is about boxes"
    page = texts(written, "private")["report.private.html"]
    assert "None of them says that the risk is low." in page
    public = {each.what for each in written.public.untested}
    assert {"The attack `guesser`", "The attack `unsuited`"} <= public


@pytest.mark.parametrize(
    ("changes", "verdict", "told"),
    [
        ({}, "yes", "Quasi-identifiers are published as they are."),
        ({"publication": "full_permutation", "partition": "cluster"}, "yes", "each block of columns is shown"),
        ({"publication": "generalization", "partition": "mondrian"}, "limited", "Rows are shown as boxes"),
    ],
)
def test_exact_quasi_identifiers_single_out(changes, verdict, told, table, tmp_path):
    path = published(table, tmp_path / "r", **changes, accept={"looks": "a test"})
    written = discreet.report(path, to=tmp_path / "out", truth=table)
    singling = written.public.answers[0]
    assert (singling.question, singling.verdict) == ("singling out", verdict)
    assert told in " ".join(singling.because)
    for path in written.files:
        assert "anonym" not in path.read_text().lower()


def test_a_release_that_does_not_verify_is_said_first(table, release, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(release, broken)
    held = pq.read_table(broken / "st.parquet")
    pq.write_table(held.slice(1), broken / "st.parquet")
    written = discreet.report(broken, to=tmp_path / "out", truth=table)
    assert not written.verified
    for name, text in {**texts(written, "public"), **texts(written, "private")}.items():
        if name.endswith(".html"):
            assert "This release does not verify" in text[: text.index("<h2>")]
    assert all(isinstance(each, Failed) for each in written.private.attacks)
    assert {each.why for each in written.private.attacks} == {"the release does not verify"}
    assert [each.verdict for each in written.public.answers] == ["not measured"] * 3
    assert written.private.after is None
    run = subprocess.run(
        [sys.executable, "-m", "discreet", "report", broken, "--to", tmp_path / "cli", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 4
    assert json.loads(run.stdout)["verified"] is False
    assert "does not verify" in json.loads(run.stderr)["error"]["message"]


def test_a_seed_is_said_first(table, tmp_path):
    policy = discreet.Policy(quasi=QUASI, sensitive="illness", guarantee={"l": 3}, partition="deal")
    discreet.publish(table, policy, to=tmp_path / "r", seed=1)
    written = discreet.report(tmp_path / "r", to=tmp_path / "out")
    text = texts(written, "public")["report.public.html"]
    assert "Not for publication." in text[: text.index("<h2>")]


def shuffled(table):
    order = np.random.default_rng(3).permutation(len(table))
    return table.set_column(3, "illness", table["illness"].take(pa.array(order)))


@pytest.mark.parametrize(
    ("spoiled", "message"),
    [
        (lambda table: invented(seed=9), r"not the table that was published: it accounts for \d+\.\d% of the release"),
        (shuffled, r"not the table that was published: it accounts for \d+\.\d% of the release, looked at by rows"),
        (lambda table: table.slice(0, 100), r"it accounts for 41\.7% of the release"),
        (lambda table: table.drop_columns("town"), r"the truth has no column `town`"),
        (lambda table: table.slice(0, 1), r"it accounts for 0\.4% of the release"),
        (lambda table: table.slice(0, 0), r"the truth has no rows, expected one or more people"),
    ],
)
def test_another_truth_is_noticed(spoiled, message, table, release, tmp_path):
    with pytest.raises(InputError, match=message):
        discreet.report(release, to=tmp_path / "out", truth=spoiled(table))
    assert not list(tmp_path.rglob("*.html"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"population": 10}, "smaller than the table: expected at least 240 people"),
        ({"population": invented(9)}, "smaller than the table: expected at least 240 people"),
        ({"population": invented(300).drop_columns("sex")}, "the population has no column `sex`"),
        ({"threshold": 0}, "the threshold must be a risk above 0"),
        ({"threshold": float("nan")}, "the threshold must be a risk above 0"),
        ({"recipient": "x" * 3_000}, "the recipient has 3,000 signs, expected at most 2,000"),
        ({"truth": "nowhere.csv"}, "there is no file `nowhere.csv`"),
    ],
)
def test_what_does_not_fit_is_refused(given, message, release, tmp_path):
    with pytest.raises(InputError, match=message):
        discreet.report(release, to=tmp_path / "out", **given)


def test_a_report_is_not_written_into_a_release(release):
    for place in (release, release / "more", release / "report.html"):
        with pytest.raises(InputError, match="cannot be written into the release"):
            discreet.report(release, to=place)
    assert discreet.verify(release).ok


def test_names_and_texts_of_others_are_no_markup(tmp_path):
    table = invented().rename_columns([ODD, "sex", "town", "illness"])
    policy = discreet.Policy(
        quasi=[ODD, "sex", "town"],
        sensitive="illness",
        guarantee={"l": 3},
        partition="deal",
        name=ODD,
        about={"title": ODD, "description": ODD},
    )
    discreet.publish(table, policy, to=tmp_path / "r")
    written = discreet.report(tmp_path / "r", to=tmp_path / "out" / "odd.html", truth=table, recipient=ODD)
    assert {path.name for path in written.files} >= {"odd.public.html", "odd.private.memo.html"}
    for path in written.files:
        text = path.read_text()
        assert "\x1b" not in text
        assert "\u202e" not in text
        if path.suffix == ".html":
            Strict(text)
            assert "<b>x" not in text
            assert "</script>" not in text
            assert "ö" * 300 not in text
        else:
            assert json.loads(text)["published"]["columns"][0]["name"] == ODD


def test_one_group_and_no_numbers(tmp_path):
    table = pa.table({"age": [1, 2], "illness": ["a", "b"]})
    policy = discreet.Policy(quasi=["age"], sensitive="illness", guarantee={"l": 2}, partition="deal")
    discreet.publish(table, policy, to=tmp_path / "r")
    written = discreet.report(tmp_path / "r", to=tmp_path / "out", truth=table)
    assert written.private.grouped.bins[0].groups == 1
    assert written.private.after.records == 2


def test_errors_against_a_threshold_are_drawn(table, release, tmp_path):
    from discreet.comparison import sweep

    policy = discreet.Policy(quasi=QUASI, sensitive="illness", guarantee={"l": 3}, partition="deal")
    found = sweep(table, policy, "l", [2, 3, 500], queries=6, seed=1, attack=False)
    written = discreet.report(release, to=tmp_path, truth=table, sweep=found)
    steps = written.private.swept.steps
    assert {step.threshold: step.refused for step in steps} == {2: False, 3: False, 500: True}
    outcomes = [(step.guarantee["l"], each) for step in found.steps for each in step.outcomes]
    assert [(step.threshold, step.error) for step in steps] == [(l, each.error) for l, each in outcomes]
    assert "Median error against l" in texts(written, "private")["report.private.html"]
    assert "Median error against" not in texts(written, "public")["report.public.html"]
    assert "with l = 500 was refused" in texts(written, "private")["report.private.html"]


def test_a_sample_has_whole_groups(table, tmp_path):
    from discreet.audit.files import read_tables
    from discreet.audit.sampled import people_of, sampled

    ages = {"sensitive": "age", "quasi": ["sex", "town"], "publication": "permutation", "drop": "rest"}
    for number, changes in enumerate(({}, ages)):
        whole = discreet.open_release(published(table, tmp_path / f"whole {number}", **changes))
        (tmp_path / str(number)).mkdir()
        sample = sampled(whole, 60, tmp_path / str(number), np.random.default_rng(1))
        assert 60 <= sample.promise.rows < 120
        held, all_held = (
            [sorted(zip(*map(list, g), strict=True)) for g in grouped(read_tables(r).st)] for r in (sample, whole)
        )
        assert len(held) == sample.promise.groups
        assert all(group in all_held for group in held)
        people = people_of(sample, table.select(whole.promise.columns), np.random.default_rng(2))
        assert 0.9 * sample.promise.rows <= len(people) <= sample.promise.rows
        shown = read_tables(sample).qit.select(whole.promise.quasi).to_pylist()
        assert all(person in shown for person in people.select(whole.promise.quasi).to_pylist())


def grouped(st):
    rows = st.to_pylist()
    for number in sorted({row["grp"] for row in rows}):
        mine = [row for row in rows if row["grp"] == number]
        yield [row["value"] for row in mine], [row["n"] for row in mine]


def test_a_large_release_is_attacked_on_a_sample(table, release, tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.report.attacked.SAMPLED", ("guesser",))
    monkeypatch.setattr("discreet.report.attacked.ROWS", 60)
    found = discreet.report(release, to=tmp_path, truth=table).private.attacks[0]
    assert 50 <= found.people < 120
    assert re.match(r"made on a random sample, \d+ of 80 groups, \d+ of 240 rows", found.notes[0])


class Reader(Guesser):
    """An attack that keeps what it has read for others, and has a model without the release beside it."""

    def __init__(self, name):
        self.name = name

    def run(self, release, given, *, progress):
        rows = given.once("shown", lambda: release.promise.rows)
        without = given.once("without", lambda: Rate.of(1, len(given.scores())))
        found = super().run(release, given, progress=progress)
        return replace(found, name=self.name, without=without, details={"read": rows})


def test_what_is_read_of_a_sample_is_not_taken_for_the_release(table, release, monkeypatch):
    from discreet.audit.attacks.attack import Given
    from discreet.report.attacked import attacked

    monkeypatch.setattr("discreet.report.attacked.SAMPLED", ("first", "last"))
    monkeypatch.setattr("discreet.report.attacked.ROWS", 60)
    readers = {name: Reader(name) for name in ("first", "middle", "last")}
    monkeypatch.setattr(attacks, "ATTACKS", readers, raising=False)
    opened = discreet.open_release(release)
    first, middle, last = attacked(opened, Given.read(opened, truth=table), lambda _: None)
    assert middle.details["read"] == opened.promise.rows == middle.people
    assert first.details["read"] == last.details["read"] < 120
    assert first.people == last.people < 120
    # how good a model of other people is, is found out once, and a note says of whom
    assert middle.without is first.without
    assert middle.notes[-1].startswith("the model that never saw the release guesses the people of a random sample")


def test_an_attack_that_beats_the_bound_is_told(written):
    """The guesser is right of 25 %, and no value has more than a third of a group; of an eighth it would be more."""
    from discreet.report.wp216 import answers

    facts = written.private
    assert facts.answers[2].verdict == "limited"
    small = Success("guesser", Guesser.threat, 9_000, Rate.of(4_000, 9_000), Rate.of(3_000, 9_000))
    [_, _, inference] = answers(facts.published, facts.after, [small], broken=None)
    assert inference.verdict == "yes"
    assert inference.because[-1].endswith("the bound does not hold against it.")
