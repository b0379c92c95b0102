-- everybody | people
SELECT COUNT(*), SUM(salary) AS s FROM microdata;
SELECT COUNT(*) AS count, COUNT(*) AS count_low, COUNT(*) AS count_high,
       SUM(salary) AS s, SUM(salary) AS s_low, SUM(salary) AS s_high, 0.0 AS s_stderr
FROM permuted;

-- the sum of a range of ages, as in section 5.2 | people
SELECT SUM(salary) AS s FROM people WHERE age BETWEEN 35 AND 55;
WITH ht AS (
  SELECT "group", ROW_NUMBER() OVER (PARTITION BY "group" ORDER BY salary) AS hits,
         SUM(salary) OVER (PARTITION BY "group" ORDER BY salary ROWS UNBOUNDED PRECEDING) AS lb
  FROM permuted JOIN mapping USING ("row")
), ht_from_above AS (
  SELECT "group", ROW_NUMBER() OVER (PARTITION BY "group" ORDER BY salary DESC) AS hits,
         SUM(salary) OVER (PARTITION BY "group" ORDER BY salary DESC ROWS UNBOUNDED PRECEDING) AS ub
  FROM permuted JOIN mapping USING ("row")
), r1 AS (
  SELECT "group", COUNT(*) AS hits FROM mapping
  WHERE "row" IN (SELECT "row" FROM permuted WHERE age BETWEEN 35 AND 55) GROUP BY "group"
)
SELECT (SELECT SUM(lb) FROM r1 JOIN ht USING ("group", hits)) AS s_low,
       (SELECT SUM(ub) FROM r1 JOIN ht_from_above USING ("group", hits)) AS s_high;

-- mean and deviation of a sum over all possible answers | people
SELECT SUM(salary) AS s FROM microdata WHERE age < 40 AND sex = 'f';
WITH urns AS (
  SELECT "group", COUNT(*) AS n, AVG(salary) AS mean, VAR_POP(salary) AS variance,
         COUNT(*) FILTER (WHERE age < 40 AND sex = 'f') AS m
  FROM permuted JOIN mapping USING ("row") GROUP BY "group"
)
SELECT SUM(m * mean) AS s, SQRT(SUM(m * (n - m) / (n - 1) * variance)) AS s_stderr FROM urns;

-- an average is a sum by its hits | people
SELECT AVG(salary) AS a FROM microdata WHERE education = 'doctorate';
WITH hits AS (
  SELECT "group", COUNT(*) FILTER (WHERE education = 'doctorate') AS m FROM permuted JOIN mapping USING ("row") GROUP BY "group"
), ranked AS (
  SELECT "group", salary, ROW_NUMBER() OVER (PARTITION BY "group" ORDER BY salary) AS up,
         ROW_NUMBER() OVER (PARTITION BY "group" ORDER BY salary DESC) AS down,
         AVG(salary) OVER (PARTITION BY "group") AS mean
  FROM permuted JOIN mapping USING ("row")
)
SELECT SUM(salary) FILTER (WHERE up <= m) / (SELECT SUM(m) FROM hits) AS a_low,
       SUM(salary) FILTER (WHERE down <= m) / (SELECT SUM(m) FROM hits) AS a_high,
       SUM(mean) FILTER (WHERE up <= m) / (SELECT SUM(m) FROM hits) AS a
FROM ranked JOIN hits USING ("group");

-- the smallest of some women | people
SELECT MIN(salary) AS m FROM microdata WHERE sex = 'f' AND age BETWEEN 60 AND 64;
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM permuted JOIN mapping USING ("row")
  WHERE sex = 'f' AND age BETWEEN 60 AND 64 GROUP BY "group"
), ranked AS (
  SELECT "group", salary, ROW_NUMBER() OVER (PARTITION BY "group" ORDER BY salary DESC) AS down
  FROM permuted JOIN mapping USING ("row")
)
SELECT MIN(salary) AS m_low, MIN(salary) FILTER (WHERE down <= m) AS m_high FROM ranked JOIN hits USING ("group");

-- the largest of some men | people
SELECT MAX(salary) AS m FROM microdata WHERE sex = 'm' AND age < 20;
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM permuted JOIN mapping USING ("row") WHERE sex = 'm' AND age < 20 GROUP BY "group"
), ranked AS (
  SELECT "group", salary, ROW_NUMBER() OVER (PARTITION BY "group" ORDER BY salary) AS up
  FROM permuted JOIN mapping USING ("row")
)
SELECT MAX(salary) FILTER (WHERE up <= m) AS m_low, MAX(salary) AS m_high FROM ranked JOIN hits USING ("group");

-- bounds by education | people
SELECT education, SUM(salary) AS s, MIN(salary) AS m FROM microdata GROUP BY education;
WITH hits AS (
  SELECT education, "group", COUNT(*) AS m FROM permuted JOIN mapping USING ("row") GROUP BY education, "group"
), ranked AS (
  SELECT "group", salary, ROW_NUMBER() OVER (PARTITION BY "group" ORDER BY salary) AS up,
         ROW_NUMBER() OVER (PARTITION BY "group" ORDER BY salary DESC) AS down
  FROM permuted JOIN mapping USING ("row")
)
SELECT education, SUM(salary) FILTER (WHERE up <= m) AS s_low, SUM(salary) FILTER (WHERE down <= m) AS s_high,
       MIN(salary) AS m_low, MIN(salary) FILTER (WHERE down <= m) AS m_high
FROM ranked JOIN hits USING ("group") GROUP BY education ORDER BY education;

-- a condition that the help table cannot serve | people
SELECT COUNT(*) AS n FROM microdata WHERE age < 40 AND salary > 60000;
WITH urns AS (
  SELECT "group", COUNT(*) AS n, COUNT(*) FILTER (WHERE age < 40) AS m, COUNT(*) FILTER (WHERE salary > 60000) AS k
  FROM permuted JOIN mapping USING ("row") GROUP BY "group"
)
SELECT SUM(m * k / n) AS n, SUM(GREATEST(0, m + k - n)) AS n_low, SUM(LEAST(m, k)) AS n_high FROM urns;

-- a sum under such a condition | people
SELECT SUM(salary) AS s FROM microdata WHERE age < 30 AND salary <= 40000;
WITH urns AS (
  SELECT "group", COUNT(*) AS n, COUNT(*) FILTER (WHERE age < 30) AS m, COUNT(*) FILTER (WHERE salary <= 40000) AS k
  FROM permuted JOIN mapping USING ("row") GROUP BY "group"
), ranked AS (
  SELECT "group", salary, ROW_NUMBER() OVER (PARTITION BY "group" ORDER BY salary) AS up,
         ROW_NUMBER() OVER (PARTITION BY "group" ORDER BY salary DESC) AS down
  FROM permuted JOIN mapping USING ("row") WHERE salary <= 40000
)
SELECT SUM(salary * m / n) AS s, COALESCE(SUM(salary) FILTER (WHERE up <= m + k - n), 0) AS s_low,
       COALESCE(SUM(salary) FILTER (WHERE down <= LEAST(m, k)), 0) AS s_high
FROM ranked JOIN urns USING ("group");

-- the value that stands on a row is not believed | people
SELECT salary > 60000 AS rich, COUNT(*) AS n FROM microdata WHERE age = 41 GROUP BY salary > 60000;
WITH urns AS (
  SELECT "group", COUNT(*) AS n, COUNT(*) FILTER (WHERE age = 41) AS m FROM permuted JOIN mapping USING ("row") GROUP BY "group"
), kinds AS (
  SELECT "group", salary > 60000 AS rich, COUNT(*) AS k FROM permuted JOIN mapping USING ("row") GROUP BY ALL
)
SELECT rich, SUM(m * k / n) AS n, SUM(GREATEST(0, m + k - n)) AS n_low, SUM(LEAST(m, k)) AS n_high
FROM kinds JOIN urns USING ("group") WHERE m > 0 GROUP BY rich ORDER BY rich;

-- the median of everybody | people
SELECT MEDIAN(salary) AS m FROM microdata;
SELECT MEDIAN(salary) AS m_low, MEDIAN(salary) AS m_high FROM permuted;

-- people without an age | gaps
SELECT COUNT(*) AS n, MAX(salary) AS m FROM microdata WHERE age IS NULL;
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM permuted JOIN mapping USING ("row") WHERE age IS NULL GROUP BY "group"
), ranked AS (
  SELECT "group", salary, ROW_NUMBER() OVER (PARTITION BY "group" ORDER BY salary) AS up
  FROM permuted JOIN mapping USING ("row")
)
SELECT (SELECT SUM(m) FROM hits) AS n, MAX(salary) FILTER (WHERE up <= m) AS m_low, MAX(salary) AS m_high
FROM ranked JOIN hits USING ("group");

-- quasi-identifiers alone are as they were | gaps
SELECT sex, COUNT(age) AS n, AVG(age) AS a, MAX(age) AS m FROM microdata GROUP BY sex;
SELECT sex, COUNT(age) AS n, AVG(age) AS a, AVG(age) AS a_low, AVG(age) AS a_high, 0.0 AS a_stderr, MAX(age) AS m
FROM permuted GROUP BY sex ORDER BY sex;
