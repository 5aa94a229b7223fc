//! The table `instructions`: the instructions of the programs in a lake, decoded on reading.
//!
//! ```text
//! InstructionsExec: decodes the requested columns  filters on columns of forms: evaluated once, over the forms
//!   FilterExec, DataSourceExec: programs           filters on columns of programs
//! ```

pub mod exec;

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column as Named, DFSchema, internal_err};
use datafusion::error::Result;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExec;
use isaforge_arrow::Column;
use isaforge_arrow::column::schema;

use self::exec::InstructionsExec;
use crate::sets::Sets;

/// The instruction table.
#[derive(Debug)]
pub struct Instructions {
    programs: Arc<dyn TableProvider>,
    url: String,
    sets: Sets,
    schema: SchemaRef,
}

/// The columns that a filter uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Programs,
    Forms,
    Instructions,
}

impl Instructions {
    /// The instructions of a table of programs, whose files are at this URL.
    pub fn new(programs: Arc<dyn TableProvider>, url: String, sets: Sets) -> Instructions {
        Instructions { programs, url, sets, schema: Arc::new(schema(&Column::ALL)) }
    }

    /// The location of the program files.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The sets of the programs.
    pub fn sets(&self) -> &Sets {
        &self.sets
    }
}

fn reach(filter: &Expr) -> Reach {
    let columns = filter.column_refs();
    let all = |is: fn(Column) -> bool| columns.iter().all(|named| column(&named.name).is_some_and(is));
    if filter.is_volatile() {
        Reach::Instructions
    } else if all(Column::is_of_program) {
        // Constants as well: filters are simplified after they have been pushed down, and may leave a null behind.
        Reach::Programs
    } else if all(Column::is_of_form) {
        Reach::Forms
    } else {
        Reach::Instructions
    }
}

fn column(name: &str) -> Option<Column> {
    Column::ALL.into_iter().find(|column| column.name() == name)
}

/// The name of a program's column in the program table.
fn in_programs(column: Column) -> &'static str {
    match column {
        Column::Program => "name",
        column => column.name(),
    }
}

/// Converts a filter on instructions to one on programs.
fn on_programs(filter: &Expr) -> Result<Expr> {
    let renamed = filter.clone().transform(|node| {
        Ok(match &node {
            Expr::Column(named) => match column(&named.name) {
                Some(found) => Transformed::yes(Expr::Column(Named::new_unqualified(in_programs(found)))),
                None => Transformed::no(node),
            },
            _ => Transformed::no(node),
        })
    });
    renamed.map(|renamed| renamed.data)
}

#[async_trait]
impl TableProvider for Instructions {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        // A group has several operations, so its name is known only after decoding.
        let have_opcodes = self.sets.iter().all(|known| known.set.has_opcodes());
        let answer = |filter: &&Expr| match reach(filter) {
            Reach::Programs => TableProviderFilterPushDown::Exact,
            Reach::Forms if have_opcodes => TableProviderFilterPushDown::Exact,
            Reach::Forms => TableProviderFilterPushDown::Inexact,
            Reach::Instructions => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(answer).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let columns: Vec<Column> = match projection {
            Some(indices) => indices.iter().filter_map(|index| Column::ALL.get(*index)).copied().collect(),
            None => Column::ALL.to_vec(),
        };
        if let Some(filter) = filters.iter().find(|filter| reach(filter) == Reach::Instructions) {
            return internal_err!("a filter that cannot be pushed down was: {filter}");
        }
        let of = |wanted: Reach| filters.iter().filter(move |filter| reach(filter) == wanted);
        let on_programs: Vec<Expr> = of(Reach::Programs).map(on_programs).collect::<Result<_>>()?;
        let programs = self.programs.schema();
        let mut wanted: Vec<&str> = vec!["isa", "code"];
        wanted.extend(columns.iter().filter(|column| column.is_of_program()).map(|column| in_programs(*column)));
        wanted.extend(on_programs.iter().flat_map(Expr::column_refs).map(|named| match named.name.as_str() {
            "name" => "name",
            "hash" => "hash",
            _ => "isa",
        }));
        let mut wanted: Vec<usize> =
            wanted.into_iter().map(|name| programs.index_of(name)).collect::<Result<_, _>>()?;
        wanted.sort_unstable();
        wanted.dedup();
        let mut input = self.programs.scan(state, Some(&wanted), &on_programs, None).await?;
        if let Some(filter) = conjunction(on_programs) {
            let schema = DFSchema::try_from(input.schema())?;
            input = Arc::new(FilterExec::try_new(state.create_physical_expr(filter, &schema)?, input)?);
        }
        let filter = match conjunction(of(Reach::Forms).map(unqualified).collect::<Result<Vec<_>>>()?) {
            Some(filter) => {
                let schema = DFSchema::try_from(form_schema())?;
                Some(state.create_physical_expr(filter, &schema)?)
            }
            None => None,
        };
        Ok(Arc::new(InstructionsExec::new(input, self.sets.clone(), columns, filter, limit)?))
    }
}

fn unqualified(filter: &Expr) -> Result<Expr> {
    let renamed = filter.clone().transform(|node| {
        Ok(match &node {
            Expr::Column(named) => Transformed::yes(Expr::Column(Named::new_unqualified(named.name.clone()))),
            _ => Transformed::no(node),
        })
    });
    renamed.map(|renamed| renamed.data)
}

/// The schema that filters on forms are evaluated with.
pub fn form_schema() -> Schema {
    schema(&[Column::Opcode, Column::Mnemonic])
}
