-- everybody | people
SELECT COUNT(*) FROM microdata;
SELECT COUNT(*) AS count, COUNT(*) AS count_low, COUNT(*) AS count_high FROM qit;

-- a condition on quasi-identifiers | people
SELECT COUNT(*) FROM people WHERE age < 40 AND sex = 'f';
SELECT COUNT(*) AS count, COUNT(*) AS count_low, COUNT(*) AS count_high FROM qit WHERE age < 40 AND sex = 'f';

-- a condition on the sensitive column | people
SELECT COUNT(*) FROM microdata WHERE salary > 100000;
SELECT SUM("count") AS count, SUM("count") AS count_low, SUM("count") AS count_high FROM st WHERE salary > 100000;

-- conditions on both | people
SELECT COUNT(*) FROM microdata WHERE age < 40 AND salary > 100000;
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM qit WHERE age < 40 GROUP BY "group"
), urns AS (
  SELECT "group", SUM("count") AS n, COALESCE(SUM("count") FILTER (WHERE salary > 100000), 0) AS k FROM st GROUP BY "group"
)
SELECT SUM(m * k / n) AS count, SUM(GREATEST(0, m + k - n)) AS count_low, SUM(LEAST(m, k)) AS count_high
FROM hits JOIN urns USING ("group");

-- either of two, on each side | people
SELECT COUNT(*) AS n FROM microdata WHERE (age < 25 OR education = 'doctorate') AND (salary < 40000 OR salary > 120000);
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM qit WHERE age < 25 OR education = 'doctorate' GROUP BY "group"
), urns AS (
  SELECT "group", SUM("count") AS n, COALESCE(SUM("count") FILTER (WHERE salary < 40000 OR salary > 120000), 0) AS k
  FROM st GROUP BY "group"
)
SELECT SUM(m * k / n) AS n, SUM(GREATEST(0, m + k - n)) AS n_low, SUM(LEAST(m, k)) AS n_high
FROM hits JOIN urns USING ("group");

-- NOT over OR joins both sides | people
SELECT COUNT(*) FROM microdata WHERE NOT (age >= 40 OR salary <= 100000 OR sex LIKE 'm%');
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM qit WHERE age < 40 AND sex NOT LIKE 'm%' GROUP BY "group"
), urns AS (
  SELECT "group", SUM("count") AS n, COALESCE(SUM("count") FILTER (WHERE salary > 100000), 0) AS k FROM st GROUP BY "group"
)
SELECT SUM(m * k / n) AS count, SUM(GREATEST(0, m + k - n)) AS count_low, SUM(LEAST(m, k)) AS count_high
FROM hits JOIN urns USING ("group");

-- LIKE, IN, BETWEEN, and NOT | people
SELECT COUNT(*) FROM microdata
WHERE education NOT LIKE '%ma%' AND sex IN ('f', 'x') AND NOT age BETWEEN 30 AND 50 AND salary IN (50000, 60000, 70000);
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM qit
  WHERE strpos(education, 'ma') = 0 AND sex = 'f' AND (age < 30 OR age > 50) GROUP BY "group"
), urns AS (
  SELECT "group", SUM("count") AS n,
         COALESCE(SUM("count") FILTER (WHERE salary = 50000 OR salary = 60000 OR salary = 70000), 0) AS k
  FROM st GROUP BY "group"
)
SELECT SUM(m * k / n) AS count, SUM(GREATEST(0, m + k - n)) AS count_low, SUM(LEAST(m, k)) AS count_high
FROM hits JOIN urns USING ("group");

-- expressions on both sides | people
SELECT COUNT(*) FROM microdata WHERE age % 2 = 0 AND upper(left(education, 1)) = 'B' AND salary / 1000 > 2 * 30 + 7;
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM qit WHERE age & 1 = 0 AND education = 'bachelor' GROUP BY "group"
), urns AS (
  SELECT "group", SUM("count") AS n, COALESCE(SUM("count") FILTER (WHERE salary > 67000), 0) AS k FROM st GROUP BY "group"
)
SELECT SUM(m * k / n) AS count, SUM(GREATEST(0, m + k - n)) AS count_low, SUM(LEAST(m, k)) AS count_high
FROM hits JOIN urns USING ("group");

-- nobody | people
SELECT COUNT(*), SUM(salary) FROM microdata WHERE age > 1000;
SELECT 0 AS count, 0 AS count_low, 0 AS count_high, NULL AS sum_salary, NULL AS sum_salary_low, NULL AS sum_salary_high;

-- missing quasi-identifiers are skipped by COUNT(col) | gaps
SELECT COUNT(*), COUNT(age) FROM microdata WHERE sex = 'm';
SELECT COUNT(*) AS count, COUNT(age) AS count_age, COUNT(age) AS count_age_low, COUNT(age) AS count_age_high
FROM qit WHERE sex = 'm';

-- IS NULL on a quasi-identifier | gaps
SELECT COUNT(*) FROM microdata WHERE age IS NULL OR NOT age IS NOT NULL;
SELECT COUNT(*) - COUNT(age) AS count, COUNT(*) - COUNT(age) AS count_low, COUNT(*) - COUNT(age) AS count_high FROM qit;

-- a missing value satisfies no comparison, not even a denied one | gaps
SELECT COUNT(*) FROM microdata WHERE NOT age > 40 AND NOT salary > 60000;
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM qit WHERE age <= 40 GROUP BY "group"
), urns AS (
  SELECT "group", SUM("count") AS n, COALESCE(SUM("count") FILTER (WHERE salary <= 60000), 0) AS k FROM st GROUP BY "group"
)
SELECT SUM(m * k / n) AS count, SUM(GREATEST(0, m + k - n)) AS count_low, SUM(LEAST(m, k)) AS count_high
FROM hits JOIN urns USING ("group");

-- missing sensitive values are skipped by COUNT(col) | gaps
SELECT COUNT(salary) FROM microdata WHERE age < 30;
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM qit WHERE age < 30 GROUP BY "group"
), urns AS (
  SELECT "group", SUM("count") AS n, COALESCE(SUM("count") FILTER (WHERE salary IS NOT NULL), 0) AS k FROM st GROUP BY "group"
)
SELECT SUM(m * k / n) AS count_salary, SUM(GREATEST(0, m + k - n)) AS count_salary_low, SUM(LEAST(m, k)) AS count_salary_high
FROM hits JOIN urns USING ("group");

-- IS NULL on the sensitive column | gaps
SELECT COUNT(*) FROM microdata WHERE sex = 'f' AND salary IS NULL;
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM qit WHERE sex = 'f' GROUP BY "group"
), urns AS (
  SELECT "group", SUM("count") AS n, COALESCE(SUM("count") FILTER (WHERE salary IS NULL), 0) AS k FROM st GROUP BY "group"
)
SELECT SUM(m * k / n) AS count, SUM(GREATEST(0, m + k - n)) AS count_low, SUM(LEAST(m, k)) AS count_high
FROM hits JOIN urns USING ("group");

-- COUNT of a quasi-identifier under a sensitive condition | gaps
SELECT COUNT(age) FROM microdata WHERE salary > 60000;
WITH rows_of AS (
  SELECT "group", COUNT(*) AS n, COUNT(age) AS m FROM qit GROUP BY "group"
), holders AS (
  SELECT "group", SUM("count") AS k FROM st WHERE salary > 60000 GROUP BY "group"
)
SELECT SUM(m * k / n) AS count_age, SUM(GREATEST(0, m + k - n)) AS count_age_low, SUM(LEAST(m, k)) AS count_age_high
FROM rows_of JOIN holders USING ("group");

-- SUM of the sensitive column of everybody | people
SELECT SUM(salary), AVG(salary), MIN(salary), MAX(salary) FROM microdata;
SELECT SUM(salary * "count") AS sum_salary, SUM(salary * "count") AS sum_salary_low, SUM(salary * "count") AS sum_salary_high,
       SUM(salary * "count") / SUM("count") AS avg_salary, SUM(salary * "count") / SUM("count") AS avg_salary_low,
       SUM(salary * "count") / SUM("count") AS avg_salary_high,
       MIN(salary) AS min_salary_low, MIN(salary) AS min_salary_high, MAX(salary) AS max_salary_low, MAX(salary) AS max_salary_high
FROM st;

-- SUM of the sensitive column: the smallest and the largest values of each group, by prefix sums | people
SELECT SUM(salary) FROM microdata WHERE age < 40;
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM qit WHERE age < 40 GROUP BY "group"
), runs AS (
  SELECT "group", salary, "count" AS c, SUM("count") OVER (PARTITION BY "group") AS n,
         SUM("count") OVER (PARTITION BY "group" ORDER BY salary) - "count" AS below,
         SUM("count") OVER (PARTITION BY "group" ORDER BY salary DESC) - "count" AS above
  FROM st
)
SELECT SUM(salary * c * m / n) AS sum_salary,
       SUM(salary * LEAST(c, GREATEST(0, m - below))) AS sum_salary_low,
       SUM(salary * LEAST(c, GREATEST(0, m - above))) AS sum_salary_high
FROM hits JOIN runs USING ("group");

-- AVG of the sensitive column: the same, shared among those who match | people
SELECT AVG(salary) FROM microdata WHERE age < 40;
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM qit WHERE age < 40 GROUP BY "group"
), runs AS (
  SELECT "group", salary, "count" AS c, SUM("count") OVER (PARTITION BY "group") AS n,
         SUM("count") OVER (PARTITION BY "group" ORDER BY salary) - "count" AS below,
         SUM("count") OVER (PARTITION BY "group" ORDER BY salary DESC) - "count" AS above
  FROM st
), total AS (
  SELECT SUM(m) AS people FROM hits
)
SELECT SUM(salary * c * m / n) / ANY_VALUE(people) AS avg_salary,
       SUM(salary * LEAST(c, GREATEST(0, m - below))) / ANY_VALUE(people) AS avg_salary_low,
       SUM(salary * LEAST(c, GREATEST(0, m - above))) / ANY_VALUE(people) AS avg_salary_high
FROM hits JOIN runs USING ("group"), total;

-- SUM where a value may be missing: missing ones are drawn first, or last | gaps
SELECT SUM(salary) FROM microdata WHERE age < 40;
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM qit WHERE age < 40 GROUP BY "group"
), sizes AS (
  SELECT "group", SUM("count") AS n, COALESCE(SUM("count") FILTER (WHERE salary IS NULL), 0) AS missing FROM st GROUP BY "group"
), runs AS (
  SELECT "group", salary, "count" AS c,
         SUM("count") OVER (PARTITION BY "group" ORDER BY salary) - "count" AS below,
         SUM("count") OVER (PARTITION BY "group" ORDER BY salary DESC) - "count" AS above
  FROM st WHERE salary IS NOT NULL
)
SELECT SUM(salary * c * m / n) AS sum_salary,
       SUM(salary * LEAST(c, GREATEST(0, m - missing - below))) AS sum_salary_low,
       SUM(salary * LEAST(c, GREATEST(0, m - above))) AS sum_salary_high
FROM hits JOIN runs USING ("group") JOIN sizes USING ("group");

-- MIN of the sensitive column | people
SELECT MIN(salary) FROM microdata WHERE age > 90;
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM qit WHERE age > 90 GROUP BY "group"
), runs AS (
  SELECT "group", salary, "count" AS c, SUM("count") OVER (PARTITION BY "group") AS n,
         SUM("count") OVER (PARTITION BY "group" ORDER BY salary DESC) - "count" AS above
  FROM st
), weights AS (
  SELECT salary, SUM(SUM(c * m / n)) OVER (ORDER BY salary) AS expected
  FROM hits JOIN runs USING ("group") GROUP BY salary
)
SELECT (SELECT MIN(salary) FROM weights WHERE expected > 0.999999) AS min_salary,
       MIN(salary) AS min_salary_low, MIN(salary) FILTER (WHERE above < m) AS min_salary_high
FROM hits JOIN runs USING ("group");

-- MAX of the sensitive column | people
SELECT MAX(salary) FROM microdata WHERE age > 90;
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM qit WHERE age > 90 GROUP BY "group"
), runs AS (
  SELECT "group", salary, "count" AS c, SUM("count") OVER (PARTITION BY "group") AS n,
         SUM("count") OVER (PARTITION BY "group" ORDER BY salary) - "count" AS below
  FROM st
), weights AS (
  SELECT salary, SUM(SUM(c * m / n)) OVER (ORDER BY salary DESC) AS expected
  FROM hits JOIN runs USING ("group") GROUP BY salary
)
SELECT (SELECT MAX(salary) FROM weights WHERE expected > 0.999999) AS max_salary,
       MAX(salary) FILTER (WHERE below < m) AS max_salary_low, MAX(salary) AS max_salary_high
FROM hits JOIN runs USING ("group");

-- MEDIAN and a quantile: of the smallest and of the largest values of each group | people
SELECT MEDIAN(salary), QUANTILE(salary, 0.9) FROM microdata WHERE education = 'doctorate';
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM qit WHERE education = 'doctorate' GROUP BY "group"
), balls AS (
  SELECT "group", salary, ROW_NUMBER() OVER (PARTITION BY "group" ORDER BY salary) AS up,
         ROW_NUMBER() OVER (PARTITION BY "group" ORDER BY salary DESC) AS down
  FROM st, range("count")
)
SELECT MEDIAN(salary) FILTER (WHERE up <= m) AS median_salary_low, MEDIAN(salary) FILTER (WHERE down <= m) AS median_salary_high,
       QUANTILE_DISC(salary, 0.9) FILTER (WHERE up <= m) AS quantile_salary_low,
       QUANTILE_DISC(salary, 0.9) FILTER (WHERE down <= m) AS quantile_salary_high
FROM hits JOIN balls USING ("group");

-- aggregates of quasi-identifiers are exact | gaps
SELECT SUM(age), AVG(age), MIN(age), MAX(age), MEDIAN(age), QUANTILE(age, 0.1) AS tenth FROM microdata WHERE sex = 'f';
SELECT SUM(age) AS sum_age, SUM(age) AS sum_age_low, SUM(age) AS sum_age_high, AVG(age) AS avg_age, AVG(age) AS avg_age_low,
       AVG(age) AS avg_age_high, MIN(age) AS min_age, MIN(age) AS min_age_high, MAX(age) AS max_age, MAX(age) AS max_age_low,
       MEDIAN(age) AS median_age, MEDIAN(age) AS median_age_low, QUANTILE_DISC(age, 0.1) AS tenth, QUANTILE_DISC(age, 0.1) AS tenth_high
FROM qit WHERE sex = 'f';

-- a quasi-identifier of those who hold a value: the youngest and the oldest of each group | people
SELECT AVG(age), SUM(age) FROM microdata WHERE salary > 100000;
WITH holders AS (
  SELECT "group", SUM("count") AS k FROM st WHERE salary > 100000 GROUP BY "group"
), balls AS (
  SELECT "group", age, COUNT(*) OVER (PARTITION BY "group") AS n,
         ROW_NUMBER() OVER (PARTITION BY "group" ORDER BY age) AS up,
         ROW_NUMBER() OVER (PARTITION BY "group" ORDER BY age DESC) AS down
  FROM qit
), total AS (
  SELECT SUM(k) AS people FROM holders
)
SELECT SUM(age * k / n) AS sum_age, SUM(age) FILTER (WHERE up <= k) AS sum_age_low, SUM(age) FILTER (WHERE down <= k) AS sum_age_high,
       SUM(age * k / n) / ANY_VALUE(people) AS avg_age, SUM(age) FILTER (WHERE up <= k) / ANY_VALUE(people) AS avg_age_low,
       SUM(age) FILTER (WHERE down <= k) / ANY_VALUE(people) AS avg_age_high
FROM holders JOIN balls USING ("group"), total;

-- GROUP BY a quasi-identifier, a missing one last | gaps
SELECT age, COUNT(*) FROM microdata WHERE age IS NULL OR age > 85 GROUP BY age;
SELECT age, COUNT(*) AS count, COUNT(*) AS count_low, COUNT(*) AS count_high
FROM qit WHERE age IS NULL OR age > 85 GROUP BY age ORDER BY age NULLS LAST;

-- GROUP BY a quasi-identifier with a sensitive condition | people
SELECT education AS school, COUNT(*) AS rich FROM microdata WHERE salary > 100000 GROUP BY school;
WITH hits AS (
  SELECT education, "group", COUNT(*) AS m FROM qit GROUP BY education, "group"
), urns AS (
  SELECT "group", SUM("count") AS n, COALESCE(SUM("count") FILTER (WHERE salary > 100000), 0) AS k FROM st GROUP BY "group"
)
SELECT education AS school, SUM(m * k / n) AS rich, SUM(GREATEST(0, m + k - n)) AS rich_low, SUM(LEAST(m, k)) AS rich_high
FROM hits JOIN urns USING ("group") GROUP BY education HAVING SUM(LEAST(m, k)) > 0 ORDER BY education;

-- GROUP BY a quasi-identifier, of the sensitive column | people
SELECT sex, SUM(salary), COUNT(*) FROM microdata WHERE age >= 60 GROUP BY sex ORDER BY sex DESC;
WITH hits AS (
  SELECT sex, "group", COUNT(*) AS m FROM qit WHERE age >= 60 GROUP BY sex, "group"
), runs AS (
  SELECT "group", salary, "count" AS c, SUM("count") OVER (PARTITION BY "group") AS n,
         SUM("count") OVER (PARTITION BY "group" ORDER BY salary) - "count" AS below,
         SUM("count") OVER (PARTITION BY "group" ORDER BY salary DESC) - "count" AS above
  FROM st
)
SELECT sex, SUM(salary * c * m / n) AS sum_salary, SUM(salary * LEAST(c, GREATEST(0, m - below))) AS sum_salary_low,
       SUM(salary * LEAST(c, GREATEST(0, m - above))) AS sum_salary_high, SUM(c * m / n) AS count
FROM hits JOIN runs USING ("group") GROUP BY sex ORDER BY sex DESC;

-- GROUP BY the sensitive column, a missing one last | gaps
SELECT salary, COUNT(*) AS n FROM microdata WHERE age < 30 AND (salary > 90000 OR salary IS NULL) GROUP BY salary;
WITH hits AS (
  SELECT "group", COUNT(*) AS m FROM qit WHERE age < 30 GROUP BY "group"
), sizes AS (
  SELECT "group", SUM("count") AS size FROM st GROUP BY "group"
)
SELECT salary, SUM(m * "count" / size) AS n, SUM(GREATEST(0, m + "count" - size)) AS n_low, SUM(LEAST(m, "count")) AS n_high
FROM hits JOIN st USING ("group") JOIN sizes USING ("group")
WHERE salary > 90000 OR salary IS NULL GROUP BY salary ORDER BY salary NULLS LAST;

-- GROUP BY an expression of each side | people
SELECT age // 10 * 10 AS decade, salary >= 100000 AS rich, COUNT(*) AS n FROM microdata WHERE sex = 'f' GROUP BY 1, 2;
WITH hits AS (
  SELECT age - age % 10 AS decade, "group", COUNT(*) AS m FROM qit WHERE sex = 'f' GROUP BY decade, "group"
), urns AS (
  SELECT "group", salary >= 100000 AS rich, SUM("count") AS k FROM st GROUP BY "group", rich
), sizes AS (
  SELECT "group", SUM("count") AS size FROM st GROUP BY "group"
)
SELECT decade, rich, SUM(m * k / size) AS n, SUM(GREATEST(0, m + k - size)) AS n_low, SUM(LEAST(m, k)) AS n_high
FROM hits JOIN urns USING ("group") JOIN sizes USING ("group") GROUP BY decade, rich ORDER BY decade, rich;

-- the three largest after the largest | people
SELECT education, sex, COUNT(*) AS n FROM microdata GROUP BY education, sex ORDER BY n DESC, education LIMIT 3 OFFSET 1;
SELECT education, sex, COUNT(*) AS n, COUNT(*) AS n_low, COUNT(*) AS n_high
FROM qit GROUP BY education, sex ORDER BY COUNT(*) DESC, education LIMIT 3 OFFSET 1;

-- sorted by a bound | people
SELECT education, COUNT(*) AS n FROM microdata WHERE salary < 50000 GROUP BY education ORDER BY n_low DESC, 1 LIMIT 4;
WITH hits AS (
  SELECT education, "group", COUNT(*) AS m FROM qit GROUP BY education, "group"
), urns AS (
  SELECT "group", SUM("count") AS size, COALESCE(SUM("count") FILTER (WHERE salary < 50000), 0) AS k FROM st GROUP BY "group"
)
SELECT education, SUM(m * k / size) AS n, SUM(GREATEST(0, m + k - size)) AS n_low, SUM(LEAST(m, k)) AS n_high
FROM hits JOIN urns USING ("group") GROUP BY education ORDER BY n_low DESC, education LIMIT 4;
