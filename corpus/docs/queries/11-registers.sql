-- Which registers are read most often?
-- picture
SELECT register, count(*) AS reads
FROM (SELECT unnest(src) AS register FROM instructions)
GROUP BY register ORDER BY reads DESC, register LIMIT 20
