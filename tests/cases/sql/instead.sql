-- single rows
SELECT * FROM microdata WHERE sex = 'f' LIMIT 5;
SELECT COUNT(*) AS n, MIN(salary) AS min_salary, AVG(salary) AS avg_salary, MAX(salary) AS max_salary FROM microdata WHERE sex = 'f';
-- the best paid
SELECT age, salary FROM microdata ORDER BY salary DESC LIMIT 5;
SELECT age, COUNT(*) AS n, MAX(salary) AS max_salary FROM microdata GROUP BY age ORDER BY max_salary DESC LIMIT 5;
-- a correlation
SELECT CORR(age, salary) FROM microdata WHERE sex = 'f';
SELECT age, COUNT(*) AS n, AVG(salary) AS avg_salary FROM microdata WHERE sex = 'f' GROUP BY age ORDER BY age;
-- a figure of two sides
SELECT AVG(salary / age) FROM microdata;
SELECT age, COUNT(*) AS n, AVG(salary) AS avg_salary FROM microdata GROUP BY age ORDER BY age;
-- the most frequent
SELECT sex, MODE(education) FROM microdata WHERE salary > 50000 GROUP BY sex;
SELECT sex, education, COUNT(*) AS n FROM microdata WHERE salary > 50000 GROUP BY sex, education ORDER BY n DESC;
-- a list in a cell
SELECT STRING_AGG(DISTINCT education, ', ') FROM microdata WHERE salary > 50000;
SELECT education, COUNT(*) AS n FROM microdata WHERE salary > 50000 GROUP BY education;
-- pairs of people
SELECT COUNT(*) FROM microdata a JOIN microdata b ON a.sex = b.sex AND a.salary > b.salary;
SELECT sex, COUNT(*) AS n, MIN(salary) AS min_salary, MEDIAN(salary) AS median_salary, MAX(salary) AS max_salary FROM microdata GROUP BY sex;
-- against the others of a group
SELECT sex, COUNT(*) FROM microdata m WHERE salary > (SELECT AVG(salary) FROM microdata o WHERE o.sex = m.sex) GROUP BY sex;
SELECT sex, COUNT(*) AS n, AVG(salary) AS avg_salary, MEDIAN(salary) AS median_salary FROM microdata GROUP BY sex;
-- misspelt columns
SELECT AVG(salry) FROM microdata WHERE sxe = 'f';
SELECT AVG(salary) FROM microdata WHERE sex = 'f';
-- a misspelt table
SELECT COUNT(*) FROM mircodata;
SELECT COUNT(*) FROM microdata;
-- a sum of a constant
SELECT SUM(1) FROM microdata WHERE salary > 3;
SELECT COUNT(*) FROM microdata WHERE salary > 3;
-- an approximate figure of a sample
SELECT APPROX_QUANTILE(salary, 0.5) FROM microdata TABLESAMPLE 10%;
SELECT QUANTILE_CONT(salary, 0.5) FROM microdata;
-- several quantiles
SELECT QUANTILE_CONT(salary, [0.1, 0.9]) FROM microdata;
SELECT QUANTILE_CONT(salary, 0.1) AS q1, QUANTILE_CONT(salary, 0.9) AS q9 FROM microdata;
-- any of the values
SELECT sex, ANY_VALUE(salary) FROM microdata GROUP BY sex;
SELECT sex, MIN(salary) FROM microdata GROUP BY sex;
-- the n smallest
SELECT MIN(salary, 3) FROM microdata;
SELECT MIN(salary) FROM microdata;
-- a window over rows
SELECT sex, AVG(salary) OVER (PARTITION BY sex) FROM microdata;
SELECT sex, AVG(salary) FROM microdata GROUP BY sex;
-- a key that is not grouped by
SELECT sex, education, AVG(salary) FROM microdata GROUP BY sex;
SELECT sex, education, AVG(salary) FROM microdata GROUP BY sex, education;
-- grouping by an aggregate
SELECT AVG(salary) FROM microdata GROUP BY 1;
SELECT AVG(salary) FROM microdata;
-- a mean of words
SELECT AVG(education) FROM microdata WHERE salary > 30000;
SELECT education, COUNT(*) AS n FROM microdata WHERE salary > 30000 GROUP BY education;
-- two questions
SELECT AVG(salary) FROM microdata; SELECT COUNT(*) FROM microdata;
SELECT AVG(salary) FROM microdata;
-- against a figure of everybody
SELECT sex, COUNT(*) FROM microdata WHERE salary > (SELECT MEDIAN(salary) FROM microdata) GROUP BY sex;
SELECT sex, COUNT(*) FROM microdata WHERE salary > 68500 GROUP BY sex;
-- a pivot
PIVOT microdata ON sex USING AVG(salary) GROUP BY education;
SELECT education, sex, AVG(salary) FROM microdata GROUP BY education, sex;
-- totals
SELECT sex, AVG(salary) AS pay FROM microdata GROUP BY ROLLUP (sex);
SELECT sex, AVG(salary) AS pay FROM microdata GROUP BY sex UNION ALL SELECT NULL AS sex, AVG(salary) AS pay FROM microdata;
-- different values of an inner SELECT
WITH t AS (SELECT * FROM microdata WHERE age > 30) SELECT DISTINCT salary FROM t ORDER BY salary LIMIT 3;
SELECT salary, COUNT(*) AS n FROM microdata WHERE age > 30 GROUP BY salary ORDER BY salary LIMIT 3;
-- different pairs
SELECT DISTINCT sex, salary FROM microdata WHERE age > 30;
SELECT sex, salary, COUNT(*) AS n FROM microdata WHERE age > 30 GROUP BY sex, salary;
-- all rows of an inner SELECT
SELECT * FROM (SELECT * FROM microdata WHERE sex = 'f') AS t;
SELECT COUNT(*) AS n, MIN(salary) AS min_salary, AVG(salary) AS avg_salary, MAX(salary) AS max_salary FROM microdata WHERE sex = 'f';
