-- Which instructions does no program have?
SELECT count(*) AS forms, string_agg(mnemonic, ' ' ORDER BY opcode) FILTER (WHERE opcode < 60) AS the_first
FROM forms f
LEFT ANTI JOIN (SELECT DISTINCT opcode FROM instructions) i ON i.opcode = f.opcode
