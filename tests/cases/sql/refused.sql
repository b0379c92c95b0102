-- two statements | expected one statement, got 2
SELECT COUNT(*) FROM microdata; SELECT COUNT(*) FROM microdata
-- nothing | expected one statement, got 0
-- no SQL | not SQL that can be read
SELECT COUNT(* FROM microdata
-- creating | answers SELECT only, not CREATE
CREATE TABLE t AS SELECT 1
-- dropping | answers SELECT only, not DROP
DROP TABLE qit
-- deleting | answers SELECT only, not DELETE
DELETE FROM microdata
-- writing a file | answers SELECT only, not COPY
COPY microdata TO 'out.csv'
-- attaching | answers SELECT only, not ATTACH
ATTACH 'other.db'
-- settings | answers SELECT only, not SET
SET memory_limit = '1GB'
-- a pragma | answers SELECT only, not PRAGMA
PRAGMA show_tables
-- loading code | answers SELECT only
INSTALL httpfs
-- a join | cannot be joined with itself
SELECT AVG(a.salary) FROM microdata AS a JOIN microdata AS b ON a.age = b.age
-- a comma join | cannot be joined with itself
SELECT AVG(microdata.salary) FROM microdata, microdata AS b
-- no table | about one table
SELECT COUNT(*)
-- another table | about one table
SELECT COUNT(*) FROM qit
-- the help table | about one table
SELECT COUNT(*) FROM help
-- a file as table | about one table
SELECT COUNT(*) FROM 'qit.parquet'
-- a file function | about one table
SELECT COUNT(*) FROM read_csv('/etc/passwd')
-- another schema | about one table
SELECT COUNT(*) FROM information_schema.microdata
-- a sample | about one table
SELECT COUNT(*) FROM microdata TABLESAMPLE 10%
-- renamed columns | cannot be renamed
SELECT AVG(c) FROM microdata AS m (a, b, c)
-- a subquery in WHERE | a subquery is not supported
SELECT COUNT(*) FROM microdata WHERE salary > (SELECT AVG(salary) FROM microdata AS m WHERE m.age = microdata.age)
-- a subquery in IN | a subquery is not supported
SELECT COUNT(*) FROM microdata WHERE salary IN (SELECT salary FROM microdata)
-- a window | neither an aggregate nor in GROUP BY
SELECT SUM(salary) OVER () FROM microdata
-- DISTINCT | neither an aggregate nor in GROUP BY
SELECT DISTINCT salary FROM microdata
-- COUNT DISTINCT of a row | COUNT(DISTINCT …) takes one column or expression
SELECT COUNT(DISTINCT (age, sex)) FROM microdata WHERE salary > 3
-- spread of text | STDDEV_SAMP needs numbers, but `sex` holds texts
SELECT STDDEV(sex) FROM microdata
-- SUM DISTINCT | DISTINCT is not supported
SELECT SUM(DISTINCT salary) FROM microdata
-- QUALIFY | neither an aggregate nor in GROUP BY
SELECT sex, COUNT(*) FROM microdata GROUP BY sex QUALIFY salary > 3
-- a bare column | neither an aggregate nor in GROUP BY
SELECT age, COUNT(*) FROM microdata
-- all columns | no aggregate
SELECT * FROM microdata
-- columns by pattern | is not supported
SELECT COUNT(COLUMNS('a.*')) FROM microdata
-- other aggregates | `SKEWNESS` is not supported
SELECT SKEWNESS(salary) FROM microdata
-- collecting rows | is not supported
SELECT LIST(salary) FROM microdata
-- any row | is not supported
SELECT ANY_VALUE(salary) FROM microdata
-- two columns in one aggregate | is not supported
SELECT ARG_MAX(age, salary) FROM microdata
-- an aggregate in WHERE | inside another expression
SELECT COUNT(*) FROM microdata WHERE AVG(age) > 3
-- an aggregate of an aggregate | an aggregate of an aggregate
SELECT SUM(AVG(age)) FROM microdata
-- sides mixed in a comparison | mixes the sensitive column
SELECT COUNT(*) FROM microdata WHERE salary > 1000 * age
-- sides mixed in an argument | mixes the sensitive column
SELECT SUM(salary * age) FROM microdata
-- sides mixed in a key | mixes the sensitive column
SELECT salary > 1000 * age, COUNT(*) FROM microdata GROUP BY 1
-- an unknown column | there is no column
SELECT COUNT(*) FROM microdata WHERE shoe_size > 3
-- a misspelt column | did you mean `salary`
SELECT AVG(salry) FROM microdata
-- the group column | there is no column
SELECT COUNT(*) FROM microdata WHERE "group" = 1
-- a dropped column | there is no column
SELECT COUNT(*) FROM microdata WHERE name = 'Bob'
-- a column of another table | there is no column
SELECT COUNT(*) FROM microdata WHERE qit.age > 3
-- a file function in an expression | is not supported
SELECT COUNT(*) FROM microdata WHERE sex = getenv('HOME')
-- reading text | a subquery is not supported
SELECT COUNT(*) FROM microdata WHERE sex IN (SELECT content FROM read_text('/etc/passwd'))
-- chance | is not supported
SELECT COUNT(*) FROM microdata WHERE random() < 0.5
-- the clock | is not supported
SELECT COUNT(*) FROM microdata WHERE age > 0 AND CURRENT_DATE > DATE '2020-01-01'
-- settings in an expression | is not supported
SELECT COUNT(*) FROM microdata WHERE sex = current_setting('memory_limit')
-- a lambda | is not supported
SELECT COUNT(*) FROM microdata WHERE list_filter([age], x -> x > 1) IS NOT NULL
-- SUM of text | SUM needs numbers
SELECT SUM(sex) FROM microdata
-- AVG of text | AVG needs numbers
SELECT AVG(education) FROM microdata WHERE salary > 3
-- MEDIAN of text | MEDIAN needs numbers
SELECT MEDIAN(sex) FROM microdata WHERE salary > 3
-- a quantile beyond 1 | fraction between 0 and 1
SELECT QUANTILE(salary, 1.5) FROM microdata
-- a quantile without a fraction | fraction between 0 and 1
SELECT QUANTILE(salary) FROM microdata
-- several quantiles | fraction between 0 and 1
SELECT QUANTILE(salary, [0.1, 0.9]) FROM microdata
-- an approximate quantile | is not supported
SELECT APPROX_QUANTILE(salary, 0.5) FROM microdata
-- the n smallest | is not supported
SELECT MIN(salary, 3) FROM microdata
-- grouping sets | `ROLLUP (sex)` is not supported
SELECT sex, AVG(salary) FROM microdata GROUP BY ROLLUP (sex)
-- grouping by an aggregate | names an aggregate
SELECT COUNT(*) FROM microdata GROUP BY 1
-- grouping by a missing number | no column number 3
SELECT COUNT(*) FROM microdata GROUP BY 3
-- summing a constant | names no column
SELECT SUM(1) FROM microdata WHERE salary > 3
-- sorting by something else | neither an aggregate nor in GROUP BY
SELECT sex, COUNT(*) FROM microdata GROUP BY sex ORDER BY age
-- a computed limit | needs a whole number
SELECT sex, AVG(salary) FROM microdata GROUP BY sex LIMIT 1 + 1
-- a limit in percent | needs a whole number
SELECT sex, AVG(salary) FROM microdata GROUP BY sex LIMIT 10%
-- a placeholder | is not supported
SELECT COUNT(*) FROM microdata WHERE age > ?
-- a nested type | is not supported
SELECT COUNT(*) FROM microdata WHERE CAST(age AS INTEGER[]) IS NULL
-- a value that does not convert | cannot be computed
SELECT COUNT(*) FROM microdata WHERE CAST(sex AS INTEGER) = 1
-- comparing text with a number | cannot be computed
SELECT COUNT(*) FROM microdata WHERE sex > 1
-- a table of the engine in a subquery | about one table
SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM signatures) AS t
-- a table of the engine in WITH | about one table
WITH t AS (SELECT "group", COUNT(*) AS n FROM st GROUP BY 1) SELECT MAX(n) FROM t
-- rows of this very layer | there is no column
SELECT SUM(part_0) FROM (SELECT COUNT(*) AS n FROM microdata WHERE salary > 3) AS t
-- a file in a scalar subquery | about one table
SELECT COUNT(*) / (SELECT COUNT(*) FROM 'qit.parquet') FROM microdata
-- a setting beside an aggregate | is not supported
SELECT AVG(salary) || current_setting('memory_limit') FROM microdata
-- chance beside an aggregate | is not supported
SELECT AVG(salary) + random() FROM microdata
-- the clock in HAVING | is not supported
SELECT sex, AVG(salary) FROM microdata GROUP BY sex HAVING CURRENT_DATE > DATE '2020-01-01'
-- a file function over quasi-identifiers | is not supported
SELECT age, COUNT(getenv('HOME')) FROM microdata GROUP BY age
-- recursion | WITH RECURSIVE is not supported
WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT AVG(salary) + MAX(n) FROM microdata, t
-- an order of a window by nothing of the answer | neither an aggregate nor in GROUP BY
SELECT sex, RANK() OVER (ORDER BY salary) FROM microdata GROUP BY sex
-- a window of another kind | is not supported
SELECT sex, LIST(AVG(salary)) OVER () FROM microdata GROUP BY sex
-- UNION of different widths | UNION of 1 columns and 2
SELECT AVG(salary) FROM microdata UNION ALL SELECT AVG(salary), 1 FROM microdata
-- grouping by an estimate | only estimated
SELECT n, COUNT(*) FROM (SELECT age, COUNT(*) AS n FROM microdata WHERE salary > 50000 GROUP BY age) AS t GROUP BY n
-- INTERSECT | INTERSECT is not supported
SELECT AVG(salary) FROM microdata INTERSECT SELECT 3
-- a median over both sides of OR | has no bounds
SELECT MEDIAN(salary) FROM microdata WHERE age > 30 OR salary > 50000
-- DISTINCT ON | DISTINCT ON is not supported
SELECT DISTINCT ON (sex) sex, AVG(salary) FROM microdata GROUP BY sex
-- bounds of a key | names the bounds of a column that has none
SELECT sex, AVG(salary) FROM microdata GROUP BY sex ORDER BY sex_low
-- WITH that grows without end | too long once its WITH is written out
WITH a AS (SELECT sex, AVG(salary) AS n FROM microdata GROUP BY sex), b AS (SELECT * FROM a UNION ALL SELECT * FROM a), c AS (SELECT * FROM b UNION ALL SELECT * FROM b UNION ALL SELECT * FROM b UNION ALL SELECT * FROM b), d AS (SELECT * FROM c UNION ALL SELECT * FROM c UNION ALL SELECT * FROM c UNION ALL SELECT * FROM c), e AS (SELECT * FROM d UNION ALL SELECT * FROM d UNION ALL SELECT * FROM d UNION ALL SELECT * FROM d), f AS (SELECT * FROM e UNION ALL SELECT * FROM e UNION ALL SELECT * FROM e UNION ALL SELECT * FROM e UNION ALL SELECT * FROM e) SELECT * FROM f
-- a function by the name it was given | `APPROX_QUANTILE` is not supported: `APPROX_QUANTILE(salary, 0.5)`
SELECT APPROX_QUANTILE(salary, 0.5) FROM microdata
-- an aggregate that nobody knows | `GEOMEAN` is not supported: `GEOMEAN(salary)`: it is not one of the functions
SELECT GEOMEAN(salary) FROM microdata
-- an operator | `sex -> '$.a'` is not supported: it is not one of the functions
SELECT COUNT(*) FROM microdata WHERE sex -> '$.a' = 3 AND salary > 3
-- another type | `FOO` is not supported: it is no type of plain values
SELECT COUNT(*) FROM microdata WHERE salary::FOO > 3
-- IN without a list | IN after `age` has no list
SELECT COUNT(*) FROM microdata WHERE age IN
-- a named window | WINDOW is not supported
SELECT SUM(salary) OVER w FROM microdata WINDOW w AS (PARTITION BY sex)
-- how, not what | answers SELECT only, not EXPLAIN: it asks how and not what
EXPLAIN SELECT COUNT(*) FROM microdata
-- a sum of texts | SUM needs numbers, but `sex` holds texts
SELECT SUM(sex) FROM microdata
