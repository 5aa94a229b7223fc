-- Which instructions does no program have?
SELECT count(*) AS forms, string_agg(mnemonic, ' ' ORDER BY opcode) FILTER (WHERE opcode < 60) AS the_first
FROM forms f
LEFT ANTI JOIN (SELECT DISTINCT isa, opcode FROM instructions) i ON i.isa = f.isa AND i.opcode = f.opcode
