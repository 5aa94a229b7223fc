-- Of which instructions have many variants never been seen?
-- picture
WITH seen AS (SELECT v['mnemonic'] AS mnemonic, v['modifier'] AS modifier, v['text'] AS text
              FROM (SELECT unnest(isa_variants(code)) AS v FROM programs) GROUP BY 1, 2, 3)
SELECT v.mnemonic, count(*) AS unseen
FROM variants v
LEFT SEMI JOIN seen s ON s.mnemonic = v.mnemonic
LEFT ANTI JOIN seen s ON s.mnemonic = v.mnemonic AND s.modifier = v.modifier AND s.text = v.text
GROUP BY v.mnemonic ORDER BY unseen DESC, v.mnemonic LIMIT 15
