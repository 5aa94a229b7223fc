-- How many words occur only once?
SELECT count(*) AS different, count(*) FILTER (WHERE n = 1) AS once, sum(n) AS words
FROM (SELECT word, count(*) AS n FROM instructions GROUP BY word)
