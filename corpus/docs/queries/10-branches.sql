-- Which programs branch the most?
SELECT program, count(*) AS branches FROM instructions
WHERE flow IN ('branch', 'jump')
GROUP BY program, hash ORDER BY branches DESC, program LIMIT 10
