-- Which share of the instructions has each unit?
-- picture
SELECT f.unit, count(*) AS n, round(100.0 * count(*) / sum(count(*)) OVER (), 1) AS percent
FROM instructions i JOIN forms f ON f.isa = i.isa AND f.opcode = i.opcode
GROUP BY f.unit ORDER BY n DESC, f.unit
