"""Slicing: what its files hold, what they do not tell, and which policies it refuses."""

from collections import Counter
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import discreet
from discreet import Policy, publish, read
from discreet.audit.attacks.order import attack, blind
from discreet.cli import app
from discreet.errors import InputError, PolicyError
from discreet.publication.publish import publish_groups

TOGETHER = [["age", "education"]]


def people(rows=60, seed=1):
    rng = Random(seed)  # noqa: S311
    return pa.table(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": [rng.choice([None, *range(20, 40)]) for _ in range(rows)],
            "education": [rng.choice(["school", "college", "none"]) for _ in range(rows)],
            "zipcode": [rng.randint(1000, 1005) for _ in range(rows)],
            "ill": [["flu", "cancer", "asthma", "gout"][i % 4] for i in range(rows)],
        }
    )


def policy(**keys):
    given = {
        "identifiers": ["name"],
        "quasi": ["age", "education", "zipcode"],
        "sensitive": "ill",
        "guarantee": {"l": 2},
        "publication": "slicing",
        "together": TOGETHER,
    }
    return Policy(**{**given, **keys})


def bag(table, names):
    return Counter(zip(*(table[name].to_pylist() for name in names), strict=True))


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_blocks_are_kept(form, tmp_path):
    table, groups = people(), np.repeat(np.arange(10, dtype=np.int32), 6)
    with read(table) as private:
        made = publish_groups(private, policy(), private.codes("ill"), groups, to=tmp_path / "r", format=form)
    beside = table.append_column("group", pa.array(groups + 1))
    for name, columns in (("block_1", ["age", "education", "group"]), ("block_2", ["zipcode", "group"])):
        with read(made.file(name)) as file:
            rows = file.engine.run(file.select(columns))
        assert bag(rows, columns) == bag(beside, columns)
    with read(made.file("st")) as file:
        rows = file.engine.run(file.select(["group", "ill", "count"])).to_pylist()
    assert Counter({(row["group"], row["ill"]): row["count"] for row in rows}) == bag(beside, ["group", "ill"])
    assert made.verify().ok


def test_slices_tell_nothing_of_each_other(tmp_path):
    """However the blocks of a group belong together, every data file is the same, byte for byte."""
    table, groups, rng = people(), np.repeat(np.arange(10, dtype=np.int32), 6), np.random.default_rng(3)
    moved = table
    for block in (["zipcode"], ["ill"]):
        order = np.concatenate([6 * group + rng.permutation(6) for group in range(10)])
        for name in block:
            at = moved.schema.get_field_index(name)
            moved = moved.set_column(at, name, table[name].take(pa.array(order)))
    assert bag(moved, moved.column_names) != bag(table, table.column_names)
    made = []
    for number, rows in enumerate((table, moved)):
        with read(rows) as private:
            made.append(publish_groups(private, policy(), private.codes("ill"), groups, to=tmp_path / str(number)))
    for name in ("block_1", "block_2", "st"):
        assert made[0].file(name).read_bytes() == made[1].file(name).read_bytes()
    assert made[0].manifest == made[1].manifest


@pytest.mark.parametrize(
    ("together", "blocks"),
    [
        ([["age", "education"], ["zipcode"]], [["age", "education"], ["zipcode"]]),
        ([["education", "age"]], [["age", "education"], ["zipcode"]]),
        ([["zipcode", "age"]], [["age", "zipcode"], ["education"]]),
        ([["age", "education", "zipcode"]], [["age", "education", "zipcode"]]),
        ([["age", "zipcode"], ["ill"]], [["age", "zipcode"], ["education"]]),
        ([], [["age"], ["education"], ["zipcode"]]),
    ],
)
def test_columns_that_are_not_named_are_blocks_of_their_own(together, blocks, tmp_path):
    made = publish(people(), policy(together=together), to=tmp_path / "r", seed=1)
    assert made.promise.model_extra == {"slicing": {"together": blocks}}
    for i, block in enumerate(blocks):
        assert pq.read_schema(made.file(f"block_{i + 1}")).names == [*block, "group"]


@pytest.mark.parametrize(
    ("keys", "wrong"),
    [
        ({"together": None}, ["is missing: the columns to keep together"]),
        ({"together": [["age", "ill"]]}, ["`ill` is sensitive: whoever knew the others of its block would find it"]),
        ({"together": [["age", "age"]]}, ["`age` stands twice"]),
        ({"together": [["age"], ["zipcode", "age"]]}, ["`age` stands twice"]),
        ({"together": [["agee"]]}, ["`agee` is no quasi-identifier; did you mean `age`?"]),
        ({"together": [["name"]]}, ["`name` is no quasi-identifier"]),
        ({"together": [[]]}, ["a block has no columns"]),
        ({"together": "age"}, ["expected lists of column names"]),
        ({"together": ["age"]}, ["expected lists of column names"]),
        ({"together": [["age", 3]]}, ["expected lists of column names"]),
        ({"publication": "anatomy"}, ["belongs to the publication `slicing`"]),
        (
            {"together": [["age", "ill"], ["agee"], []]},
            ["`ill` is sensitive", "`agee` is no", "a block has no columns"],
        ),
    ],
)
def test_mistakes_are_reported_together(keys, wrong):
    with pytest.raises(PolicyError) as error:
        policy(**keys)
    told = [mistake.message for mistake in error.value.mistakes if mistake.key == "together"]
    assert len(told) == len(wrong)
    for message, start in zip(told, wrong, strict=True):
        assert message.startswith(start)


def test_slicing_needs_a_sensitive_column():
    with pytest.raises(PolicyError, match="only the publication `full_permutation` can do without"):
        policy(sensitive=None, drop=["ill"], guarantee={"k": 2})


@pytest.mark.parametrize("partition", ["local", "deal"])
def test_the_order_attack_finds_nothing(partition, tmp_path):
    """Rows of unrelated columns: an order that was kept would link more of them than guessing does."""
    rows, rng = 4_000, np.random.default_rng(7)
    table = pa.table({"a": np.arange(rows), "b": rng.permutation(rows), "ill": rng.integers(0, 50, rows)})
    rules = Policy(
        quasi=["a", "b"], sensitive="ill", guarantee={"l": 5}, publication="slicing", together=[], partition=partition
    )
    made = publish(table, rules, to=tmp_path / "r", seed=1)
    ages = pq.read_table(made.file("block_1"))
    truth = table["ill"].take(ages["a"]).combine_chunks()
    guessed = blind(made)
    slack = 6 * (guessed / rows) ** 0.5
    for links in attack(made):
        assert links.recovered(truth) < guessed + slack


def test_rows_that_are_withheld_are_in_no_block(tmp_path):
    table = people()
    ill = pa.array([None if i % 9 == 0 else value for i, value in enumerate(table["ill"].to_pylist())])
    table = table.set_column(4, "ill", ill)
    made = publish(table, policy(missing_sensitive="withhold"), to=tmp_path / "r", seed=1)
    assert made.withheld == ill.null_count
    assert pq.read_metadata(made.file("block_1")).num_rows == len(table) - ill.null_count


def test_metrics_and_comparison(tmp_path):
    made = publish(people(), policy(), to=tmp_path / "r", seed=1)
    found = discreet.metrics(made)
    assert found.presence is None
    assert found.dm == discreet.metrics(publish(people(), policy(together=[]), to=tmp_path / "s", seed=1)).dm
    assert discreet.metrics(tmp_path / "s").presence is not None
    with pytest.raises(InputError, match="cannot be compared with the truth"):
        discreet.metrics(made, truth=people())
    outcomes = discreet.compare(
        people(400), policy(), methods=["slicing", "anatomy"], queries=5, seed=1, attack=False
    ).outcomes
    assert [outcome.refused for outcome in outcomes] == [None, None]
    assert [outcome.outside for outcome in outcomes] == [0, 0]


def test_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(people(), "people.parquet")
    (tmp_path / "policy.toml").write_text(
        'identifiers = ["name"]\nquasi = ["age", "education", "zipcode"]\nsensitive = "ill"\n'
        'publication = "slicing"\ntogether = [["age", "education"]]\nguarantee = { l = 2 }\n'
    )
    run = CliRunner().invoke
    made = run(app, ["publish", "people.parquet", "--policy", "policy.toml", "--to", "r"])
    assert (made.exit_code, "in every group, no sensitive value" in made.output) == (0, True)
    assert run(app, ["verify", "r"]).exit_code == 0
    assert run(app, ["audit", "r", "--metrics"]).exit_code == 0
    sql = "SELECT COUNT(*) AS n FROM microdata WHERE education = 'none' AND zipcode = 1001 AND ill = 'flu'"
    assert "n_low" in run(app, ["ask", "r", sql]).output
