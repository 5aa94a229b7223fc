-- Which words are no instructions, and why?
SELECT error, count(*) AS n FROM instructions
WHERE opcode IS NULL
GROUP BY error ORDER BY n DESC, error
