-- How long are programs, by stage?
SELECT stage, count(*) AS programs, min(words) AS shortest, CAST(median(words) AS INT) AS median, max(words) AS longest,
       sum(words) AS words
FROM programs GROUP BY stage ORDER BY stage
