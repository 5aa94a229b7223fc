-- Which instructions have the most variants that no program uses?
-- picture
WITH seen AS (SELECT isa, v['mnemonic'] AS mnemonic, v['modifier'] AS modifier, v['text'] AS text
              FROM (SELECT isa, unnest(isa_variants(code, isa)) AS v FROM programs) GROUP BY 1, 2, 3, 4)
SELECT v.mnemonic, count(*) AS unseen
FROM variants v
LEFT SEMI JOIN seen s ON s.isa = v.isa AND s.mnemonic = v.mnemonic
LEFT ANTI JOIN seen s ON s.isa = v.isa AND s.mnemonic = v.mnemonic AND s.modifier = v.modifier AND s.text = v.text
GROUP BY v.mnemonic ORDER BY unseen DESC, v.mnemonic LIMIT 15
