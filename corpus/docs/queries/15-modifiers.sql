-- Which modifiers are used most?
-- picture
SELECT modifier, count(*) AS n
FROM (SELECT unnest(modifiers) AS modifier FROM instructions)
GROUP BY modifier ORDER BY n DESC, modifier LIMIT 20
