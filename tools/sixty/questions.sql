-- How many people work here, and what is the pay bill?
SELECT COUNT(*) AS headcount, SUM(salary) AS pay_bill FROM staff

-- Average and median pay by grade
SELECT grade, AVG(salary) AS mean_pay, MEDIAN(salary) AS median_pay
FROM staff GROUP BY grade ORDER BY mean_pay DESC

-- Which departments have more than 500 people?
SELECT dept, COUNT(*) AS headcount FROM staff
GROUP BY dept HAVING COUNT(*) > 500 ORDER BY headcount DESC

-- Which departments pay more than 60,000 on average?
SELECT dept, ROUND(AVG(salary), 0) AS mean_pay
FROM staff GROUP BY dept
HAVING AVG(salary) > 60000
ORDER BY 2 DESC

-- The gender pay gap, in per cent
SELECT ROUND(100.0 * (AVG(CASE WHEN sex = 'm' THEN salary END) - AVG(CASE WHEN sex = 'f' THEN salary END))
             / AVG(CASE WHEN sex = 'm' THEN salary END), 1) AS gap_pct
FROM staff

-- The gender pay gap by grade
SELECT grade,
       AVG(salary) FILTER (WHERE sex = 'f') AS women,
       AVG(salary) FILTER (WHERE sex = 'm') AS men,
       AVG(salary) FILTER (WHERE sex = 'f') / AVG(salary) FILTER (WHERE sex = 'm') AS ratio
FROM staff GROUP BY grade

-- Pay by age band
SELECT CASE WHEN age < 30 THEN '<30' WHEN age < 40 THEN '30-39' WHEN age < 50 THEN '40-49' ELSE '50+' END AS band,
       COUNT(*) AS n, AVG(salary) AS mean_pay
FROM staff
GROUP BY 1
ORDER BY 1

-- How many earn how much, in bands
SELECT CASE
         WHEN salary < 30000 THEN '1: under 30k'
         WHEN salary < 50000 THEN '2: 30k to 50k'
         WHEN salary < 80000 THEN '3: 50k to 80k'
         ELSE '4: 80k and more'
       END AS pay_band, COUNT(*) AS people
FROM staff GROUP BY pay_band ORDER BY pay_band

-- Each department's share of all people
SELECT dept, COUNT(*) AS n, ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 1) AS pct
FROM staff GROUP BY dept ORDER BY n DESC

-- Each division's share of the pay bill
WITH bill AS (
    SELECT d.division, SUM(s.salary) AS amount
    FROM staff s JOIN departments d ON s.dept = d.dept
    GROUP BY d.division
)
SELECT division, amount, 100.0 * amount / SUM(amount) OVER () AS pct
FROM bill
ORDER BY amount DESC

-- The share of women, by grade
SELECT grade, ROUND(100.0 * SUM(CASE WHEN sex = 'f' THEN 1 ELSE 0 END) / COUNT(*), 1) AS women_pct
FROM staff GROUP BY grade

-- The share of people above 80,000, by sex
SELECT sex, AVG(CASE WHEN salary > 80000 THEN 1.0 ELSE 0 END) AS share_above
FROM staff GROUP BY sex

-- The three departments with the highest average pay
SELECT dept, AVG(salary) AS mean_pay FROM staff GROUP BY dept ORDER BY mean_pay DESC LIMIT 3

-- Departments ranked by their pay bill
SELECT dept, SUM(salary) AS bill, RANK() OVER (ORDER BY SUM(salary) DESC) AS place
FROM staff GROUP BY dept ORDER BY place

-- Pay by the department's name, from the code list
SELECT d.name, COUNT(*) AS n, AVG(s.salary) AS mean_pay
FROM staff s
JOIN departments d ON d.dept = s.dept
GROUP BY d.name
ORDER BY d.name

-- Pay in each part of the country; people without a region counted, too
SELECT COALESCE(r.part, 'unknown') AS part, COUNT(*) AS n, AVG(salary) AS mean_pay
FROM staff LEFT JOIN regions r USING (region)
GROUP BY 1 ORDER BY 1

-- Everybody in the north who is paid by the support division
SELECT COUNT(*) AS n, SUM(salary) AS bill
FROM staff, departments, regions
WHERE staff.dept = departments.dept AND staff.region = regions.region
  AND regions.part = 'north' AND departments.division = 'support'

-- Hires per year
SELECT EXTRACT(year FROM hired) AS year, COUNT(*) AS hires FROM staff GROUP BY 1 ORDER BY 1

-- Hires per year, against the year before
SELECT year, hires, hires - LAG(hires) OVER (ORDER BY year) AS change
FROM (SELECT YEAR(hired) AS year, COUNT(*) AS hires FROM staff GROUP BY YEAR(hired)) AS t
ORDER BY year

-- Average pay by year of hire, and its growth over the year before
WITH by_year AS (
    SELECT date_trunc('year', hired) AS cohort, AVG(salary) AS pay FROM staff
    WHERE hired >= DATE '2019-01-01' GROUP BY 1
)
SELECT cohort, pay, ROUND(100 * (pay / LAG(pay) OVER (ORDER BY cohort) - 1), 1) AS growth_pct
FROM by_year ORDER BY cohort

-- Hires by quarter of 2023
SELECT QUARTER(hired) AS quarter, COUNT(*) AS hires, AVG(salary) AS mean_pay
FROM staff WHERE hired BETWEEN DATE '2023-01-01' AND DATE '2023-12-31'
GROUP BY quarter

-- A running total of hires
SELECT date_trunc('year', hired) AS year, COUNT(*) AS hires,
       SUM(COUNT(*)) OVER (ORDER BY date_trunc('year', hired)) AS so_far
FROM staff GROUP BY 1 ORDER BY 1

-- The pay deciles
SELECT QUANTILE_CONT(salary, 0.1) AS d1, QUANTILE_CONT(salary, 0.5) AS d5, QUANTILE_CONT(salary, 0.9) AS d9
FROM staff

-- How far apart are the ends? The P90/P10 ratio by sex
SELECT sex, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY salary)
          / PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY salary) AS p90_p10
FROM staff GROUP BY sex

-- The spread of pay
SELECT grade, COUNT(*) AS n, AVG(salary) AS mean, STDDEV(salary) AS sd, MIN(salary) AS lowest, MAX(salary) AS highest
FROM staff GROUP BY grade

-- The coefficient of variation of pay
SELECT STDDEV_SAMP(salary) / AVG(salary) AS cv FROM staff WHERE grade IN ('senior', 'lead')

-- How many different salaries are paid in each department?
SELECT dept, COUNT(DISTINCT salary) AS rates FROM staff GROUP BY dept

-- In how many departments and regions do they work?
SELECT COUNT(DISTINCT dept) AS departments, COUNT(DISTINCT region) AS regions FROM staff

-- The list of regions
SELECT DISTINCT region FROM staff ORDER BY region

-- How complete are the data?
SELECT COUNT(*) AS n, COUNT(region) AS with_region, COUNT(hours) AS with_hours,
       ROUND(100.0 * SUM(CASE WHEN hours IS NULL THEN 1 ELSE 0 END) / COUNT(*), 2) AS hours_missing_pct
FROM staff

-- Full-time equivalents
SELECT dept, SUM(COALESCE(hours, 40)) / 40.0 AS fte FROM staff GROUP BY dept ORDER BY fte DESC LIMIT 5

-- Pay per hour worked
SELECT grade, SUM(salary) / SUM(hours * 52) AS per_hour FROM staff WHERE hours IS NOT NULL GROUP BY grade

-- The average of everybody's own pay per hour
SELECT AVG(salary / (52.0 * hours)) AS per_hour FROM staff WHERE hours > 0

-- Part-time and full-time by sex
SELECT sex, hours < 35 AS part_time, COUNT(*) AS n, AVG(salary) AS mean_pay
FROM staff WHERE hours IS NOT NULL GROUP BY ALL

-- Two kinds of people, in one report
SELECT 'women under 35' AS who, COUNT(*) AS n, AVG(salary) AS mean_pay FROM staff WHERE sex = 'f' AND age < 35
UNION ALL
SELECT 'men under 35', COUNT(*), AVG(salary) FROM staff WHERE sex = 'm' AND age < 35

-- Young or well paid
SELECT COUNT(*) AS n FROM staff WHERE age < 25 OR salary > 100000

-- Everywhere but two departments, by name pattern
SELECT COUNT(*) AS n, AVG(salary) AS mean_pay FROM staff
WHERE dept NOT IN ('D01', 'D02') AND region LIKE 'N%' AND age BETWEEN 30 AND 45

-- Who earns more than the average?
SELECT grade, COUNT(*) AS above FROM staff
WHERE salary > (SELECT AVG(salary) FROM staff) GROUP BY grade

-- Who earns more than the average of their own department?
SELECT s.dept, COUNT(*) AS above FROM staff s
WHERE s.salary > (SELECT AVG(t.salary) FROM staff t WHERE t.dept = s.dept)
GROUP BY s.dept

-- People in departments of the care division
SELECT COUNT(*) AS n, SUM(salary) AS bill FROM staff
WHERE dept IN (SELECT dept FROM departments WHERE division = 'care')

-- Does pay go with age?
SELECT CORR(age, salary) AS r, REGR_SLOPE(salary, age) AS per_year FROM staff

-- Head count by grade and sex, with totals
SELECT grade, sex, COUNT(*) AS n FROM staff GROUP BY ROLLUP (grade, sex)

-- Pay by grade, with the total below
SELECT grade, COUNT(*) AS n, AVG(salary) AS mean_pay FROM staff GROUP BY GROUPING SETS ((grade), ())

-- A cross table: people by grade in columns of sex
PIVOT staff ON sex USING COUNT(*) GROUP BY grade

-- The first rows, to see what is in the table
SELECT * FROM staff LIMIT 10

-- The best-paid ten people
SELECT age, dept, salary FROM staff ORDER BY salary DESC LIMIT 10

-- Pairs of people in one department, one of whom earns twice as much
SELECT COUNT(*) AS pairs FROM staff a JOIN staff b ON a.dept = b.dept AND a.salary > 2 * b.salary

-- The most frequent salary
SELECT MODE(salary) AS usual FROM staff

-- The names of departments in which somebody earns more than 150,000
SELECT STRING_AGG(DISTINCT dept, ', ') AS depts FROM staff WHERE salary > 150000

-- How many people were off sick for each reason?
SELECT reason, COUNT(*) AS n FROM staff GROUP BY reason ORDER BY n DESC

-- The share of each reason among women and men
SELECT sex, reason, ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY sex), 1) AS pct
FROM staff GROUP BY sex, reason ORDER BY sex, pct DESC

-- The rate of back pain by grade
SELECT grade, COUNT(*) FILTER (WHERE reason = 'back pain') AS cases,
       1000.0 * COUNT(*) FILTER (WHERE reason = 'back pain') / COUNT(*) AS per_1000
FROM staff GROUP BY grade

-- Departments where more than 15 % were off for burnout
SELECT dept, 1.0 * SUM(CASE WHEN reason = 'burnout' THEN 1 ELSE 0 END) / COUNT(*) AS rate
FROM staff GROUP BY dept
HAVING 1.0 * SUM(CASE WHEN reason = 'burnout' THEN 1 ELSE 0 END) / COUNT(*) > 0.15

-- How old are people with each reason?
SELECT reason, COUNT(*) AS n, AVG(age) AS mean_age, MEDIAN(age) AS median_age FROM staff GROUP BY reason

-- The relative risk of injuries at night-shift departments
SELECT (COUNT(*) FILTER (WHERE reason = 'injury' AND dept IN ('D03', 'D07')) * 1.0 / COUNT(*) FILTER (WHERE dept IN ('D03', 'D07')))
     / (COUNT(*) FILTER (WHERE reason = 'injury' AND dept NOT IN ('D03', 'D07')) * 1.0 / COUNT(*) FILTER (WHERE dept NOT IN ('D03', 'D07'))) AS rr
FROM staff

-- Reasons by chapter of the classification
SELECT c.chapter, COUNT(*) AS n FROM staff JOIN chapters c ON staff.reason = c.reason GROUP BY c.chapter ORDER BY n DESC

-- The commonest reason in each department
SELECT dept, reason, n FROM (
    SELECT dept, reason, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY dept ORDER BY COUNT(*) DESC, reason) AS place
    FROM staff GROUP BY dept, reason
) AS ranked WHERE place = 1 ORDER BY dept

-- Infections or people over 60
SELECT COUNT(*) AS n FROM staff WHERE reason IN ('flu', 'covid') OR age > 60

-- Long-serving people off for the heart, by region
SELECT region, COUNT(*) AS n FROM staff
WHERE reason = 'heart' AND hired < DATE '2018-07-01' AND region IS NOT NULL
GROUP BY region ORDER BY n DESC

-- Was anybody off for a reason that is not in the list?
SELECT COUNT(*) AS n FROM staff WHERE reason NOT IN (SELECT reason FROM chapters)
