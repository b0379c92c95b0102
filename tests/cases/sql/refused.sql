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
-- a union | answers SELECT only, not UNION
SELECT COUNT(*) FROM microdata UNION SELECT COUNT(*) FROM microdata
-- a common table expression | WITH is not supported
WITH t AS (SELECT 1) SELECT COUNT(*) FROM microdata
-- a join | cannot be joined with itself
SELECT COUNT(*) FROM microdata AS a JOIN microdata AS b ON a.age = b.age
-- a comma join | cannot be joined with itself
SELECT COUNT(*) FROM microdata, microdata AS b
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
-- a subquery as table | about one table
SELECT COUNT(*) FROM (SELECT * FROM microdata) AS m
-- a sample | about one table
SELECT COUNT(*) FROM microdata TABLESAMPLE 10%
-- renamed columns | cannot be renamed
SELECT COUNT(*) FROM microdata AS m (a, b, c)
-- a subquery in WHERE | a subquery is not supported
SELECT COUNT(*) FROM microdata WHERE age > (SELECT AVG(age) FROM microdata)
-- a subquery in IN | a subquery is not supported
SELECT COUNT(*) FROM microdata WHERE age IN (SELECT age FROM microdata)
-- EXISTS | is not supported
SELECT COUNT(*) FROM microdata WHERE EXISTS (SELECT 1)
-- a window | a window function is not supported
SELECT COUNT(*) OVER () FROM microdata
-- DISTINCT | DISTINCT is not supported
SELECT DISTINCT age FROM microdata
-- COUNT DISTINCT of several | COUNT(DISTINCT …) takes one column or expression
SELECT COUNT(DISTINCT age, sex) FROM microdata
-- COUNT DISTINCT of a row | COUNT(DISTINCT …) takes one column or expression
SELECT COUNT(DISTINCT (age, sex)) FROM microdata
-- spread of text | STDDEV_SAMP needs numbers, but `sex` holds string
SELECT STDDEV(sex) FROM microdata
-- SUM DISTINCT | DISTINCT is not supported
SELECT SUM(DISTINCT age) FROM microdata
-- FILTER | FILTER is not supported
SELECT COUNT(*) FILTER (WHERE age > 3) FROM microdata
-- HAVING | HAVING is not supported
SELECT sex, COUNT(*) FROM microdata GROUP BY sex HAVING COUNT(*) > 3
-- QUALIFY | QUALIFY is not supported
SELECT sex, COUNT(*) FROM microdata GROUP BY sex QUALIFY COUNT(*) > 3
-- raw rows | no aggregate
SELECT sex FROM microdata GROUP BY sex
-- a bare column | neither an aggregate nor in GROUP BY
SELECT age, COUNT(*) FROM microdata
-- all columns | is not supported
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
-- arithmetic on aggregates | inside another expression
SELECT SUM(salary) / COUNT(*) FROM microdata
-- an aggregate in WHERE | inside another expression
SELECT COUNT(*) FROM microdata WHERE AVG(age) > 3
-- an aggregate of an aggregate | inside another expression
SELECT SUM(AVG(age)) FROM microdata
-- sides mixed under OR | mixes the sensitive column
SELECT COUNT(*) FROM microdata WHERE age > 30 OR salary > 50000
-- sides mixed in a comparison | mixes the sensitive column
SELECT COUNT(*) FROM microdata WHERE salary > 1000 * age
-- sides mixed under NOT | mixes the sensitive column
SELECT COUNT(*) FROM microdata WHERE NOT (age > 30 AND salary > 50000)
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
-- reading text | there is no column `content`
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
SELECT MEDIAN(sex) FROM microdata
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
-- grouping sets | `ROLLUP` is not supported
SELECT sex, COUNT(*) FROM microdata GROUP BY ROLLUP (sex)
-- GROUP BY ALL | only plain GROUP BY
SELECT sex, COUNT(*) FROM microdata GROUP BY ALL
-- grouping by an aggregate | names an aggregate
SELECT COUNT(*) FROM microdata GROUP BY 1
-- grouping by a missing number | no column number 3
SELECT COUNT(*) FROM microdata GROUP BY 3
-- grouping by a constant | names no column
SELECT 5, COUNT(*) FROM microdata GROUP BY 1
-- summing a constant | names no column
SELECT SUM(1) FROM microdata
-- sorting by something else | not a column of the answer
SELECT sex, COUNT(*) FROM microdata GROUP BY sex ORDER BY age
-- a computed limit | needs a whole number
SELECT sex, COUNT(*) FROM microdata GROUP BY sex LIMIT 1 + 1
-- a limit in percent | is not supported
SELECT sex, COUNT(*) FROM microdata GROUP BY sex LIMIT 10%
-- a placeholder | is not supported
SELECT COUNT(*) FROM microdata WHERE age > ?
-- a nested type | is not supported
SELECT COUNT(*) FROM microdata WHERE CAST(age AS INTEGER[]) IS NULL
-- a value that does not convert | cannot be computed
SELECT COUNT(*) FROM microdata WHERE CAST(sex AS INTEGER) = 1
-- comparing text with a number | cannot be computed
SELECT COUNT(*) FROM microdata WHERE sex > 1
