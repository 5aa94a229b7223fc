-- Which instructions follow each other?
-- picture
SELECT concat(mnemonic, ', ', next) AS pair, count(*) AS n
FROM (SELECT mnemonic, lead(mnemonic) OVER (PARTITION BY hash ORDER BY pc) AS next FROM instructions)
WHERE next IS NOT NULL
GROUP BY 1 ORDER BY n DESC, pair LIMIT 15
