//! Instructions of a program as JSON, one object a line.
//!
//! [`SCHEMA`] describes an object; its `$id` ends with a version that changes when a name changes its meaning or goes.

use isaforge_analysis::effects::When;
use isaforge_analysis::{Instruction, Program, Register};
use isaforge_core::Tables;
use serde_json::{Map, Value, json};

use crate::groups::hex;

/// The JSON Schema of an object.
pub const SCHEMA: &str = include_str!("instruction.schema.json");

/// One entry of a program as an object.
pub fn entry(program: &Program<'_>, index: usize, code: &[u8]) -> Value {
    let entry = &program.entries[index];
    let bytes = code.get(entry.bytes.clone()).unwrap_or_default();
    let mut object = Map::new();
    object.insert("address".into(), json!(entry.bytes.start));
    object.insert("label".into(), json!(program.labels.get(&index)));
    object.insert("bytes".into(), json!(hex(bytes)));
    if let Tables::Words(isa) = program.set.tables {
        let digits = crate::words::word_digits(isa);
        let word = bytes.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        object.insert("word".into(), json!(format!("{word:0digits$x}")));
    }
    match &entry.instruction {
        Ok(instruction) => valid(program, instruction, &mut object),
        Err(reason) => {
            for name in ["text", "mnemonic", "flow", "target", "target_address"] {
                object.insert(name.into(), Value::Null);
            }
            for name in ["modifiers", "operands", "reads", "writes"] {
                object.insert(name.into(), json!([]));
            }
            object.insert("errors".into(), json!([reason]));
        }
    }
    Value::Object(object)
}

fn valid(program: &Program<'_>, instruction: &Instruction, object: &mut Map<String, Value>) {
    let names = |registers: &mut dyn Iterator<Item = Register>| {
        let names: Vec<Value> = registers.map(|register| json!(program.set.name(register))).collect();
        Value::Array(names)
    };
    let flow = &instruction.flow;
    let modifiers: Vec<Value> = instruction
        .modifiers
        .iter()
        .map(|modifier| json!({ "name": modifier.name, "value": modifier.value, "text": modifier.text }))
        .collect();
    let operands: Vec<Value> = instruction
        .operands
        .iter()
        .map(|o| json!({ "name": o.name, "kind": o.kind, "value": o.value, "text": o.text }))
        .collect();
    object.insert("text".into(), json!(instruction.text));
    object.insert("mnemonic".into(), json!(instruction.mnemonic));
    object.insert("modifiers".into(), Value::Array(modifiers));
    object.insert("operands".into(), Value::Array(operands));
    object.insert("reads".into(), names(&mut instruction.reads.iter().copied()));
    object.insert("writes".into(), names(&mut instruction.writes.iter().map(|(register, _)| *register)));
    let slots: Vec<u32> = (0..8).filter(|slot| flow.waits >> slot & 1 != 0).collect();
    object.insert(
        "flow".into(),
        json!({
            "kind": flow.name(),
            "conditional": flow.branch == When::Sometimes || flow.end == When::Sometimes,
            "waits": slots,
            "reconverges": flow.reconverges,
            "discards": flow.discards,
            "barrier": flow.barrier,
        }),
    );
    let label = flow.target.and_then(|target| program.labels.get(&program.place(target)?));
    object.insert("target".into(), json!(label));
    object.insert("target_address".into(), json!(flow.target));
    object.insert("errors".into(), json!([]));
}
