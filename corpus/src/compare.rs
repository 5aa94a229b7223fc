//! Queries for the differences between two lakes, and for what no program in a lake uses.

/// The differences: programs by name and stage, with their numbers of instructions and of live registers. Several
/// programs of one name are paired in the order of their hashes.
///
/// The lakes must be registered in the schemas `old` and `new`.
pub const DIFF: &str = "
WITH o AS (SELECT DISTINCT name, coalesce(stage, '') AS stage, isa, hash FROM old.origins),
     n AS (SELECT DISTINCT name, coalesce(stage, '') AS stage, isa, hash FROM new.origins),
     gone AS (SELECT o.name, o.stage, o.isa, o.hash,
                     row_number() OVER (PARTITION BY o.name, o.stage, o.isa ORDER BY o.hash) AS number FROM o LEFT ANTI JOIN n
              ON o.name = n.name AND o.stage = n.stage AND o.isa = n.isa AND o.hash = n.hash),
     come AS (SELECT n.name, n.stage, n.isa, n.hash,
                     row_number() OVER (PARTITION BY n.name, n.stage, n.isa ORDER BY n.hash) AS number FROM n LEFT ANTI JOIN o
              ON o.name = n.name AND o.stage = n.stage AND o.isa = n.isa AND o.hash = n.hash),
     pairs AS (SELECT coalesce(gone.name, come.name) AS program, coalesce(gone.stage, come.stage) AS phase,
                      coalesce(gone.isa, come.isa) AS isa, gone.hash AS old_hash, come.hash AS new_hash
               FROM gone FULL JOIN come ON gone.name = come.name AND gone.stage = come.stage AND gone.isa = come.isa
                                           AND gone.number = come.number)
SELECT CASE WHEN old_hash IS NULL THEN 'added' WHEN new_hash IS NULL THEN 'removed' ELSE 'changed' END AS change,
       program, nullif(phase, '') AS stage, op.words AS old_words, np.words AS new_words,
       CAST(np.words AS BIGINT) - CAST(op.words AS BIGINT) AS words,
       CAST(isa_pressure(np.code, np.isa) AS BIGINT) - CAST(isa_pressure(op.code, op.isa) AS BIGINT) AS pressure,
       old_hash, new_hash
FROM pairs LEFT JOIN old.programs op ON op.hash = old_hash AND op.isa = pairs.isa
           LEFT JOIN new.programs np ON np.hash = new_hash AND np.isa = pairs.isa
ORDER BY change, abs(words) DESC NULLS LAST, program, phase, old_hash, new_hash";

/// The differences in how often each form occurs in all programs together.
pub const DIFF_FORMS: &str = "
WITH o AS (SELECT isa, h['mnemonic'] AS mnemonic, sum(h['count']) AS count
           FROM (SELECT isa, unnest(isa_histogram(code, isa)) AS h FROM old.programs) GROUP BY 1, 2),
     n AS (SELECT isa, h['mnemonic'] AS mnemonic, sum(h['count']) AS count
           FROM (SELECT isa, unnest(isa_histogram(code, isa)) AS h FROM new.programs) GROUP BY 1, 2),
     both AS (SELECT coalesce(o.isa, n.isa) AS isa, coalesce(o.mnemonic, n.mnemonic) AS mnemonic,
                     CAST(coalesce(o.count, 0) AS BIGINT) AS old, CAST(coalesce(n.count, 0) AS BIGINT) AS new
              FROM o FULL JOIN n ON o.isa = n.isa AND o.mnemonic = n.mnemonic)
SELECT isa, mnemonic, old, new, new - old AS change FROM both WHERE old <> new ORDER BY abs(new - old) DESC, isa, mnemonic";

/// Forms that do not occur, and modifier values that do not occur although their form does.
pub const UNSEEN: &str = "
WITH seen AS (SELECT isa, h['mnemonic'] AS mnemonic FROM (SELECT isa, unnest(isa_histogram(code, isa)) AS h FROM programs)
              GROUP BY 1, 2),
     used AS (SELECT isa, v['mnemonic'] AS mnemonic, v['modifier'] AS modifier, v['text'] AS text
                FROM (SELECT isa, unnest(isa_variants(code, isa)) AS v FROM programs) GROUP BY 1, 2, 3, 4)
SELECT isa, mnemonic, modifier, text FROM (
    SELECT f.isa, f.mnemonic, NULL AS modifier, NULL AS text, f.opcode, 0 AS kind
    FROM forms f LEFT ANTI JOIN seen s ON s.isa = f.isa AND s.mnemonic = f.mnemonic
    UNION ALL
    SELECT v.isa, v.mnemonic, v.modifier, v.text, v.opcode, 1 AS kind
    FROM variants v LEFT SEMI JOIN seen s ON s.isa = v.isa AND s.mnemonic = v.mnemonic
                    LEFT ANTI JOIN used u ON u.isa = v.isa AND u.mnemonic = v.mnemonic AND u.modifier = v.modifier
                                           AND u.text = v.text)
ORDER BY isa, kind, opcode, modifier, text";
