-- Which programs multiply, add and clamp to 0 to 1, and how often?
SELECT name, stage, isa_count(code, 'FMA.f32', 'clamp_0_1') AS n
FROM programs
WHERE isa_count(code, 'FMA.f32', 'clamp_0_1') > 0
ORDER BY n DESC, name, stage LIMIT 10
