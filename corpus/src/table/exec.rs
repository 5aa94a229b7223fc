//! Decodes programs to the instruction columns that a query needs.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch, StringViewArray, UInt16Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, exec_err, internal_err};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties};
use futures::{StreamExt, TryStreamExt, stream};
use isaforge_arrow::column::schema;
use isaforge_arrow::{Column, Keep, Rows, Set};

use super::form_schema;
use crate::sets::Sets;

/// A plan node that reads programs and produces instructions.
#[derive(Debug)]
pub struct InstructionsExec {
    input: Arc<dyn ExecutionPlan>,
    sets: Sets,
    columns: Vec<Column>,
    filter: Option<Arc<dyn PhysicalExpr>>,
    limit: Option<usize>,
    keeps: Vec<(String, Option<Keep>)>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl InstructionsExec {
    /// Decodes the programs of `input`, which has the columns `isa` and `code` and the requested columns of programs.
    /// `filter` is an expression over [`form_schema`]; `limit` is the maximum number of rows needed from each
    /// partition.
    ///
    /// # Errors
    /// When the filter cannot be evaluated.
    pub fn new(
        input: Arc<dyn ExecutionPlan>,
        sets: Sets,
        columns: Vec<Column>,
        filter: Option<Arc<dyn PhysicalExpr>>,
        limit: Option<usize>,
    ) -> Result<InstructionsExec> {
        let keep =
            |set: &Set| filter.as_ref().filter(|_| set.has_opcodes()).map(|filter| keep(set, filter)).transpose();
        let keeps =
            sets.iter().map(|known| Ok((known.recipe.name.clone(), keep(&known.set)?))).collect::<Result<_>>()?;
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::new(schema(&columns))),
            datafusion::physical_plan::Partitioning::UnknownPartitioning(input.output_partitioning().partition_count()),
            input.pipeline_behavior(),
            input.boundedness(),
        );
        let metrics = ExecutionPlanMetricsSet::new();
        Ok(InstructionsExec { input, sets, columns, filter, limit, keeps, properties: Arc::new(properties), metrics })
    }

    /// The sets of the programs.
    pub fn sets(&self) -> &Sets {
        &self.sets
    }

    /// Its columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The filter on forms.
    pub fn filter(&self) -> Option<&Arc<dyn PhysicalExpr>> {
        self.filter.as_ref()
    }

    /// The maximum number of rows needed from each partition.
    pub fn limit(&self) -> Option<usize> {
        self.limit
    }
}

/// Evaluates a filter for all forms of a set, and for invalid instructions.
fn keep(set: &Set, filter: &Arc<dyn PhysicalExpr>) -> Result<Keep> {
    let count = set.forms.len();
    let opcodes: UInt16Array = (0..count as u16).map(Some).chain([None]).collect();
    let names: StringViewArray = set.forms.iter().map(|form| Some(form.name)).chain([None]).collect();
    let columns: Vec<ArrayRef> = vec![Arc::new(opcodes), Arc::new(names)];
    let forms = RecordBatch::try_new(Arc::new(form_schema()), columns)?;
    let holds = filter.evaluate(&forms)?.into_array(count + 1)?;
    let holds: &BooleanArray = holds.as_boolean();
    let mut forms: Vec<bool> = holds.iter().map(|holds| holds == Some(true)).collect();
    let invalid = forms.pop().unwrap_or(false);
    Ok(Keep { forms, invalid })
}

impl DisplayAs for InstructionsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<&str> = self.columns.iter().map(|column| column.name()).collect();
        write!(f, "InstructionsExec: columns=[{}]", columns.join(", "))?;
        if let Some(filter) = &self.filter {
            write!(f, ", forms: {filter}")?;
            for (name, keep) in &self.keeps {
                if let Some(keep) = keep {
                    let kept = keep.forms.iter().filter(|kept| **kept).count();
                    write!(f, " ({kept} of {} of {name})", keep.forms.len())?;
                }
            }
        }
        self.limit.map_or(Ok(()), |limit| write!(f, ", limit={limit}"))
    }
}

impl ExecutionPlan for InstructionsExec {
    fn name(&self) -> &str {
        "InstructionsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.filter.as_ref().map_or(Ok(TreeNodeRecursion::Continue), f)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let Ok([input]) = <[_; 1]>::try_from(children) else {
            return internal_err!("InstructionsExec has one input");
        };
        let (sets, columns) = (self.sets.clone(), self.columns.clone());
        Ok(Arc::new(InstructionsExec::new(input, sets, columns, self.filter.clone(), self.limit)?))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let decoder = Decoder {
            sets: self.sets.clone(),
            columns: self.columns.clone(),
            keeps: self.keeps.clone(),
            size: context.session_config().batch_size(),
            left: self.limit.unwrap_or(usize::MAX),
            rows: None,
            programs: None,
            metrics: BaselineMetrics::new(&self.metrics, partition),
        };
        let state = (self.input.execute(partition, context)?, decoder);
        let batches = stream::try_unfold(state, |(mut input, mut decoder)| async move {
            loop {
                let time = decoder.metrics.elapsed_compute().clone();
                let timer = time.timer();
                let found = decoder.step();
                timer.done();
                match found? {
                    Step::Batch(batch) => {
                        decoder.metrics.record_output(batch.num_rows());
                        return Ok(Some((batch, (input, decoder))));
                    }
                    Step::End => return Ok(None),
                    Step::More => match input.next().await.transpose()? {
                        Some(batch) => decoder.programs = Some(Programs::new(batch)?),
                        None => match decoder.flush()? {
                            Some(batch) => {
                                decoder.left = 0;
                                decoder.metrics.record_output(batch.num_rows());
                                return Ok(Some((batch, (input, decoder))));
                            }
                            None => return Ok(None),
                        },
                    },
                }
            }
        });
        let batches = batches.map_err(|error: DataFusionError| error);
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), Box::pin(batches))))
    }
}

/// A batch of programs, and how far it has been decoded.
struct Programs {
    rows: usize,
    row: usize,
    /// The byte in the row's code to continue from.
    from: usize,
    isa: StringViewArray,
    name: Option<StringViewArray>,
    hash: Option<StringViewArray>,
    code: ArrayRef,
}

impl Programs {
    fn new(batch: RecordBatch) -> Result<Programs> {
        let text = |name: &str| -> Result<Option<StringViewArray>> {
            let Some(column) = batch.column_by_name(name) else { return Ok(None) };
            Ok(Some(cast(column, &DataType::Utf8View)?.as_string_view().clone()))
        };
        let Some(code) = batch.column_by_name("code") else { return internal_err!("programs have no code") };
        let code = cast(code, &DataType::BinaryView)?;
        let Some(isa) = text("isa")? else { return internal_err!("programs have no set") };
        let (name, hash) = (text("name")?, text("hash")?);
        Ok(Programs { rows: batch.num_rows(), row: 0, from: 0, isa, name, hash, code })
    }
}

enum Step {
    Batch(RecordBatch),
    /// The current batch of programs is exhausted.
    More,
    End,
}

struct Decoder {
    sets: Sets,
    columns: Vec<Column>,
    keeps: Vec<(String, Option<Keep>)>,
    size: usize,
    left: usize,
    rows: Option<Rows>,
    programs: Option<Programs>,
    metrics: BaselineMetrics,
}

impl Decoder {
    fn step(&mut self) -> Result<Step> {
        if self.left == 0 {
            return Ok(Step::End);
        }
        let Some(mut programs) = self.programs.take() else { return Ok(Step::More) };
        while programs.row < programs.rows {
            let isa = programs.isa.value(programs.row);
            if self.rows.as_ref().is_some_and(|rows| rows.set().name != isa)
                && let Some(batch) = self.flush()?
            {
                self.programs = Some(programs);
                return Ok(Step::Batch(batch));
            }
            if self.rows.as_ref().is_none_or(|rows| rows.set().name != isa) {
                self.rows = Some(self.rows_of(isa)?);
            }
            let Some(rows) = &mut self.rows else { return internal_err!("rows have just been made") };
            let text = |column: &Option<StringViewArray>| {
                column.as_ref().map_or(String::new(), |column| column.value(programs.row).to_owned())
            };
            let (name, hash) = (text(&programs.name), text(&programs.hash));
            let code = programs.code.as_binary_view().value(programs.row);
            match rows.push(&name, &hash, code, programs.from, self.size) {
                Some(next) => programs.from = next,
                None => (programs.row, programs.from) = (programs.row + 1, 0),
            }
            if rows.len() >= self.size
                && let Some(batch) = self.flush()?
            {
                self.programs = Some(programs);
                return Ok(Step::Batch(batch));
            }
        }
        Ok(Step::More)
    }

    fn rows_of(&self, isa: &str) -> Result<Rows> {
        let Some(known) = self.sets.get(isa) else {
            return exec_err!("the lake has programs of `{isa}`, but no description of it");
        };
        let keep = self.keeps.iter().find(|(name, _)| name == isa).and_then(|(_, keep)| keep.clone());
        Ok(Rows::new(&known.set, &self.columns, keep))
    }

    /// Builds a batch from the rows so far; `None` if there are none.
    fn flush(&mut self) -> Result<Option<RecordBatch>> {
        let Some(rows) = self.rows.as_mut().filter(|rows| !rows.is_empty()) else { return Ok(None) };
        let mut batch = rows.finish()?;
        if batch.num_rows() > self.left {
            batch = batch.slice(0, self.left);
        }
        self.left -= batch.num_rows();
        Ok(Some(batch))
    }
}

/// The schema of the columns, for code that rebuilds a plan from its parts.
pub fn schema_of(columns: &[Column]) -> SchemaRef {
    Arc::new(schema(columns))
}
