"""The help table: what the values of a group add up to from the smallest on, looked up and not computed.

Source: Koudas et al., "Aggregate query answering on anonymized tables", ICDE 2007, section 5.2,
figure 4: per group and number of hits, the bounds of every aggregate. All of them follow from the
last of the group's `hits` smallest values, and from one sum. Let the values lie on a line, and add up
how far from zero are those between zero and the cut after the `hits` smallest (`far`). Then, with
what the group's `negative` and `positive` values add up to,

    the smallest add up to  negative + far,  and the values above them to  positive - far

both as exact as adding them up one by one, since nothing larger than the result is subtracted but
its own share. It is made from the release alone, with window functions, in one of two forms:

    full     `blocks`: one row per signature and block of values, counted outward from zero (negative ones
             backward, from -1 on), with the values themselves and what lies `nearer` to zero
    compact  `runs`: one row per run of equal values, found by the hits before it (an ASOF join);
             much smaller where values repeat

`totals` holds, per signature, what does not depend on the hits.
Claim: both_forms_of_the_help_table_agree — full and compact give the same bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp, parse_one

from discreet.answer.plan.aggregates import INSIDE, NO_STDERR, ORDERED, SURE, beside, over, per_key
from discreet.answer.plan.context import Form, Model
from discreet.answer.plan.sql import Relations
from discreet.answer.question.question import Aggregate, Question
from discreet.engines import Engine

REPEATS = 4  # rows per run of equal values from which the compact form is better
BLOCK = 64  # values of one block
OUTWARD = {  # the order in which values lie farther from zero, on one side of it
    "integer": "CASE WHEN value < 0 THEN -1 - value ELSE value END",  # the smallest has no opposite
    "number": "ABS(value)",
}


@dataclass(frozen=True)
class HelpTable:
    """A help table to be made: its form, and the type of the values."""

    form: Form
    kind: str

    def tables(self) -> dict[str, exp.Expr]:
        """The queries that make its tables from `held`, in order."""
        number = parse_one("CAST(value AS DOUBLE)" if self.kind in OUTWARD else "CAST(NULL AS DOUBLE)")
        outward = parse_one(OUTWARD.get(self.kind, "value"))
        made = {name: parse_one(sql, dialect="duckdb") for name, sql in MADE[self.form].items()}
        given = {"number": number, "outward": outward, "block": exp.Literal.number(BLOCK)}
        return {name: exp.replace_placeholders(query, **given) for name, query in made.items()}


def plan(engine: Engine, kind: str) -> HelpTable | None:
    """The help table for the values that are held, of that type; None where some are missing."""
    columns = ("SUM(n) AS rows", "COUNT(*) AS runs", "COUNT(*) - COUNT(value) AS missing")
    held = engine.run(exp.select(*columns).from_("held")).to_pylist()[0]
    if held["missing"]:
        return None
    return HelpTable("compact" if held["rows"] >= REPEATS * held["runs"] else "full", kind)


def serves(question: Question, aggregate: Aggregate) -> bool:
    """Whether the table answers an aggregate: about the sensitive values themselves, no condition on them."""
    plain = aggregate.side == "sensitive" and isinstance(aggregate.argument, exp.Column)
    return plain and not question.asks_of_sensitive and aggregate.function in {"sum", "avg", "min", "max"}


def write(model: Model, form: Form, aggregate: Aggregate, name: str) -> Relations:
    """The relations that compute one aggregate from `draws_sensitive`, the last of them called `name`."""
    if aggregate.function in {"sum", "avg"}:
        return _sum(model, form, name, mean=aggregate.function == "avg")
    return _extreme(model, form, name, smallest=aggregate.function == "min")


def _sum(model: Model, form: Form, name: str, *, mean: bool) -> Relations:
    """The smallest picks add up to the sum up to there, the largest to the sum above all the others."""
    added = None if model.hits is None else model.hits.sums()
    urns, smallest, largest, once = "", "low_sum", "high_sum", ""
    if added is not None:
        relations: Relations = {f"{name}_found": added}
    else:
        ends = exp.union(
            exp.select("*", "TRUE AS low", "picks AS hits").from_("draws_sensitive"),
            exp.select("*", "FALSE AS low", "size - picks AS hits").from_("draws_sensitive"),
            distinct=False,
        )
        relations = {f"{name}_ends": ends, f"{name}_found": _look_up(form, f"{name}_ends", "hits", "sums")}
        smallest, largest = (f"CASE WHEN {end} THEN found END" for end in ("low", "NOT low"))
        urns, once = "urns * ", " FILTER (WHERE low)"
    per_hit = f" / SUM(urns * picks){once}" if mean else ""
    deviation = f"{urns}picks * CAST(size - picks AS DOUBLE) / GREATEST(size - 1, 1) * variance"
    relations[f"{name}_sums"] = per_key(
        model,
        f"{name}_found",
        f"SUM({urns}picks * mean){once}{per_hit} AS estimate",
        f"SQRT(SUM({deviation}){once}){per_hit} AS stderr",
        f"SUM({urns}{smallest}){per_hit} AS low",
        f"SUM({urns}{largest}){per_hit} AS high",
        f"SUM(urns * picks){once} AS least",
    ).having(f"SUM(urns * picks){once} > 0")  # not a condition on each draw, which would be computed twice
    columns = (INSIDE, "stderr", *ORDERED, "least")
    return {**relations, name: exp.select(*model.keys(), *columns).from_(f"{name}_sums")}


def _look_up(form: Form, relation: str, hits: str, what: Literal["sums", "value"]) -> exp.Select:
    """Beside each row of a relation: the totals of its urn, and what is `found` at `hits`.

    That is the last of so many smallest values; or their sum, and where not `low` the sum of those above.
    """
    query = exp.select("here.*", "least", "most", "mean", "variance").from_(exp.to_table(relation).as_("here"))
    query = query.join("totals", on="totals.signature = here.urn").where("picks > 0")
    if form == "full":
        # how many values lie between zero and the cut, or for a value, between zero and it
        cut = f"({hits} - negatives)"
        below = f"{cut} <= 0" if what == "value" else f"{cut} < 0"
        nth = f"CASE WHEN {below} THEN -{cut} ELSE {cut} - 1 END" if what == "value" else f"ABS({cut}) - 1"
        block = f"CASE WHEN {below} THEN -1 - ({nth}) // {BLOCK} ELSE ({nth}) // {BLOCK} END"
        inside = f"(({nth}) % {BLOCK} + 1)"  # of a block: so many values are nearer to zero, or are the one
        near = f"CASE WHEN {below} THEN vals[LEN(vals) - {inside} + 1:LEN(vals)] ELSE vals[1:{inside}] END"
        far = f"COALESCE(nearer + COALESCE(ABS(LIST_SUM(CAST({near} AS DOUBLE[]))), 0), 0)"
        value = f"vals[CASE WHEN {below} THEN LEN(vals) - {inside} + 1 ELSE {inside} END]"
        same = exp.condition(f"blocks.signature = here.urn AND blocks.block = {block}", dialect="duckdb")
        query = query.join("blocks", on=same, join_type="left")
    else:
        copies = f"CASE WHEN value < 0 THEN below + n - {hits} ELSE {hits} - below END"
        far, value = f"nearer + ({copies}) * ABS(CAST(value AS DOUBLE))", "value"
        past = ">" if what == "value" else ">="
        run = exp.condition(f"runs.signature = here.urn AND {hits} {past} runs.below")
        query.append("joins", exp.Join(this=exp.to_table("runs"), method="ASOF", on=run))
    found = value if what == "value" else f"CASE WHEN low THEN negative + {far} ELSE positive - ({far}) END"
    return query.select(f"{found} AS found", dialect="duckdb")


def _extreme(model: Model, form: Form, name: str, *, smallest: bool) -> Relations:
    """MIN: the smallest of all, and the smallest that a draw of the largest must take."""
    keys = model.keys()
    this, other = ("MIN", "MAX") if smallest else ("MAX", "MIN")
    last = "size - picks + 1" if smallest else "picks"
    near, far = (f"{this}(least)", f"{this}(found)") if smallest else (f"{this}(most)", f"{this}(found)")
    ends = (f"{near} AS low", f"{far} AS high") if smallest else (f"{far} AS low", f"{near} AS high")
    weight = exp.select(*keys, "value", "SUM(urns * CAST(picks AS DOUBLE) * n / size) AS weight")
    weight = weight.from_("draws_sensitive").join("held", on="held.signature = urn").group_by(*keys, "value")
    expected = f"SUM(weight) {over(model, 'ASC' if smallest else 'DESC')} AS expected"
    guess = f"COALESCE({this}(value) FILTER (WHERE expected >= {SURE}), {other}(value)) AS estimate"
    return {
        f"{name}_found": _look_up(form, "draws_sensitive", last, "value"),
        f"{name}_bounds": per_key(model, f"{name}_found", *ends, "SUM(urns * picks) AS least"),
        f"{name}_weights": weight.having("SUM(picks) > 0"),
        f"{name}_steps": exp.select("*", expected).from_(f"{name}_weights"),
        f"{name}_guess": per_key(model, f"{name}_steps", guess),
        name: beside(model, f"{name}_bounds", f"{name}_guess", "estimate", NO_STDERR, "low", "high", "least"),
    }


TOTALS = """
    SELECT signature, MIN(value) AS least, MAX(value) AS most, ANY_VALUE(mean) AS mean,
           SUM(n * (:number - mean) * (:number - mean)) / SUM(n) AS variance,
           CAST(COALESCE(SUM(n) FILTER (WHERE :number < 0), 0) AS BIGINT) AS negatives,
           COALESCE(SUM(n * :number) FILTER (WHERE :number < 0), 0) AS negative,
           COALESCE(SUM(n * :number) FILTER (WHERE :number >= 0), 0) AS positive
    FROM held JOIN sums USING (signature) GROUP BY signature
"""
COMPACT = {
    "totals": TOTALS,
    "runs": """
        SELECT signature, value, n, below, COALESCE(SUM(n * ABS(:number)) OVER before, 0) AS nearer
        FROM held
        WINDOW before AS (PARTITION BY signature, :number < 0 ORDER BY :outward
                          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    """,
}
FULL = {
    "totals": TOTALS,
    "blocks": """
        SELECT signature, block, vals,
               COALESCE(SUM(added) OVER (PARTITION BY signature, block < 0 ORDER BY ABS(block)
                                         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS nearer
        FROM (
          SELECT signature, block, LIST(value ORDER BY value) AS vals, SUM(ABS(:number)) AS added
          FROM (
            SELECT signature, value,
                   CASE WHEN place < negatives THEN -1 - (negatives - 1 - place) // :block
                        ELSE (place - negatives) // :block END AS block
            FROM (
              SELECT signature, value, below AS place FROM held
              UNION ALL SELECT signature, value, below + copy + 1
              FROM held, UNNEST(RANGE(n - 1)) AS copies(copy) WHERE n > 1
            ) AS copies JOIN totals USING (signature)
          ) AS placed GROUP BY signature, block
        ) AS made
    """,
}
MADE = {"full": FULL, "compact": COMPACT}
