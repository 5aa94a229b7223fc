//! Serialisation of the instruction table, its plan nodes and the functions on programs, for use on other machines.
//!
//! Every message includes the sets of the lake, as names of built-in ones or whole specifications, so that an executor
//! needs only this program. Everything defined outside of this crate is left to Ballista.

use std::sync::Arc;

use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::{DataFusionError, TableReference, exec_datafusion_err, exec_err};
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Extension, LogicalPlan, ScalarUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{
    PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf::PhysicalExprNode;
use isaforge_arrow::Column;
use prost::Message;
use serde::{Deserialize, Serialize};

use crate::functions::{Function, Kind};
use crate::lake::Table;
use crate::session;
use crate::sets::{Recipe, Sets};
use crate::table::exec::InstructionsExec;
use crate::table::{Instructions, form_schema};

/// The prefix of messages of this crate. Other messages begin with a protobuf tag, which is never equal to it.
const MARK: &[u8] = b"\xffisaforge";

/// The message for a plan node; the serialised filter follows it.
#[derive(Debug, Serialize, Deserialize)]
struct OfPlan {
    sets: Vec<Recipe>,
    columns: Vec<String>,
    limit: Option<usize>,
    filter: Option<usize>,
}

/// The message for a table.
#[derive(Debug, Serialize, Deserialize)]
struct OfTable {
    sets: Vec<Recipe>,
    url: String,
}

/// The message for a function.
#[derive(Debug, Serialize, Deserialize)]
struct OfFunction {
    sets: Vec<Recipe>,
}

/// Serialises the items of this crate, and leaves the rest to Ballista.
#[derive(Debug, Default)]
pub struct Codec {
    logical: BallistaLogicalExtensionCodec,
    physical: BallistaPhysicalExtensionCodec,
}

fn recipes(sets: &Sets) -> Vec<Recipe> {
    sets.iter().map(|known| known.recipe.clone()).collect()
}

fn made(recipes: Vec<Recipe>) -> Result<Sets> {
    Sets::new(recipes).map_err(|error| exec_datafusion_err!("{error}"))
}

fn damaged(error: impl std::fmt::Display) -> DataFusionError {
    exec_datafusion_err!("a message from another machine is damaged: {error}")
}

/// Writes a message: the prefix, the length, the message, and the bytes that follow it.
fn write(message: &impl Serialize, rest: &[u8], buf: &mut Vec<u8>) -> Result<()> {
    let text = serde_json::to_vec(message).map_err(damaged)?;
    buf.extend_from_slice(MARK);
    buf.extend_from_slice(&(text.len() as u32).to_le_bytes());
    buf.extend_from_slice(&text);
    buf.extend_from_slice(rest);
    Ok(())
}

/// Reads a message written by [`write`], and returns the bytes that follow it.
fn read<'b, T: Deserialize<'b>>(buf: &'b [u8]) -> Result<(T, &'b [u8])> {
    let cut = || damaged("it is truncated");
    let rest = buf.strip_prefix(MARK).ok_or_else(|| damaged("it is not from isaforge"))?;
    let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
    let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(cut)?;
    Ok((serde_json::from_slice(text).map_err(damaged)?, rest))
}

fn encode_function(node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
    match (node.inner().as_ref() as &dyn std::any::Any).downcast_ref::<Function>() {
        Some(function) => write(&OfFunction { sets: recipes(function.sets()) }, &[], buf),
        None => Ok(()),
    }
}

fn decode_function(name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
    let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.name() == name) else {
        return exec_err!("there is no function `{name}`");
    };
    let (message, rest): (OfFunction, _) = read(buf)?;
    if !rest.is_empty() {
        return Err(damaged("it is too long"));
    }
    Ok(Arc::new(ScalarUDF::from(Function::new(kind, made(message.sets)?))))
}

impl PhysicalExtensionCodec for Codec {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        ctx: &TaskContext,
        proto_converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if !buf.starts_with(MARK) {
            return self.physical.try_decode(buf, inputs, ctx, proto_converter);
        }
        let (message, rest): (OfPlan, _) = read(buf)?;
        if rest.len() != message.filter.unwrap_or(0) {
            return Err(damaged("it is truncated"));
        }
        let [input] = inputs else { return Err(damaged("instructions have one input")) };
        let column = |name: &String| {
            let found = Column::ALL.into_iter().find(|column| column.name() == name);
            found.ok_or_else(|| damaged(format!("there is no column `{name}`")))
        };
        let columns = message.columns.iter().map(column).collect::<Result<_>>()?;
        let filter = match message.filter {
            Some(_) => {
                let node = PhysicalExprNode::decode(rest).map_err(damaged)?;
                let context = PhysicalPlanDecodeContext::new(ctx, self);
                Some(proto_converter.proto_to_physical_expr(&node, &form_schema(), &context)?)
            }
            None => None,
        };
        let plan = InstructionsExec::new(Arc::clone(input), made(message.sets)?, columns, filter, message.limit)?;
        Ok(Arc::new(plan))
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        proto_converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(plan) = (node.as_ref() as &dyn std::any::Any).downcast_ref::<InstructionsExec>() else {
            return self.physical.try_encode(node, buf, proto_converter);
        };
        let filter = plan.filter().map(|filter| proto_converter.physical_expr_to_proto(filter, self)).transpose()?;
        let filter = filter.map(|filter| filter.encode_to_vec());
        let message = OfPlan {
            sets: recipes(plan.sets()),
            columns: plan.columns().iter().map(|column| column.name().to_owned()).collect(),
            limit: plan.limit(),
            filter: filter.as_ref().map(Vec::len),
        };
        write(&message, &filter.unwrap_or_default(), buf)
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        decode_function(name, buf)
    }

    fn try_encode_udf(&self, node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        encode_function(node, buf)
    }
}

impl LogicalExtensionCodec for Codec {
    fn try_decode(&self, buf: &[u8], inputs: &[LogicalPlan], ctx: &TaskContext) -> Result<Extension> {
        self.logical.try_decode(buf, inputs, ctx)
    }

    fn try_encode(&self, node: &Extension, buf: &mut Vec<u8>) -> Result<()> {
        self.logical.try_encode(node, buf)
    }

    fn try_decode_table_provider(
        &self,
        buf: &[u8],
        table: &TableReference,
        schema: SchemaRef,
        ctx: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        if !buf.starts_with(MARK) {
            return self.logical.try_decode_table_provider(buf, table, schema, ctx);
        }
        let (message, rest): (OfTable, _) = read(buf)?;
        if !rest.is_empty() {
            return Err(damaged("it is too long"));
        }
        let programs = session::at_url(&message.url, Table::Programs)?;
        Ok(Arc::new(Instructions::new(programs, message.url, made(message.sets)?)))
    }

    fn try_encode_table_provider(
        &self,
        table: &TableReference,
        node: Arc<dyn TableProvider>,
        buf: &mut Vec<u8>,
    ) -> Result<()> {
        match (node.as_ref() as &dyn std::any::Any).downcast_ref::<Instructions>() {
            Some(found) => write(&OfTable { sets: recipes(found.sets()), url: found.url().to_owned() }, &[], buf),
            None => self.logical.try_encode_table_provider(table, node, buf),
        }
    }

    fn try_decode_file_format(&self, buf: &[u8], ctx: &TaskContext) -> Result<Arc<dyn FileFormatFactory>> {
        self.logical.try_decode_file_format(buf, ctx)
    }

    fn try_encode_file_format(&self, buf: &mut Vec<u8>, node: Arc<dyn FileFormatFactory>) -> Result<()> {
        self.logical.try_encode_file_format(buf, node)
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        decode_function(name, buf)
    }

    fn try_encode_udf(&self, node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        encode_function(node, buf)
    }
}
