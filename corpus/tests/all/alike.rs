//! Answers every question of the documentation with the table, with functions on programs, and with a plain loop over
//! the listing that uses neither.
//!
//! Two questions have no third answer: the number of live registers is available only as a function, and the table does
//! not tell which operand has a modifier. The functions do not distinguish registers that are read from those that are
//! written, so they are asked in how many programs each register occurs.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use isaforge_analysis::{Graph, Instruction, Liveness, Program, Register};
use isaforge_arrow::{Set, forms};

use crate::support::{ask, project, shaders, text};
use crate::tables::valhall;

type Rows = Vec<Vec<String>>;

/// A program in the listing.
struct Shader {
    source: String,
    name: String,
    stage: String,
    words: Vec<u64>,
    instructions: Vec<Instruction>,
    pressure: usize,
}

/// The distinct programs of the shipped corpus, each under its first name.
fn listed(set: &Set) -> Vec<Shader> {
    let (mut known, mut found) = (HashSet::new(), Vec::new());
    for line in text("tests/data/valhall/shaders.tsv.gz").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        if !known.insert(fields[4].to_owned()) {
            continue;
        }
        let words: Vec<u64> = fields[4].split(' ').map(|word| u64::from_str_radix(word, 16).unwrap()).collect();
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let program = Program::read(&set.analysis, &code);
        let graph = Graph::new(&program);
        let live = Liveness::new(&program, &graph);
        let reachable = (0..words.len()).filter(|entry| graph.is_reachable(*entry));
        let pressure = reachable.map(|entry| live.pressure(entry)).max().unwrap_or(0);
        let instructions = program.entries.into_iter().map(|entry| entry.instruction.expect("the corpus is valid"));
        let [source, name, stage] = [1, 2, 3].map(|field| fields[field].to_owned());
        found.push(Shader { source, name, stage, words, instructions: instructions.collect(), pressure });
    }
    found
}

/// Names by descending count, then alphabetically.
fn ranked(counts: impl IntoIterator<Item = (String, usize)>, most: usize) -> Rows {
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    counts.into_iter().take(most).map(|(name, count)| vec![name, count.to_string()]).collect()
}

/// Counts equal items.
fn counted<T: Ord>(all: impl IntoIterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    all.into_iter().for_each(|one| *counts.entry(one).or_default() += 1);
    counts
}

/// The numbers of the questions that have been compared.
#[derive(Default)]
struct Compared(BTreeSet<usize>);

impl Compared {
    /// Compares the answer to a question of the documentation with that of a plain loop, and with those to equivalent
    /// queries.
    #[track_caller]
    fn check(&mut self, number: usize, plain: Rows, otherwise: &[&str]) {
        let folder = project("corpus/docs/queries");
        let mut files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let file = files.find(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with(&format!("{number:02}-")) && name.ends_with(".sql")
        });
        let sql = std::fs::read_to_string(file.expect("there is such a question")).unwrap();
        assert_eq!(ask(shaders(), &sql), plain, "{sql}");
        for sql in otherwise {
            assert_eq!(ask(shaders(), sql), plain, "{sql}");
        }
        self.0.insert(number);
    }
}

/// The lines of programs, from the function that prints them.
const LINES: &str = "(SELECT name, hash, unnest(string_to_array(isa_text(code), chr(10))) AS line FROM programs)";

/// Programs with their instruction counts, from the function that counts them.
const COUNTED: &str = "(SELECT name, source, stage, hash, sum(h['count']) AS n FROM
    (SELECT name, source, stage, hash, unnest(isa_histogram(code)) AS h FROM programs) GROUP BY name, source, stage, hash)";

/// The lines of programs in order, without labels.
const NUMBERED: &str = "(SELECT name, hash, i, listed[i] AS line FROM
    (SELECT name, hash, listed, unnest(range(1, CAST(array_length(listed) + 1 AS BIGINT))) AS i FROM
     (SELECT name, hash,
        array_remove_all(string_to_array(regexp_replace(isa_text(code), 'l[0-9]+:\n', '', 'g'), chr(10)), '') AS listed
      FROM programs)))";

/// Where execution continues after a line. A branch to a blend shader is a call if the line before it saves the address
/// of the next one; a BLEND that does not end the program may skip such a call.
const FLOW: &str = "CASE WHEN split_part(line, ' ', 1) LIKE '%.end%' THEN 'end'
    WHEN line LIKE 'BRANCHZI% 0x0, blend_descriptor_%' AND
         lag(line) OVER (PARTITION BY hash ORDER BY i) = 'IADD_IMM.i32 r48, program_counter.w0, #0x8' THEN 'call'
    WHEN line LIKE 'BRANCHZ% 0x0, %' THEN 'jump' WHEN line LIKE 'BRANCH%' OR line LIKE 'BLEND%' THEN 'branch'
    ELSE 'next' END";

/// The longest form that each first word of a line begins with.
const NAMED: &str = "named AS (SELECT token, mnemonic FROM
    (SELECT token, f.mnemonic, row_number() OVER (PARTITION BY token ORDER BY length(f.mnemonic) DESC) AS rank
     FROM (SELECT DISTINCT split_part(line, ' ', 1) AS token FROM lines)
     JOIN forms f ON starts_with(concat(token, '.'), concat(f.mnemonic, '.'))) WHERE rank = 1)";

#[test]
fn questions_of_the_page_are_answered_alike_by_table_function_and_plain_loop() {
    let set = valhall();
    let all = listed(&set);
    let mut compared = Compared::default();
    let instructions = || all.iter().flat_map(|shader| &shader.instructions);
    let row = |texts: &[&dyn ToString]| texts.iter().map(|text| text.to_string()).collect::<Vec<String>>();

    let names = || instructions().map(|found| found.mnemonic.clone());
    compared.check(
        1,
        ranked(counted(names()), 15),
        &["SELECT h['mnemonic'] AS m, sum(h['count']) AS n FROM (SELECT unnest(isa_histogram(code)) AS h FROM programs)
           GROUP BY 1 ORDER BY n DESC, 1 LIMIT 15"],
    );

    let clamped = |shader: &Shader| {
        let is = |found: &&Instruction| {
            found.mnemonic == "FMA.f32" && found.modifiers.iter().any(|modifier| modifier.text == "clamp_0_1")
        };
        shader.instructions.iter().filter(is).count()
    };
    let mut rows: Vec<(usize, &Shader)> = all.iter().map(|shader| (clamped(shader), shader)).collect();
    rows.retain(|(count, _)| *count > 0);
    rows.sort_by_key(|(count, shader)| (usize::MAX - count, &shader.name, &shader.stage));
    compared.check(
        2,
        rows.iter().take(10).map(|(count, shader)| row(&[&shader.name, &shader.stage, count])).collect(),
        &["SELECT p.name, p.stage, count(*) AS n FROM instructions i JOIN programs p ON p.hash = i.hash
           WHERE i.mnemonic = 'FMA.f32' AND array_has(i.modifiers, 'clamp_0_1')
           GROUP BY p.name, p.stage, p.hash ORDER BY n DESC, 1, 2 LIMIT 10"],
    );

    let mut lengths: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    all.iter().for_each(|shader| lengths.entry(&shader.stage).or_default().push(shader.words.len()));
    let lengths = lengths.into_iter().map(|(stage, mut lengths)| {
        lengths.sort_unstable();
        let count = lengths.len();
        let median = (lengths[(count - 1) / 2] + lengths[count / 2]) / 2;
        row(&[&stage, &count, &lengths[0], &median, &lengths[count - 1], &lengths.iter().sum::<usize>()])
    });
    compared.check(
        3,
        lengths.collect(),
        &["SELECT p.stage, count(*), min(n), CAST(median(n) AS INT), max(n), sum(n)
           FROM (SELECT hash, count(*) AS n FROM instructions GROUP BY hash) i JOIN programs p ON p.hash = i.hash
           GROUP BY p.stage ORDER BY p.stage",
          &format!("SELECT stage, count(*), min(n), CAST(median(n) AS INT), max(n), sum(n) FROM {COUNTED} GROUP BY 1 ORDER BY 1")],
    );

    let eights = counted(all.iter().map(|shader| shader.pressure / 8));
    let range = |(eight, count): (usize, usize)| row(&[&format!("{:2} to {}", 8 * eight, 8 * eight + 7), &count]);
    compared.check(4, eights.into_iter().map(range).collect(), &[]);

    let mut longest: Vec<&Shader> = all.iter().collect();
    longest.sort_by_key(|shader| (usize::MAX - shader.words.len(), &shader.name));
    let longest = longest.iter().take(10);
    compared.check(
        5,
        longest.map(|shader| row(&[&shader.name, &shader.stage, &shader.words.len(), &shader.pressure])).collect(),
        &["SELECT p.name, p.stage, count(*) AS n, isa_pressure(p.code)
           FROM instructions i JOIN programs p ON p.hash = i.hash
           GROUP BY p.name, p.stage, p.hash, p.code ORDER BY n DESC, p.name LIMIT 10"],
    );

    let seen: HashSet<&str> = instructions().map(|found| found.mnemonic.as_str()).collect();
    let never: Vec<(usize, &str)> =
        set.forms.iter().map(|form| form.name).enumerate().filter(|(_, name)| !seen.contains(name)).collect();
    let first: Vec<&str> = never.iter().filter(|(opcode, _)| *opcode < 60).map(|(_, name)| *name).collect();
    compared.check(
        6,
        vec![row(&[&never.len(), &first.join(" ")])],
        &["SELECT count(*), string_agg(mnemonic, ' ' ORDER BY opcode) FILTER (WHERE opcode < 60) FROM forms f LEFT ANTI JOIN
           (SELECT h['mnemonic'] AS m FROM (SELECT unnest(isa_histogram(code)) AS h FROM programs) GROUP BY 1) s
           ON s.m = f.mnemonic"],
    );

    // A modifier that an instruction does not mention is at its default, whose text is empty.
    let mut variants: HashMap<&str, HashMap<&str, HashSet<&str>>> = HashMap::new();
    for variant in forms::variants_of(&set) {
        let of_form = variants.entry(set.forms[usize::from(variant.opcode)].name).or_default();
        of_form.entry(variant.modifier).or_default().insert(variant.text);
    }
    let mut unseen: BTreeMap<&str, HashSet<(&str, &str)>> = BTreeMap::new();
    for (name, modifiers) in variants.iter().filter(|(name, _)| seen.contains(*name)) {
        let texts = modifiers.iter().flat_map(|(modifier, texts)| texts.iter().map(|text| (*modifier, *text)));
        unseen.insert(name, texts.collect());
    }
    for found in instructions() {
        for modifier in variants.get(found.mnemonic.as_str()).into_iter().flat_map(HashMap::keys) {
            let said = found.modifiers.iter().find(|said| said.name == *modifier).map_or("", |said| &said.text);
            unseen.get_mut(found.mnemonic.as_str()).unwrap().remove(&(*modifier, said));
        }
    }
    let unseen = unseen.iter().map(|(name, left)| ((*name).to_owned(), left.len())).filter(|(_, left)| *left > 0);
    compared.check(7, ranked(unseen, 15), &[]);

    let decoded = all.iter().flat_map(|shader| &shader.words).map(|word| isaforge_valhall::decode(*word));
    let errors = counted(decoded.filter_map(|found| found.err()).map(|error| error.to_string()));
    let invalid =
        format!("SELECT line, count(*) AS n FROM {LINES} WHERE starts_with(line, '.') GROUP BY 1 ORDER BY n DESC, 1");
    compared.check(8, ranked(errors, usize::MAX), &[&invalid]);

    let flows = counted(instructions().map(|found| found.flow.name().to_owned()));
    let lines = format!("SELECT *, {FLOW} AS flow FROM {NUMBERED}");
    let flow = format!("SELECT flow, count(*) AS n FROM ({lines}) GROUP BY 1 ORDER BY n DESC");
    compared.check(9, ranked(flows, usize::MAX), &[&flow]);

    let branches = |shader: &Shader| {
        shader.instructions.iter().filter(|found| ["branch", "jump"].contains(&found.flow.name())).count()
    };
    let most = format!(
        "SELECT name, count(*) AS n FROM ({lines}) WHERE flow IN ('branch', 'jump')
         GROUP BY name, hash ORDER BY n DESC, name LIMIT 10"
    );
    compared.check(10, ranked(all.iter().map(|shader| (shader.name.clone(), branches(shader))), 10), &[&most]);

    let named = |shader: &Shader| {
        let of =
            |found: &Instruction| found.reads.iter().chain(found.writes.iter().map(|(one, _)| one)).copied().collect();
        shader.instructions.iter().flat_map(|found| -> Vec<Register> { of(found) }).collect::<BTreeSet<_>>()
    };
    let name = |register: &Register| set.analysis.name(*register);
    let reads = counted(instructions().flat_map(|found| found.reads.iter().map(name)));
    compared.check(11, ranked(reads, 20), &[]);
    let used =
        ranked(counted(all.iter().flat_map(|shader| named(shader).into_iter().map(|one| name(&one)))), usize::MAX);
    let by_table = "SELECT register, count(DISTINCT hash) AS n FROM
        (SELECT hash, unnest(array_concat(dst, src)) AS register FROM instructions) GROUP BY 1 ORDER BY n DESC, 1";
    let by_function =
        "SELECT register, count(*) AS n FROM (SELECT unnest(isa_registers(code)) AS register FROM programs)
        GROUP BY 1 ORDER BY n DESC, 1";
    assert_eq!(ask(shaders(), by_table), used);
    assert_eq!(ask(shaders(), by_function), used);

    let pairs = all.iter().flat_map(|shader| shader.instructions.windows(2));
    let pairs = counted(pairs.map(|pair| format!("{}, {}", pair[0].mnemonic, pair[1].mnemonic)));
    let following = format!(
        "WITH lines AS {NUMBERED}, {NAMED}
         SELECT concat(mnemonic, ', ', next) AS pair, count(*) AS n FROM
         (SELECT mnemonic, lead(mnemonic) OVER (PARTITION BY hash ORDER BY i) AS next
          FROM lines JOIN named ON token = split_part(line, ' ', 1))
         WHERE next IS NOT NULL GROUP BY 1 ORDER BY n DESC, pair LIMIT 15"
    );
    compared.check(12, ranked(pairs, 15), &[&following]);

    let mut sources: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    all.iter().for_each(|shader| sources.entry(&shader.source).or_default().push(shader.words.len()));
    let mut sources: Vec<(&str, Vec<usize>)> = sources.into_iter().collect();
    sources.sort_by_key(|(_, lengths)| usize::MAX - lengths.len());
    let sources = sources.iter().map(|(source, lengths)| {
        row(&[source, &lengths.len(), &lengths.iter().sum::<usize>(), lengths.iter().max().unwrap()])
    });
    compared.check(
        13,
        sources.collect(),
        &[
            "SELECT p.source, count(*) AS programs, sum(n), max(n)
           FROM (SELECT hash, count(*) AS n FROM instructions GROUP BY hash) i JOIN programs p ON p.hash = i.hash
           GROUP BY p.source ORDER BY programs DESC",
            &format!(
                "SELECT source, count(*) AS programs, sum(n), max(n) FROM {COUNTED} GROUP BY 1 ORDER BY programs DESC"
            ),
        ],
    );

    let words = counted(all.iter().flat_map(|shader| shader.words.iter().copied()));
    let once = words.values().filter(|count| **count == 1).count();
    compared.check(
        14,
        vec![row(&[&words.len(), &once, &words.values().sum::<usize>()])],
        &["SELECT count(*), count(*) FILTER (WHERE n = 1), sum(n) FROM
           (SELECT substr(hex, 16 * i + 1, 16) AS word, count(*) AS n FROM
            (SELECT hex, unnest(range(0, length(hex) / 16)) AS i FROM (SELECT encode(code, 'hex') AS hex FROM programs))
            GROUP BY 1)"],
    );

    let modifiers = counted(instructions().flat_map(|found| found.modifiers.iter().map(|one| one.text.clone())));
    compared.check(
        15,
        ranked(modifiers, 20),
        &["SELECT v['text'] AS text, sum(v['count']) AS n FROM (SELECT unnest(isa_variants(code)) AS v FROM programs)
           WHERE v['text'] <> '' GROUP BY 1 ORDER BY n DESC, 1 LIMIT 20"],
    );

    let mut textures: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for shader in &all {
        let count = shader.instructions.iter().filter(|found| found.mnemonic.starts_with("TEX")).count();
        if count > 0 {
            let (programs, all) = textures.entry(&shader.stage).or_default();
            (*programs, *all) = (*programs + 1, *all + count);
        }
    }
    compared.check(
        16,
        textures.iter().map(|(stage, (programs, all))| row(&[stage, programs, all])).collect(),
        &["SELECT stage, count(DISTINCT hash), sum(h['count'])
           FROM (SELECT stage, hash, unnest(isa_histogram(code)) AS h FROM programs)
           WHERE h['mnemonic'] LIKE 'TEX%' GROUP BY stage ORDER BY stage"],
    );

    let mut many: Vec<&Shader> = all.iter().filter(|shader| shader.pressure > 32).collect();
    many.sort_by_key(|shader| (usize::MAX - shader.pressure, &shader.name, &shader.stage));
    compared.check(
        17,
        many.iter().take(10).map(|one| row(&[&one.name, &one.stage, &one.pressure, &named(one).len()])).collect(),
        &["SELECT p.name, p.stage, isa_pressure(p.code) AS pressure, r.n
           FROM programs p JOIN (SELECT hash, count(DISTINCT register) AS n FROM
           (SELECT hash, unnest(array_concat(dst, src)) AS register FROM instructions) GROUP BY hash) r ON r.hash = p.hash
           WHERE isa_pressure(p.code) > 32 ORDER BY pressure DESC, 1, 2 LIMIT 10"],
    );

    let mut combinations: BTreeMap<&str, HashSet<String>> = BTreeMap::new();
    for found in instructions() {
        let texts: Vec<&str> = found.modifiers.iter().map(|one| one.text.as_str()).collect();
        combinations.entry(&found.mnemonic).or_default().insert(texts.join("."));
    }
    let combinations = combinations.into_iter().map(|(name, all)| (name.to_owned(), all.len()));
    // The rest of a line without its form, its operands, and the halves of special values.
    let left =
        r"regexp_replace(substr(line, length(mnemonic) + 1), '[ ,:]+([a-z]+(_[a-z0-9]+)*\.w[01]|[^ ,.:]*)', '', 'g')";
    let combined = format!(
        "WITH lines AS {LINES}, {NAMED} SELECT mnemonic, count(DISTINCT {left}) AS n
         FROM lines JOIN named ON token = split_part(line, ' ', 1) GROUP BY 1 ORDER BY n DESC, 1 LIMIT 15"
    );
    compared.check(18, ranked(combinations, 15), &[&combined]);

    let mut several: BTreeMap<&str, Vec<&Shader>> = BTreeMap::new();
    all.iter().for_each(|shader| several.entry(&shader.name).or_default().push(shader));
    let length = |shaders: &[&Shader]| shaders.iter().map(|shader| shader.words.len()).sum::<usize>();
    let mut several: Vec<(&str, Vec<&Shader>)> = several.into_iter().filter(|(_, all)| all.len() > 1).collect();
    several.sort_by_key(|(name, all)| (usize::MAX - length(all), *name));
    let several = several.into_iter().take(10).map(|(name, mut all)| {
        all.sort_by_key(|shader| &shader.stage);
        let stages: Vec<&str> = all.iter().map(|shader| shader.stage.as_str()).collect();
        row(&[&name, &all.len(), &stages.join(", "), &length(&all)])
    });
    compared.check(
        19,
        several.collect(),
        &[
            "SELECT p.name, count(*), string_agg(p.stage, ', ' ORDER BY p.stage), sum(n) AS words
           FROM (SELECT hash, count(*) AS n FROM instructions GROUP BY hash) i JOIN programs p ON p.hash = i.hash
           GROUP BY p.name HAVING count(*) > 1 ORDER BY words DESC, p.name LIMIT 10",
            &format!(
                "SELECT name, count(*), string_agg(stage, ', ' ORDER BY stage), sum(n) AS words FROM {COUNTED}
           GROUP BY name HAVING count(*) > 1 ORDER BY words DESC, name LIMIT 10"
            ),
        ],
    );

    let unit_of: HashMap<&str, &str> = set.forms.iter().map(|form| (form.name, form.unit)).collect();
    let units = counted(instructions().map(|found| unit_of[found.mnemonic.as_str()].to_owned()));
    let total: usize = units.values().sum();
    let mut units = ranked(units, usize::MAX);
    for unit in &mut units {
        let percent = 100.0 * unit[1].parse::<f64>().unwrap() / total as f64;
        unit.push(format!("{:?}", (10.0 * percent).round() / 10.0));
    }
    compared.check(
        20,
        units,
        &["SELECT f.unit, sum(h['count']) AS n, round(100.0 * sum(h['count']) / sum(sum(h['count'])) OVER (), 1)
           FROM (SELECT unnest(isa_histogram(code)) AS h FROM programs) JOIN forms f ON f.mnemonic = h['mnemonic']
           GROUP BY f.unit ORDER BY n DESC, f.unit"],
    );

    assert!(compared.0.into_iter().eq(1..=20), "every question of the page is compared");
}
