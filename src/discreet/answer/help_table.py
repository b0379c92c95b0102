"""The help table: what the values of a group add up to from the smallest on, looked up and not computed.

Source: Koudas et al., "Aggregate query answering on anonymized tables", ICDE 2007, section 5.2,
figure 4: per group and number of hits, the bounds of every aggregate. All of them follow from three
things: the sum of the group's `hits` smallest values, the last of these, and the sum of the values
`above` it, which are the largest of the group. It is made from the release alone, with window
functions, in one of two forms that give the same answers:

    full     `steps`: one row per signature and number of hits, found by its `place`
    compact  `runs`: one row per run of equal values, found by the hits before it (an ASOF join);
             much smaller where values repeat

`totals` holds, per signature, what does not depend on the hits.
Claim: both_forms_of_the_help_table_agree — full and compact give the same bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp, parse_one

from discreet.answer.aggregates import INSIDE, NO_STDERR, SURE, beside, over, per_key
from discreet.answer.question import Aggregate, Question
from discreet.answer.urns import Form, Model, Relations
from discreet.engines import Engine

REPEATS = 4  # rows per run of equal values from which the compact form is better
LAST_WHOLE = 2**53  # whole numbers up to here are exact as doubles
NUMBERS = {"integer", "number"}


@dataclass(frozen=True)
class HelpTable:
    """A help table to be made: its form, the type of the values, and whether their sums may be subtracted."""

    form: Form
    kind: str
    subtract: bool

    def tables(self) -> dict[str, exp.Expr]:
        """The queries that make its tables from `held`, in order."""
        number = parse_one("CAST(value AS DOUBLE)" if self.kind in NUMBERS else "CAST(NULL AS DOUBLE)")
        each = number if self.form == "full" else exp.Mul(this=exp.column("n"), expression=number)
        above = exp.replace_placeholders(parse_one(SUM_ABOVE, dialect="duckdb"), each=each)
        if self.subtract:
            above = exp.cast(exp.null(), "DOUBLE")
        made = {name: parse_one(sql, dialect="duckdb") for name, sql in MADE[self.form].items()}
        return {name: exp.replace_placeholders(query, number=number, above=above) for name, query in made.items()}


def plan(engine: Engine, kind: str) -> HelpTable | None:
    """The help table for the values that are held, of that type; None where some are missing."""
    size = "SUM(n * ABS(CAST(value AS DOUBLE))) AS size" if kind in NUMBERS else "0 AS size"
    signs = ("MIN(value) >= 0 OR MAX(value) <= 0" if kind in NUMBERS else "TRUE") + " AS alike"
    columns = ("SUM(n) AS rows", "COUNT(*) AS runs", "COUNT(*) - COUNT(value) AS missing", size, signs)
    held = engine.run(exp.select(*columns).from_("held")).to_pylist()[0]
    if held["missing"]:
        return None
    form: Form = "compact" if held["rows"] >= REPEATS * held["runs"] else "full"
    # What lies above the smallest values is all less these, if sums are exact; or if no values cancel, since the
    # largest add up to their share of all or more. Else the difference may have lost what matters.
    exact = kind == "integer" and held["size"] < LAST_WHOLE
    return HelpTable(form, kind, subtract=exact or held["alike"])


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
    condition = model.question.where["quasi"]
    if model.slots is not None and model.slots.wide and condition is not None:
        rows = model.slots.rows(condition, "mean", "variance", "sums", "aboves").subquery("rows")
        sums = "sums[picks + 1] AS low_sum", "aboves[size - picks + 1] AS high_sum"
        found = exp.select("*", *sums, dialect="duckdb").from_(rows)
        relations: Relations = {f"{name}_found": found}
        smallest, largest, once = "low_sum", "high_sum", ""
    else:
        ends = exp.union(
            exp.select("*", "TRUE AS low", "picks AS hits").from_("draws_sensitive"),
            exp.select("*", "FALSE AS low", "size - picks AS hits").from_("draws_sensitive"),
            distinct=False,
        )
        relations = {f"{name}_ends": ends, f"{name}_found": _look_up(form, f"{name}_ends", "hits", "sums")}
        smallest, largest = (f"CASE WHEN {end} THEN found END" for end in ("low", "NOT low"))
        once = " FILTER (WHERE low)"
    per_hit = f" / SUM(urns * picks){once}" if mean else ""
    deviation = "urns * picks * CAST(size - picks AS DOUBLE) / GREATEST(size - 1, 1) * variance"
    relations[f"{name}_sums"] = per_key(
        model,
        f"{name}_found",
        f"SUM(urns * picks * mean){once}{per_hit} AS estimate",
        f"SQRT(SUM({deviation}){once}){per_hit} AS stderr",
        f"SUM(urns * {smallest}){per_hit} AS low",
        f"SUM(urns * {largest}){per_hit} AS high",
        f"SUM(urns * picks){once} AS least",
    ).having(f"SUM(urns * picks){once} > 0")  # not a condition on each draw, which would be computed twice
    columns = (INSIDE, "stderr", "low", "high", "least")
    return {**relations, name: exp.select(*model.keys(), *columns).from_(f"{name}_sums")}


def _look_up(form: Form, relation: str, hits: str, what: Literal["sums", "value"]) -> exp.Select:
    """Beside each row of a relation: the totals of its urn, and what is `found` at `hits`.

    That is the last of so many smallest values; or their sum, and where not `low` the sum of those above.
    """
    query = exp.select("here.*", "least", "most", "mean", "variance").from_(exp.to_table(relation).as_("here"))
    query = query.join("totals", on="totals.signature = here.urn").where("picks > 0")
    if form == "full":
        place = f"steps.place = CAST(totals.place + {hits} AS INTEGER)"
        found = "CASE WHEN low THEN steps.sum ELSE steps.above END" if what == "sums" else "steps.value"
        return query.select(f"{found} AS found").join("steps", on=place)
    number = "CAST(value AS DOUBLE)"
    low, high = f"sum_below + ({hits} - below) * {number}", f"sum_above + (below + n - {hits}) * {number}"
    past, found = (">=", f"CASE WHEN low THEN {low} ELSE {high} END") if what == "sums" else (">", "value")
    run = exp.condition(f"runs.signature = here.urn AND {hits} {past} runs.below")
    query.append("joins", exp.Join(this=exp.to_table("runs"), method="ASOF", on=run))
    return query.select(f"{found} AS found")


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


SUM_ABOVE = """
    COALESCE(SUM(:each) OVER (PARTITION BY signature ORDER BY value
                              ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING), 0)
"""
TOTALS = """
    SELECT signature, CAST(SUM(size + 1) OVER (ORDER BY signature) - size - 1 AS INTEGER) AS place,
           least, most, sum_all, mean, variance
    FROM (
      SELECT signature, SUM(n) AS size, SUM(n * :number) AS sum_all, ANY_VALUE(mean) AS mean,
             MIN(value) AS least, MAX(value) AS most,
             SUM(n * (:number - mean) * (:number - mean)) / SUM(n) AS variance
      FROM held GROUP BY signature
    ) AS sizes
"""
COMPACT = {
    "totals": TOTALS,
    "runs": """
        SELECT signature, value, n, below, sum_below, COALESCE(above, sum_all - sum_below - n * :number) AS sum_above
        FROM (
          SELECT signature, value, n, below, sum_all, COALESCE(SUM(n * :number) OVER before, 0) AS sum_below,
                 :above AS above
          FROM held JOIN totals USING (signature)
          WINDOW before AS (PARTITION BY signature ORDER BY value ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
        ) AS runs
    """,
}
FULL = {
    "totals": TOTALS,
    "steps": """
        SELECT signature, place, value, sum, COALESCE(above, sum_all - sum) AS above
        FROM (
          SELECT signature, CAST(place + ROW_NUMBER() OVER in_order AS INTEGER) AS place, value, sum_all,
                 SUM(:number) OVER in_order AS sum, :above AS above
          FROM (
            SELECT signature, value FROM held
            UNION ALL SELECT signature, value FROM held, UNNEST(RANGE(n - 1)) AS copies(copy) WHERE n > 1
          ) AS copies JOIN totals USING (signature)
          WINDOW in_order AS (PARTITION BY signature ORDER BY value ROWS UNBOUNDED PRECEDING)
          UNION ALL SELECT signature, place, NULL, sum_all, 0, sum_all FROM totals
        ) AS steps
    """,
}
MADE = {"full": FULL, "compact": COMPACT}
