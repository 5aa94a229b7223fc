//! The questions of the documentation: each answer is that of the shipped corpus.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use isaforge_corpus::output::{self, Format};

use crate::support::{fine, session, shaders};

const HEAD: &str = "\
# Twenty questions

Each with its answer on the shipped corpus, 2,499 shaders that Mesa compiled for Valhall:

```sh
cd corpus && cargo build --release
target/release/isaforge-corpus import --isa valhall ../tests/data/valhall/shaders.tsv.gz -o lake/
target/release/isaforge-corpus query lake/ - < docs/queries/01-most-frequent.sql
```

`--format svg` draws the pictures. Tests compare this page with the answers; `UPDATE_GOLDENS=1 cargo test --release queries`
writes it.
";

#[test]
fn a_sort_in_little_memory_spills() {
    let sql = "SELECT text, program FROM instructions ORDER BY text, program, pc";
    let ask = |more: &[&str]| fine(&[&["query", shaders(), sql, "--format", "csv"], more].concat()).0;
    assert!(ask(&[]) == ask(&["--memory", "8"]));
}

#[test]
fn the_page_of_questions_has_the_answers() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs");
    let mut questions: Vec<PathBuf> =
        fs::read_dir(folder.join("queries")).unwrap().map(|entry| entry.unwrap().path()).collect();
    questions.retain(|path| path.extension().is_some_and(|ending| ending == "sql"));
    questions.sort();
    assert_eq!(questions.len(), 20);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut page = HEAD.to_owned();
    let mut files = Vec::new();
    runtime.block_on(async {
        // The answer does not depend on the number of partitions.
        let contexts = [session(shaders(), 1).await, session(shaders(), 3).await];
        for (number, path) in questions.iter().enumerate() {
            let text = fs::read_to_string(path).unwrap();
            let (comments, sql): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("-- "));
            let sql = sql.join("\n");
            let mut answers = Vec::new();
            for context in &contexts {
                let mut answer = Vec::new();
                let rows = context.sql(&sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
                let count =
                    output::write(rows.execute_stream().await.unwrap(), Format::Table, &mut answer).await.unwrap();
                assert!((1..=20).contains(&count) || path.to_str().unwrap().contains("invalid"), "{sql}: {count} rows");
                answers.push(String::from_utf8(answer).unwrap());
            }
            assert_eq!(answers[0], answers[1], "{sql}");
            let question = comments[0].trim_start_matches("-- ");
            write!(page, "\n## {}. {question}\n\n```sql\n{sql}\n```\n\n```text\n{}```\n", number + 1, answers[0])
                .unwrap();
            if comments.contains(&"-- picture") {
                let mut picture = Vec::new();
                let rows = contexts[0].sql(&sql).await.unwrap().execute_stream().await.unwrap();
                output::write(rows, Format::Svg, &mut picture).await.unwrap();
                let name = path.with_extension("svg");
                let file = name.file_name().unwrap().to_str().unwrap();
                write!(page, "\n![{question}](queries/{file})\n").unwrap();
                files.push((name, String::from_utf8(picture).unwrap()));
            }
        }
    });
    files.push((folder.join("queries.md"), page));
    for (path, content) in files {
        if std::env::var_os("UPDATE_GOLDENS").is_some() {
            fs::write(&path, &content).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(kept, content, "{} is not what the answers are", path.display());
    }
}
