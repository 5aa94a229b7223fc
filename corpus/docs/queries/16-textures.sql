-- Which stages use textures?
SELECT p.stage, count(DISTINCT p.hash) AS programs, count(*) AS instructions
FROM instructions i JOIN programs p ON p.hash = i.hash
WHERE i.mnemonic LIKE 'TEX%'
GROUP BY p.stage ORDER BY p.stage
