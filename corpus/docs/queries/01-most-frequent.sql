-- Which instructions are the most frequent?
-- picture
SELECT mnemonic, count(*) AS n
FROM instructions
GROUP BY mnemonic ORDER BY n DESC, mnemonic LIMIT 15
