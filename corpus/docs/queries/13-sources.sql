-- Where do the programs come from?
SELECT source, count(*) AS programs, sum(words) AS words, max(words) AS longest
FROM programs GROUP BY source ORDER BY programs DESC
