-- Which programs are the longest?
SELECT name, stage, words, isa_pressure(code) AS pressure
FROM programs ORDER BY words DESC, name LIMIT 10
