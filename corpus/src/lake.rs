//! A lake: a folder, or a prefix in an S3 store, that holds the programs of a corpus as Parquet files.
//!
//! ```text
//! lake/sets/NAME.json          the instruction set
//! lake/forms/NAME.parquet      the instructions of the set
//! lake/variants/NAME.parquet   and the values of their modifiers
//! lake/programs/*.parquet      distinct code, by hash
//! lake/origins/*.parquet       the origins of everything imported, with the hash of the code
//! lake/results/*.parquet       the results of programs
//! ```
//!
//! Each file is written atomically and never changed, so that an import may be interrupted at any time.

use std::fs::{self, TryLockError};
use std::io;
use std::path::{Component, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::object_store::local::LocalFileSystem;
use datafusion::object_store::path::Path;
use datafusion::object_store::{self, ObjectMeta, ObjectStore, ObjectStoreExt, PutPayload};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::{EnabledStatistics, WriterProperties};
use datafusion::parquet::schema::types::ColumnPath;
use futures::TryStreamExt;
use isaforge_arrow::forms;
use isaforge_cli::output::say;
use sha2::{Digest, Sha256};
use url::Url;

use crate::error::{Error, Result};
use crate::sets::{Known, Recipe, Sets};

/// A lake.
#[derive(Clone, Debug)]
pub struct Lake {
    /// Its name in messages.
    pub name: String,
    /// The location of its files, as a URL that ends with a slash.
    pub url: String,
    /// Its folder, if it is on this machine.
    folder: Option<PathBuf>,
    store: Arc<dyn ObjectStore>,
    root: Path,
}

/// The right to write to a lake, until it is dropped.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "is held")] Option<fs::File>);

/// A table of a lake, stored in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Distinct code.
    Programs,
    /// The origins of everything that was imported.
    Origins,
    /// The results of programs.
    Results,
    /// The forms of the sets.
    Forms,
    /// The values of the forms' modifiers.
    Variants,
}

impl Table {
    /// All tables.
    pub const ALL: [Table; 5] = [Table::Programs, Table::Origins, Table::Results, Table::Forms, Table::Variants];

    /// The name of the table and of its folder.
    pub fn name(self) -> &'static str {
        match self {
            Table::Programs => "programs",
            Table::Origins => "origins",
            Table::Results => "results",
            Table::Forms => "forms",
            Table::Variants => "variants",
        }
    }

    /// Its columns, as seen by queries.
    pub fn schema(self) -> SchemaRef {
        let text = |name: &str| Field::new(name, DataType::Utf8View, false);
        let perhaps = |name: &str| Field::new(name, DataType::Utf8View, true);
        Arc::new(Schema::new(match self {
            Table::Programs => vec![
                text("name"),
                text("source"),
                text("file"),
                perhaps("stage"),
                text("isa"),
                Field::new("words", DataType::UInt32, false),
                text("hash"),
                Field::new("code", DataType::BinaryView, false),
            ],
            Table::Origins => {
                vec![text("name"), text("source"), text("file"), perhaps("stage"), text("isa"), text("hash")]
            }
            Table::Results => vec![
                text("program"),
                text("isa"),
                text("hash"),
                text("inputs"),
                text("inputs_hash"),
                text("label"),
                perhaps("error"),
                Field::new("instructions", DataType::UInt64, true),
                perhaps("result_hash"),
                Field::new("result", DataType::BinaryView, true),
            ],
            Table::Forms => return forms::forms_schema(),
            Table::Variants => return forms::variants_schema(),
        }))
    }
}

/// The number of programs in a row group, which is read and decoded by one partition.
const ROW_GROUP: usize = 1024;

impl Lake {
    /// The lake at a path or URL, whether or not it exists.
    ///
    /// # Errors
    /// When the URL does not belong to a supported store.
    pub fn at(given: &str) -> Result<Lake> {
        if let Some((scheme, rest)) = given.split_once("://") {
            return crate::store::open(given, scheme, rest);
        }
        let folder = resolved(given).map_err(|error| Error::File { what: format!("cannot open `{given}`"), error })?;
        let root = Path::from_absolute_path(&folder).map_err(|error| Error::usage(error.to_string(), ""))?;
        let url = Url::from_directory_path(&folder)
            .map_err(|()| Error::usage(format!("`{given}` is not a path on this machine"), ""))?;
        let name = given.trim_end_matches('/').to_owned();
        let store = Arc::new(LocalFileSystem::new());
        Ok(Lake { name, url: url.into(), folder: Some(folder), store, root })
    }

    /// A lake in a store.
    pub fn in_store(name: &str, url: String, store: Arc<dyn ObjectStore>, root: Path) -> Lake {
        Lake { name: name.to_owned(), url, folder: None, store, root }
    }

    /// The store that holds its files.
    pub fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }

    /// The URL of a table's files.
    pub fn url_of(&self, table: Table) -> String {
        format!("{}{}/", self.url, table.name())
    }

    /// Locks the lake for writing, and waits while another process does so: two imports at once would store the same
    /// code twice. `None` if the wait was interrupted. A store that is not on this machine has no lock.
    ///
    /// # Errors
    /// When the lock file cannot be created.
    pub async fn lock(&self, interrupted: fn() -> bool) -> Result<Option<Lock>> {
        let Some(folder) = &self.folder else { return Ok(Some(Lock(None))) };
        let failed = |error| Error::File { what: format!("cannot lock `{}`", self.name), error };
        fs::create_dir_all(folder).map_err(failed)?;
        let file = fs::File::create(folder.join(".lock")).map_err(failed)?;
        let mut waits = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Lock(Some(file)))),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if interrupted() => return Ok(None),
                Err(TryLockError::WouldBlock) => {}
            }
            if !waits {
                say(&format!("{}: waiting for another process that writes to it", self.name));
                waits = true;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    fn failed(&self, what: &str) -> impl FnOnce(object_store::Error) -> Error + use<> {
        let what = format!("cannot {what} `{}`", self.name);
        move |error| Error::Store { what, error }
    }

    /// The files of a folder with this suffix, in order.
    ///
    /// # Errors
    /// Returns errors from the store.
    pub async fn files(&self, folder: &str, ending: &str) -> Result<Vec<Path>> {
        Ok(self.objects(folder, ending).await?.into_iter().map(|found| found.location).collect())
    }

    /// Like [`files`](Self::files), with sizes.
    ///
    /// # Errors
    /// Returns errors from the store.
    pub async fn objects(&self, folder: &str, ending: &str) -> Result<Vec<ObjectMeta>> {
        let prefix = self.root.clone().join(folder);
        let mut found: Vec<ObjectMeta> =
            self.store.list(Some(&prefix)).try_collect().await.map_err(self.failed("list the files of"))?;
        found.retain(|found| found.location.filename().is_some_and(|name| name.ends_with(ending)));
        found.sort_by(|one, other| one.location.cmp(&other.location));
        Ok(found)
    }

    /// The contents of a file.
    ///
    /// # Errors
    /// Returns errors from the store.
    pub async fn get(&self, file: &Path) -> Result<Vec<u8>> {
        let found = self.store.get(file).await.map_err(self.failed("read"))?;
        Ok(found.bytes().await.map_err(self.failed("read"))?.to_vec())
    }

    /// Writes a file atomically.
    ///
    /// # Errors
    /// Returns errors from the store.
    pub async fn put(&self, folder: &str, file: &str, content: Vec<u8>) -> Result<()> {
        if let Some(root) = &self.folder {
            let folder = root.join(folder);
            let failed = |error| Error::File { what: format!("cannot write to `{}`", folder.display()), error };
            fs::create_dir_all(&folder).map_err(failed)?;
        }
        let path = self.root.clone().join(folder).join(file);
        self.store.put(&path, PutPayload::from(content)).await.map_err(self.failed("write to"))?;
        Ok(())
    }

    /// Writes rows of a table to a new file, which is named by their hash.
    ///
    /// # Errors
    /// Returns errors from the store.
    pub async fn append(&self, table: Table, rows: &RecordBatch) -> Result<()> {
        let content = parquet(rows)?;
        let name = hex(&Sha256::digest(&content)[..8]);
        self.put(table.name(), &format!("{name}.parquet"), content).await
    }

    /// The sets of an existing lake.
    ///
    /// # Errors
    /// When there is no lake, or the description of its sets is damaged.
    pub async fn sets(&self) -> Result<Sets> {
        let files = self.files("sets", ".json").await?;
        if files.is_empty() {
            let message = format!("`{}` is not a lake", self.name);
            return Err(Error::usage(message, "`isaforge-corpus import --isa ISA PATH… -o LAKE` makes one"));
        }
        let mut recipes = Vec::new();
        for file in files {
            recipes.push(self.recipe(&file).await?);
        }
        Sets::new(recipes)
    }

    async fn recipe(&self, file: &Path) -> Result<Recipe> {
        let damaged = |error| {
            let file = file.filename().unwrap_or_default();
            Error::usage(format!("`{}`: `sets/{file}` is damaged: {error}", self.name), "")
        };
        serde_json::from_slice(&self.get(file).await?).map_err(damaged)
    }

    /// Adds a set, with its forms and variants.
    ///
    /// # Errors
    /// When the lake has another set of this name.
    pub async fn add_set(&self, known: &Known) -> Result<()> {
        let name = &known.recipe.name;
        for file in self.files("sets", ".json").await? {
            if file.filename() == Some(format!("{name}.json").as_str()) {
                return match self.recipe(&file).await? == known.recipe {
                    true => Ok(()),
                    false => {
                        let message = format!("`{}` has programs of a different `{name}`", self.name);
                        Err(Error::usage(message, "import those of this specification into a lake of their own"))
                    }
                };
            }
        }
        let content = serde_json::to_vec_pretty(&known.recipe).unwrap_or_default();
        let file = format!("{name}.parquet");
        self.put("forms", &file, parquet(&forms::forms(&known.set)?)?).await?;
        self.put("variants", &file, parquet(&forms::variants(&known.set)?)?).await?;
        self.put("sets", &format!("{name}.json"), content).await
    }
}

/// The absolute path of a folder that need not exist, without `..` and symbolic links.
fn resolved(given: &str) -> io::Result<PathBuf> {
    let path = std::path::absolute(given)?;
    let existing = path.ancestors().find_map(|known| Some((known, known.canonicalize().ok()?)));
    let Some((known, whole)) = existing else { return Ok(path) };
    let rest = path.strip_prefix(known).unwrap_or(&path);
    match rest.components().all(|part| matches!(part, Component::Normal(_))) {
        true => Ok(rest.components().fold(whole, |path, part| path.join(part))),
        false => Err(io::Error::new(io::ErrorKind::NotFound, "a folder before `..` does not exist")),
    }
}

/// Encodes rows as a Parquet file.
///
/// # Errors
/// Returns errors from Parquet.
pub fn parquet(rows: &RecordBatch) -> Result<Vec<u8>> {
    // Code and hashes are distinct, so a dictionary or statistics would be as large as the data.
    let code = ColumnPath::from("code");
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_column_dictionary_enabled(code.clone(), false)
        .set_column_statistics_enabled(code, EnabledStatistics::None)
        .set_column_dictionary_enabled(ColumnPath::from("hash"), false)
        .build();
    let mut content = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut content, rows.schema(), Some(properties))?;
    writer.write(rows)?;
    writer.close()?;
    Ok(content)
}

/// Formats bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
