//! LLVM's instruction records of AMD's GPUs: TableGen records flattened to one JSON object per line.
//!
//! [`records`] parses lines to records with their places. [`generation`] selects the LLVM decoder tables of a
//! processor, and the records that it has. [`choose`] selects one of several records with the same bits. [`binding`]
//! maps operands to kinds and their arguments, and [`images`] computes the register counts of image instructions.
//! [`template`] converts `AsmString` to a template, [`operands`] finds how operands are accessed and [`implied`] the
//! registers without an operand, [`flow`] gives branches their meaning, and [`instruction`] converts a record to an
//! instruction of a specification. The kinds themselves, LLVM's operand printers, are in `printers.yaml`; the operand
//! classes that they print are in `operands.tsv`.

mod binding;
mod choose;
mod flow;
mod generation;
mod images;
mod implied;
mod instruction;
mod operands;
mod records;
mod template;

use std::fs::File;
use std::io::Read;

use flate2::read::MultiGzDecoder;

use super::format::{Document, Format, Request};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::Isa;
use crate::resolve::resolve_parts;
use crate::spec;
use flow::Flows;
use operands::Kinds;

/// The format.
pub(super) const FORMAT: Format =
    Format { name: "amdgpu-records", doc: "LLVM's instruction records of AMD's GPUs, as JSON lines", is, read };

/// The maximum size of an uncompressed document in bytes.
const MAX_DOCUMENT: u64 = 64 << 20;
/// How many bytes at the beginning are examined.
const LOOKED: usize = 2048;
/// The kinds that print operands.
const PRINTERS: &str = include_str!("printers.yaml");

fn is(document: &Document<'_>) -> bool {
    let name = document.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !(name.ends_with(".jsonl.gz") || name.ends_with(".jsonl")) {
        return false;
    }
    let mut start = vec![0; LOOKED];
    let mut len = 0;
    let mut reader: Box<dyn Read + '_> =
        if is_packed(document.head) { Box::new(MultiGzDecoder::new(document.head)) } else { Box::new(document.head) };
    while let Ok(more) = reader.read(&mut start[len..]) {
        if more == 0 {
            break;
        }
        len += more;
    }
    let start = String::from_utf8_lossy(&start[..len]);
    start.starts_with('{') && start.contains("\"Inst\"") && start.contains("\"name\"")
}

fn is_packed(head: &[u8]) -> bool {
    head.starts_with(&[0x1f, 0x8b])
}

/// The text of a document, uncompressed.
fn text(request: &Request<'_>) -> Result<String, String> {
    let shown = request.path.display();
    let failed = |error: std::io::Error| format!("`{shown}` cannot be read: {error}");
    let mut file = File::open(request.path).map_err(failed)?;
    let mut bytes = Vec::new();
    Read::by_ref(&mut file).take(MAX_DOCUMENT + 1).read_to_end(&mut bytes).map_err(failed)?;
    if is_packed(&bytes) {
        let mut unpacked = Vec::new();
        MultiGzDecoder::new(&bytes[..]).take(MAX_DOCUMENT + 1).read_to_end(&mut unpacked).map_err(failed)?;
        bytes = unpacked;
    }
    if bytes.len() as u64 > MAX_DOCUMENT {
        return Err(format!("`{shown}` has more than {} MiB", MAX_DOCUMENT >> 20));
    }
    String::from_utf8(bytes).map_err(|error| format!("`{shown}` is not UTF-8 text: {}", error.utf8_error()))
}

fn read(request: Request<'_>) -> Option<Isa> {
    let text = match text(&request) {
        Ok(text) => text,
        Err(message) => {
            request.out.push(Diagnostic::error_without_place("E0003", message));
            return None;
        }
    };
    if let Some(error) = generation::foreign(&text) {
        request.out.push(error);
        return None;
    }
    let Some(generation) = generation::find(request.generation) else {
        request.out.push(generation::unknown(request.generation));
        return None;
    };
    let file = request.sources.add(request.path, text);
    let records = records::read(request.sources.text(file), file, &generation, request.out)?;
    let printers = request.sources.add("printers.yaml", PRINTERS.to_owned());
    let flows = Flows::new(request.sources);
    let instructions = |file: &spec::File, out: &mut Diagnostics| {
        instruction::all(&records, &generation, &Kinds::of(file), &flows, out)
    };
    let mut isa = resolve_parts(printers, instructions, request.sources, request.out)?;
    if let Some(stream) = isa.stream_mut() {
        // LLVM tries its tables in order.
        stream.sets.iter_mut().for_each(|set| set.first_wins = true);
        stream.generations = (generation.number, generation.number);
        stream.generation_names = vec![(generation.name.clone(), generation.number)];
    }
    Some(isa)
}
