//! Provides the tables and functions of a lake in a DataFusion session.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::catalog::memory::MemorySchemaProvider;
use datafusion::common::TableReference;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::object_store::ObjectMeta;
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::error::{Error, Result};
use crate::functions;
use crate::lake::{Lake, Table};
use crate::sets::Sets;
use crate::table::Instructions;

/// Options for the execution of queries.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// How many parts of a table are read in parallel; by default one per core, or one if memory is limited.
    pub partitions: Option<usize>,
    /// The maximum memory in bytes for sorts and joins; they spill to disk beyond it.
    pub memory: Option<usize>,
}

/// The settings of a session on this machine.
pub fn config(options: &Options) -> SessionConfig {
    settle(SessionConfig::new(), options)
}

/// The settings common to sessions on this and other machines.
pub fn settle(config: SessionConfig, options: &Options) -> SessionConfig {
    let mut config = config.with_information_schema(true);
    // Parts that sort at once do not leave each other the memory to merge what they have spilled.
    if let Some(partitions) = options.partitions.or(options.memory.map(|_| 1)) {
        config = config.with_target_partitions(partitions.max(1));
    }
    let settings = config.options_mut();
    // Code is compact and slow to decode relative to its size, so that even small files are worth splitting.
    settings.optimizer.repartition_file_min_size = 4096;
    if let Some(memory) = options.memory {
        // What has been spilled is merged in memory as well; the default is too little for texts.
        settings.execution.sort_spill_reservation_bytes = memory / 2 / settings.execution.target_partitions.max(1);
    }
    // Programs that a filter excludes are not decompressed.
    settings.execution.parquet.pushdown_filters = true;
    config
}

/// The environment of sessions: memory, temporary files, stores.
pub fn runtime(options: &Options) -> RuntimeEnvBuilder {
    let runtime = RuntimeEnvBuilder::new();
    #[cfg(feature = "cluster")]
    let runtime = runtime.with_object_store_registry(Arc::new(crate::store::Stores::default()));
    match options.memory {
        Some(memory) => runtime.with_memory_pool(Arc::new(FairSpillPool::new(memory))),
        None => runtime,
    }
}

/// A session without tables.
///
/// # Errors
/// Returns errors from DataFusion.
pub fn state(config: SessionConfig, options: &Options) -> datafusion::error::Result<SessionState> {
    let state = SessionStateBuilder::new().with_config(config).with_default_features();
    Ok(state.with_runtime_env(runtime(options).build_arc()?).build())
}

/// A session without tables, on this machine.
///
/// # Errors
/// Returns errors from DataFusion.
pub fn context(options: &Options) -> Result<SessionContext> {
    Ok(SessionContext::new_with_state(state(config(options), options)?))
}

/// Registers the tables of a lake, in the given schema if there is one, and the functions on its programs. For
/// functions on the programs of several lakes, register those again, with the sets of all lakes.
///
/// # Errors
/// When the lake does not exist, or contains files with other columns.
pub async fn register(context: &SessionContext, lake: &Lake, schema: Option<&str>) -> Result<Sets> {
    let sets = lake.sets().await?;
    if let Some(schema) = schema
        && let Some(catalog) = context.catalog("datafusion")
    {
        catalog.register_schema(schema, Arc::new(MemorySchemaProvider::new()))?;
    }
    let named = |name: &'static str| match schema {
        Some(schema) => TableReference::partial(schema, name),
        None => TableReference::bare(name),
    };
    for table in Table::ALL {
        let provider = listing(context, lake, table).await?;
        context.register_table(named(table.name()), Arc::clone(&provider))?;
        if table == Table::Programs {
            let instructions = Instructions::new(provider, lake.url_of(table), sets.clone());
            context.register_table(named("instructions"), Arc::new(instructions))?;
        }
    }
    functions::register(context, &sets);
    Ok(sets)
}

/// The Parquet files of a table, if there are any.
async fn listing(context: &SessionContext, lake: &Lake, table: Table) -> Result<Arc<dyn TableProvider>> {
    let state = context.state();
    for file in &lake.objects(table.name(), ".parquet").await? {
        check(&state, lake, table, file).await?;
    }
    Ok(at_url(&lake.url_of(table), table)?)
}

/// The Parquet files of a table at a URL.
///
/// # Errors
/// When the URL is not valid.
pub fn at_url(url: &str, table: Table) -> datafusion::error::Result<Arc<dyn TableProvider>> {
    let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension(".parquet");
    let config = ListingTableConfig::new(ListingTableUrl::parse(url)?);
    let config = config.with_listing_options(options).with_schema(table.schema());
    Ok(Arc::new(ListingTable::try_new(config)?))
}

/// Checks that a file has the columns of its table: otherwise an unrelated file would be read as rows full of nulls.
async fn check(state: &SessionState, lake: &Lake, table: Table, file: &ObjectMeta) -> Result<()> {
    let refused = |what: String| {
        let (lake, table, file) = (&lake.name, table.name(), file.location.filename().unwrap_or_default());
        let message = format!("`{lake}`: `{table}/{file}` does not belong to the table `{table}`: {what}");
        Error::usage(message, "move it out of the lake; `isaforge-corpus import` adds programs")
    };
    // DataFusion reads hidden files as well, which editors and copying programs leave behind.
    if file.location.filename().is_some_and(|name| name.starts_with('.')) {
        return Err(refused("it is hidden".to_owned()));
    }
    let found = ParquetFormat::default().infer_schema(state, lake.store(), std::slice::from_ref(file)).await;
    let found = found.map_err(|error| refused(error.strip_backtrace()))?;
    for field in table.schema().fields() {
        let Ok(column) = found.field_with_name(field.name()) else {
            return Err(refused(format!("it has no column `{}`", field.name())));
        };
        if !field.data_type().equals_datatype(column.data_type()) {
            return Err(refused(format!("`{}` is {}, not {}", field.name(), column.data_type(), field.data_type())));
        }
    }
    Ok(())
}
