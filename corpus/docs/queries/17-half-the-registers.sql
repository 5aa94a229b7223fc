-- Which programs would not fit into 32 registers?
SELECT name, stage, isa_pressure(code) AS pressure, cardinality(isa_registers(code)) AS named
FROM programs WHERE isa_pressure(code) > 32
ORDER BY pressure DESC, name, stage LIMIT 10
