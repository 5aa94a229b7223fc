-- Which names stand for several programs, one a stage?
SELECT name, count(*) AS programs, string_agg(stage, ', ' ORDER BY stage) AS stages, sum(words) AS words
FROM programs GROUP BY name HAVING count(*) > 1
ORDER BY words DESC, name LIMIT 10
