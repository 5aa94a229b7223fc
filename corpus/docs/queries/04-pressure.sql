-- How many registers are live at once?
-- picture
SELECT concat(lpad(CAST(p / 8 * 8 AS VARCHAR), 2, ' '), ' to ', CAST(p / 8 * 8 + 7 AS VARCHAR)) AS registers, count(*) AS programs
FROM (SELECT isa_pressure(code) AS p FROM programs)
GROUP BY p / 8 ORDER BY p / 8
