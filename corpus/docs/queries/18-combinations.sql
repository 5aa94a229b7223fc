-- Which instructions occur with the most combinations of modifiers?
-- picture
SELECT mnemonic, count(DISTINCT array_to_string(modifiers, '.')) AS combinations
FROM instructions GROUP BY mnemonic ORDER BY combinations DESC, mnemonic LIMIT 15
