"""`discreet compare`, and the same in Python: several methods, one table, one workload, one chart."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import closing

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet
from discreet.audit.utility.answered import Answered, summed_up
from discreet.audit.utility.workload import FEW, Query
from discreet.comparison import Outcome, sweep
from discreet.comparison.methods import method, sensible
from discreet.comparison.workload import workload
from discreet.errors import InputError, MissingExtraError, PolicyError
from discreet.table.people import people as invented

POLICY = """
name = "patients"
identifiers = ["name"]
quasi = ["age", "sex", "education"]
sensitive = "salary"
drop = "rest"
guarantee = { l = 4 }
"""
METHODS = ["anatomy/local", "permutation/local", "generalization/mondrian"]
REFUSED = ["generalization/full_domain", "permutation/min_sum", "join/mondrian"]


def policy(**changes):
    values = {
        "identifiers": ["name"],
        "quasi": ["age", "sex", "education"],
        "sensitive": "salary",
        "drop": "rest",
        "guarantee": {"l": 4},
    }
    return discreet.Policy(**{**values, **changes})


@pytest.fixture(scope="module")
def table():
    return invented(600, seed=5)


@pytest.fixture(scope="module")
def comparison(table):
    return discreet.compare(
        table, policy(name="patients"), methods=[*METHODS, *REFUSED], queries=12, seed=1, attack=False
    )


def test_compare(comparison):
    assert (comparison.table, comparison.rows, comparison.queries) == ("patients", 600, 12)
    assert [outcome.method for outcome in comparison.outcomes] == [*METHODS, *REFUSED]
    anatomy, permutation, boxes = comparison.outcomes[: len(METHODS)]
    for outcome in (anatomy, permutation, boxes):
        assert outcome.refused is None
        assert outcome.unanswered is None
        assert (outcome.answered, outcome.outside, outcome.suppressed) == (12, 0, 0)
        assert 0 <= outcome.best <= outcome.error <= outcome.error_90 <= outcome.worst
        assert 0 <= outcome.exact < 12
        assert outcome.width > 0
        assert set(outcome.errors) <= {"one-way", "two-way", "sum", "avg", "range"}
        assert outcome.publish_seconds > 0
        assert outcome.query_seconds > 0
        assert outcome.groups > 50
    assert anatomy.loss == permutation.loss == 0 < boxes.loss < 1
    assert anatomy.dm >= 600 * 4
    # the same groups tell the same, and boxes tell less
    assert permutation.width == pytest.approx(anatomy.width)
    assert permutation.error == pytest.approx(anatomy.error)
    assert boxes.width > anatomy.width


def test_a_method_that_does_not_fit_is_refused_with_the_reason(comparison):
    why = {outcome.method: outcome.refused for outcome in comparison.outcomes[len(METHODS) :]}
    assert "needs a hierarchy of every quasi-identifier" in why["generalization/full_domain"]
    assert "needs the guarantee `e`" in why["permutation/min_sum"]
    assert "the identifier by which rows" in why["join/mondrian"]
    for outcome in comparison.outcomes[len(METHODS) :]:
        assert (outcome.answered, outcome.error, outcome.loss, outcome.groups) == (0, None, None, None)
        assert outcome.cells()[:3] == [outcome.method, "–", "refused"]


def test_text_cannot_be_permuted(table):
    rules = policy(sensitive="diagnosis")
    found = discreet.compare(
        table, rules, methods=["anatomy/deal", "permutation/local"], queries=5, seed=1, attack=False
    )
    assert found.outcomes[0].answered == 5
    assert set(found.outcomes[0].errors) <= {"one-way", "two-way", "range"}
    assert "needs numbers or dates" in found.outcomes[-1].refused


def test_a_guarantee_that_cannot_be_kept_refuses_every_method(table):
    found = discreet.compare(table, policy(guarantee={"k": 1000}), methods=METHODS, queries=3, seed=1, attack=False)
    assert all("k = 1000 cannot be met" in outcome.refused for outcome in found.outcomes)


def test_the_output_says_whom_it_is_for(comparison):
    for text in (repr(comparison), comparison._repr_html_()):
        assert "not to be published" in text
        assert "refused: " in text
        assert "anatomy/local" in text
        assert "600 rows, l = 4, 12 questions about the sensitive column" in text


def test_same_seed_same_figures(table, comparison):
    again = discreet.compare(table, policy(name="patients"), methods=METHODS, queries=12, seed=1, attack=False)
    for one, other in zip(comparison.outcomes[: len(METHODS)], again.outcomes, strict=True):
        assert (one.error, one.width, one.loss, one.groups) == pytest.approx(
            (other.error, other.width, other.loss, other.groups)
        )


def test_nothing_is_left_behind(table, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    discreet.compare(table, policy(), methods=["anatomy/deal", "permutation/min_sum"], queries=3, attack=False)
    assert list(tmp_path.iterdir()) == []


def test_suppressed_rows_are_told(table):
    rules = policy(
        ordered=["age", "sex", "education"],
        guarantee={"k": 5},
        publication="generalization",
        partition="full_domain",
        options={"suppression": 0.2},
    )
    found = discreet.compare(table, rules, methods=["generalization/full_domain"], queries=10, seed=2, attack=False)
    [outcome] = found.outcomes
    assert outcome.suppressed > 0
    assert any("rows were suppressed" in remark for remark in found.remarks())


def test_joins_need_the_public_table(table):
    public = invented(3000, seed=9).select(["name", "age", "sex", "education"])
    private = table.set_column(0, "name", pa.array([f"patient {i}" for i in range(600)]))
    rules = policy(join="name", publication="join", guarantee={"k": 5})
    named = ["generalization/mondrian", "join/mondrian", "join/mondrian/direct"]
    found = discreet.compare(private, rules, methods=named, public=public, queries=8, seed=1, attack=False)
    plain, refinement, direct = found.outcomes
    assert (refinement.answered, refinement.outside) == (8, 0)
    assert 0 < refinement.loss < plain.loss
    assert (direct.answered, direct.loss, direct.error) == (0, None, None)
    assert direct.unanswered
    assert any("join/mondrian/direct: not answered" in remark for remark in found.remarks())
    assert "join/topdown" in [each.name for each in sensible(rules, discreet.read(private).columns, public=True)]


def test_all_sensible_methods_by_default(table):
    with discreet.read(table) as private:
        names = [each.name for each in sensible(policy(), private.columns, public=False)]
        ranges = [each.name for each in sensible(policy(guarantee={"k": 4, "e": 100}), private.columns, public=False)]
    assert names == [
        *("anatomy/anatomize", "anatomy/deal", "anatomy/mixed", "anatomy/local", "permutation/local"),
        *("full_permutation/cluster", "full_permutation/local"),
        *("generalization/compact", "generalization/mondrian", "generalization/topdown"),
    ]
    assert {"anatomy/tightest", "permutation/min_sum", "generalization/mondrian"} <= {*ranges}
    assert {"full_permutation/cluster", "full_permutation/local"} <= {*ranges}


def test_a_full_permutation_lies_between_anatomy_and_boxes(table):
    """With the same groups it knows of columns by themselves what anatomy knows of rows, and boxes of their ends."""
    methods = ["anatomy/mondrian", "full_permutation/mondrian", "generalization/mondrian"]
    found = discreet.compare(table, policy(), methods=methods, queries=40, seed=2, attack=False)
    anatomy, shuffled, boxes = found.outcomes
    assert anatomy.width <= shuffled.width < boxes.width
    assert anatomy.loss == 0 < shuffled.loss < 1
    assert shuffled.loss == pytest.approx(boxes.loss)
    assert anatomy.groups == shuffled.groups == boxes.groups
    assert [outcome.outside for outcome in found.outcomes] == [0, 0, 0]


def test_without_a_sensitive_column(table):
    """Only full permutations fit, and questions count people."""
    rules = policy(sensitive=None, guarantee={"k": 5}, publication="full_permutation", partition="deal")
    with discreet.read(table) as private:
        names = [each.name for each in sensible(rules, private.columns, public=False)]
    assert names == ["full_permutation/cluster", "full_permutation/local"]
    methods = ["full_permutation/local", "full_permutation/deal", "anatomy/local"]
    local, dealt, refused = discreet.compare(table, rules, methods=methods, queries=15, seed=3, attack=False).outcomes
    assert "only the publication `full_permutation` can do without" in refused.refused
    for outcome in (local, dealt):
        assert (outcome.answered, outcome.outside) == (15, 0)
        assert {"two-way"} <= set(outcome.errors) <= {"two-way", "range"}
        assert outcome.exact > 0  # a table of one column
    assert local.error < dealt.error


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("anatomi/local", "did you mean `anatomy`"),
        ("anatomy/locl", "did you mean `local`"),
        ("anatomy/local/direct", "too many parts"),
        ("join/mondrian/direkt", "did you mean `direct`"),
        ("swap/local", "too many parts"),
        ("a/b/c/d", "there is no `a`"),
        ("join/mondrian/direct/x", "too many parts"),
        ("", "there is no ``"),
    ],
)
def test_a_misspelt_method_is_an_error(text, told, table):
    with pytest.raises(InputError) as error:
        discreet.compare(table, policy(), methods=["anatomy/local", text])
    assert told in str(error.value)


def test_methods_are_read():
    assert method("anatomy").name == "anatomy"
    assert method("swap").name == "swap"
    assert method(" join/topdown/direct").name == "join/topdown/direct"


def test_bad_input(table):
    with pytest.raises(InputError, match="too few"):
        discreet.compare(table, policy(), queries=0, attack=False)
    with pytest.raises(InputError, match="no method"):
        discreet.compare(table, policy(), methods=[])
    with pytest.raises(PolicyError, match="heigth"):
        discreet.compare(table, policy(quasi=["heigth"]))
    with pytest.raises(InputError, match="no random question"):
        discreet.compare(table.slice(0, 0), policy(), methods=["anatomy"])


def test_every_question_touches_the_sensitive_column(table):
    """Half of them used to be answered by the quasi-identifiers alone, without any error."""
    rules = policy(quasi=["age", "sex", "education", "zipcode"])
    with closing(discreet.read(table)) as private:
        asked = workload(private, rules, 60, np.random.default_rng(3))
    base = duckdb.connect()
    base.register("microdata", table)
    assert len({query.sql for query in asked}) == 60
    assert {query.kind for query in asked} == {"one-way", "two-way", "sum", "avg", "range"}
    for query in asked:
        assert '"salary"' in query.sql
        [value] = base.execute(query.sql).fetchone()
        assert query.truth == pytest.approx(float(value))
        counted = query.kind not in {"sum", "avg"}
        assert query.scale == (max(query.truth, FEW) if counted else abs(query.truth))
        columns = sum(f'"{name}"' in query.sql for name in rules.quasi)
        assert columns in {"one-way": [1], "two-way": [2], "range": [1, 2, 3]}.get(query.kind, [1, 2])


def test_the_bands_of_a_column_hold_everybody_once(table):
    with closing(discreet.read(table)) as private:
        asked = workload(private, policy(quasi=["age"]), 400, np.random.default_rng(1))
    ways = {query.sql.split("WHERE ")[1].split(' AND "salary"')[0] for query in asked if query.kind == "one-way"}
    assert len(ways) == 8
    base = duckdb.connect()
    base.register("microdata", table)
    counts = [base.execute(f"SELECT COUNT(*) FROM microdata WHERE {way}").fetchone()[0] for way in ways]
    assert sum(counts) == 600
    assert max(counts) < 2 * min(counts)


def skewed(rows=1200):
    """Six diseases, held by 1 in 6 people each but one, that goes with age: the largest l is 6."""
    chance = np.random.default_rng(0)
    age = np.sort(chance.integers(20, 80, rows))
    disease = np.array([f"d{i}" for i in range(6)])[np.minimum(np.arange(rows) * 6 // rows, 5)]
    return pa.table({"age": age, "sex": chance.choice(["f", "m"], rows), "disease": disease})


def test_harmless_values_count_neither_for_the_limit_nor_for_the_risk():
    chance = np.random.default_rng(0)
    wages = np.where(np.arange(1200) % 10, 0, chance.permutation(1200))
    table = pa.table({"age": chance.integers(20, 80, 1200), "wage": wages})
    rules = discreet.Policy(quasi=["age"], sensitive="wage", guarantee={"l": 5}, harmless=[0], partition="deal")
    found = sweep(table, rules, "l", [5], queries=3, seed=1, attack=False)
    assert found.steps[0].limit is None  # of the other values the largest is 119, and not 1
    assert found.steps[0].outcomes[0].share <= 0.2


def test_every_valid_estimator_has_an_outcome():
    """Where the disease goes with age, the regression on mixed groups is nearer the truth, and its stderr means it."""
    rules = discreet.Policy(quasi=["age", "sex"], sensitive="disease", guarantee={"l": 3})
    methods = ["anatomy/mixed", "anatomy/local", "generalization/mondrian"]
    found = discreet.compare(skewed(3000), rules, methods=methods, queries=40, seed=1, attack=False)
    told = {(outcome.method, outcome.estimator): outcome for outcome in found.outcomes}
    ways = [(methods[0], "even"), (methods[0], "design"), (methods[1], "even"), (methods[2], "even")]
    assert sorted(told) == sorted(ways)
    even, design = (told[way] for way in ways[:2])
    assert [design.name, even.name] == ["anatomy/mixed, design", "anatomy/mixed"]
    assert design.error < even.error / 2
    assert even.coverage < 0.5
    assert design.coverage > 0.85
    assert (design.groups, design.publish_seconds) == (even.groups, even.publish_seconds)
    swept = sweep(skewed(3000), rules, "l", [2, 3, 100], methods=methods[:1], queries=4, seed=1, attack=False)
    assert swept.names() == ["anatomy/mixed", "anatomy/mixed, design"]
    assert [row[:3] for row in swept.cells()] == [
        *(["2", methods[0], "even"], ["3", methods[0], "even"], ["100", methods[0], "–"]),
        *(["2", methods[0], "design"], ["3", methods[0], "design"]),
    ]


def test_a_sweep_says_what_a_smaller_l_gains(tmp_path):
    rules = discreet.Policy(quasi=["age", "sex"], sensitive="disease", guarantee={"l": 5}, name="clinic")
    with pytest.warns(discreet.errors.DiscreetWarning, match="l = 5 is close to the largest that `disease` allows, 6"):
        discreet.publish(skewed(), rules, to=tmp_path / "r").close()
    found = sweep(skewed(), rules, "l", [5, 2], queries=12, seed=1, attack=False)
    assert found.thresholds == [2, 5]
    weak, strong = (step.outcomes[0] for step in found.steps)
    assert (weak.share, strong.share) == (0.5, 0.2)
    assert weak.error < strong.error
    [told] = [remark for remark in found.remarks() if "close to the largest" in remark]
    assert "l = 5 is close to the largest that the sensitive column allows, 6; l = 2 gives a median error of" in told
    [alone] = discreet.compare(skewed(), rules, methods=["anatomy/local"], queries=3, seed=1, attack=False).remarks()[
        -1:
    ]
    assert alone.endswith("a smaller l may tell much more; try --sweep l=3,5")
    accepted = discreet.Policy(
        quasi=["age", "sex"], sensitive="disease", guarantee={"l": 5}, accept={"near_limit": "asked for by the board"}
    )
    with closing(discreet.publish(skewed(), accepted, to=tmp_path / "s")) as release:
        reasons = {each.name: each.reason for each in release.warnings}
    assert reasons["near_limit"] == "asked for by the board"


def test_a_release_of_no_use_is_told():
    """Nothing is within 100 % of the truth, or nothing is certain of any count; what is exact does not count."""

    def outcome(*answers):
        return Outcome(method="anatomy/deal", **summed_up([Answered(*each) for each in answers]))

    cell, one = Query("", "one-way", 20, 20), Query("", "sum", 100, 100)
    useless = "anatomy/deal: of no use for such questions: "
    assert outcome((cell, 25, 1, 0, 90), (cell, 20, 1, 0, 90)).remarks() == [f"{useless}every low of a count is 0"]
    assert outcome((cell, 60, 1, 3, 90), (one, 1000, 1, 0, 9000)).remarks() == [
        f"{useless}no estimate is within 100% of the truth"
    ]
    mixed = outcome((cell, 25, 2, 5, 90), (cell, 20, 0, 20, 20), (one, 130, 10, 0, 200))
    assert mixed.remarks() == []
    assert (mixed.answered, mixed.exact, mixed.outside) == (3, 1, 0)
    assert (mixed.error, mixed.best, mixed.worst) == pytest.approx((0.275, 0.25, 0.3))
    assert mixed.coverage == 0  # 2.5 and 3 standard errors away
    assert mixed.errors == pytest.approx({"one-way": 0.25, "sum": 0.3})
    assert outcome((cell, 25, 2, 21, 90)).outside == outcome((cell, 15, 2, None, 19)).outside == 1
    assert outcome((cell, 25, 2, None, None)).outside == 0


def test_the_sweep_of_the_command(run, desk, tmp_path):
    pytest.importorskip("matplotlib")
    arguments = ["compare", desk / "patients.csv", "--policy", desk / "policy.toml", "--queries", "6", "--seed", "1"]
    status, out, err = run(*arguments, "--sweep", "l=2,4", "--chart", tmp_path / "chart.svg")
    assert (status, err) == (0, "")
    assert out.startswith("patients: 600 rows, l = 2, 4, 6 questions\n")
    assert [line.split()[:4] for line in out.splitlines()[4:6]] == [
        ["2", "anatomy", "even", "50.0%"],
        ["4", "anatomy", "even", "25.0%"],
    ]
    drawn = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert all(text in drawn for text in ("l = 2", "l = 4", "90th percentile", "risk: the largest share"))
    status, out, _ = run(*arguments, "--sweep", "l=2,4", "--json")
    told = json.loads(out)
    assert status == 0
    assert [step["threshold"] for step in told["steps"]] == [2, 4]
    assert told["sweep"] == "l"
    for wrong, message in (("l", "`l` is not a sweep"), ("l=two", "is not a sweep"), ("x=2", "`x` is not a guarantee")):
        status, _, err = run(*arguments, "--sweep", wrong)
        assert status == 1
        assert message in err


def test_values_of_every_kind_can_be_asked_for(tmp_path):
    chance = np.random.default_rng(1)
    rows = 400
    table = pa.table(
        {
            "born": pa.array(chance.integers(0, 4000, rows).astype("datetime64[D]")),
            "seen": pa.array(chance.integers(0, 10**9, rows).astype("datetime64[s]")),
            "member": pa.array(chance.random(rows) < 0.3),
            "height": pa.array([None if x < 160 else round(x, 1) for x in chance.normal(170, 8, rows).tolist()]),
            "town": chance.choice(["o'clock", 'a"b', "c"], rows),
            "paid": pa.array(chance.integers(0, 90, rows)).cast(pa.decimal128(22, 2)),
        }
    )
    rules = discreet.Policy(
        quasi=["born", "seen", "member", "height", "town"], sensitive="paid", guarantee={"l": 3}, name="kinds"
    )
    found = discreet.compare(
        table, rules, methods=["anatomy/deal", "generalization/mondrian"], queries=30, seed=4, attack=False
    )
    for outcome in found.outcomes:
        assert (outcome.answered, outcome.outside, outcome.unanswered) == (30, 0, None)


def test_missing_values_that_are_withheld_are_not_asked_for(table):
    salary = [None if i % 3 else value for i, value in enumerate(table["salary"].to_pylist())]
    holes = table.set_column(8, "salary", pa.array(salary, pa.int32()))
    rules = policy(missing_sensitive="withhold")
    [outcome] = discreet.compare(holes, rules, methods=["anatomy/local"], queries=10, seed=1, attack=False).outcomes
    assert (outcome.answered, outcome.outside) == (10, 0)


@pytest.mark.parametrize(("name", "start"), [("chart.png", b"\x89PNG"), ("chart.SVG", b"<?xml")])
def test_the_chart(comparison, tmp_path, name, start):
    pytest.importorskip("matplotlib")
    path = comparison.chart(tmp_path / name)
    content = path.read_bytes()
    assert content.startswith(start)
    if name.endswith("SVG"):
        texts = ("anatomy/local", "refused", "median error", "90th percentile", "mean width", "to publish", "per query")
        for text in (*texts, "not to be published"):
            assert text in content.decode()


def test_a_chart_of_refusals_only(table, tmp_path):
    pytest.importorskip("matplotlib")
    found = discreet.compare(table, policy(), methods=["permutation/min_sum"], queries=1, attack=False)
    assert found.chart(tmp_path / "chart.png").stat().st_size > 1000


def test_a_chart_that_cannot_be_drawn_is_told_before_the_work(comparison, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="not a chart"):
        comparison.chart(tmp_path / "chart.jpg")
    with pytest.raises(InputError, match="no folder"):
        comparison.chart(tmp_path / "nowhere" / "chart.png")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match="matplotlib is not installed") as error:
        comparison.chart(tmp_path / "chart.png")
    assert "discreet[charts]" in str(error.value)


@pytest.fixture(scope="module")
def desk(table, tmp_path_factory):
    place = tmp_path_factory.mktemp("desk")
    pyarrow.csv.write_csv(table, place / "patients.csv")
    (place / "policy.toml").write_text(POLICY, encoding="utf-8")
    return place


def test_the_command(run, desk, tmp_path):
    pytest.importorskip("matplotlib")
    arguments = ["compare", desk / "patients.csv", "--policy", desk / "policy.toml", "--queries", "5", "--seed", "1"]
    more = ["--methods", "anatomy/local,generalization/full_domain", "--chart", tmp_path / "chart.png"]
    status, out, err = run(*arguments, *more)
    assert (status, err) == (0, "")
    assert out.startswith("patients: 600 rows, l = 4, 5 questions about the sensitive column\n")
    assert "generalization/full_domain: refused: " in out
    assert out.rstrip().endswith("not to be published.")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_the_command_as_json(run, desk):
    arguments = ["compare", desk / "patients.csv", "--policy", desk / "policy.toml", "--queries", "5", "--seed", "1"]
    more = ["--methods", "anatomy/local", "--methods", "permutation/min_sum"]
    status, out, err = run(*arguments, *more, "--json")
    told = json.loads(out)
    assert (status, err) == (0, "")
    about = ["table", "rows", "guarantee", "queries", "outcomes", "limit", "remarks", "chart", "note"]
    assert list(told) == about
    assert [outcome["method"] for outcome in told["outcomes"]] == ["anatomy/local", "permutation/min_sum"]
    assert told["outcomes"][0]["refused"] is None
    assert "`e`" in told["outcomes"][1]["refused"]
    assert "not to be published" in told["note"]


def test_mistakes_of_the_command(run, desk, tmp_path):
    arguments = ["compare", desk / "patients.csv", "--policy", desk / "policy.toml"]
    for more, told in (
        (["--methods", "anatomy/locl"], "did you mean"),
        (["--chart", tmp_path / "chart.jpg"], "not a chart"),
        (["--public", tmp_path / "nobody.csv"], "nobody.csv"),
    ):
        status, out, err = run(*arguments, *more)
        assert (status, out) == (1, ""), more
        assert told in err
    assert run("compare", desk / "patients.csv")[0] == 2
    assert run(*arguments, "--queries", "0")[0] == 2


def test_help_has_an_example(run):
    status, out, err = run("compare", "--help")
    assert (status, err) == (0, "")
    assert "Example: discreet compare patients.csv --policy policy.toml" in " ".join(out.split())
    assert "keep it to yourself" in " ".join(out.split())


@pytest.mark.parametrize("heavy", ["matplotlib", "duckdb", "numpy"])
def test_help_loads_nothing_heavy(heavy):
    program = f"import sys, discreet.cli; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
