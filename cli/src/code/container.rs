//! The code in a container.

use std::collections::{BTreeMap, HashMap};

use isaforge_containers::{Container, Holds, Part, Search, Symbol};
use isaforge_core::Tables;
use isaforge_core::bits::word_of;
use isaforge_core::decode::decode;
use isaforge_core::group::listing::pieces;
use isaforge_core::stream::listing::parts;

use super::{Bytes, Code, Decoded, How, Shader, Symbols, cut};
use crate::failure::Failure;
use crate::input::Input;
use crate::mistakes::Mistake;
use crate::output::count;
use crate::words::word_bytes;

/// The code of a container: all its shaders, or the one that was selected.
///
/// # Errors
/// When the file is for another processor, or contains no code for the instruction set.
pub fn read(tables: Tables, input: &Input, container: &Container<'_>, how: How<'_>) -> Result<Code, Failure> {
    let wanted = how.shader;
    if let (Some(machine), Some(expected)) = (container.machine, how.machine)
        && machine != expected
    {
        let message =
            format!("`{}` is {}: its code is for machine {machine}, not {expected}", input.name, container.kind);
        let help = "the specification has the number of its machine in `elf`; `--raw` reads the bytes unchanged";
        return Err(Failure::usage(message, help));
    }
    let mut code = Bytes::default();
    let (mut shaders, mut taken, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
    let mut of_part: BTreeMap<usize, Vec<&Symbol>> = BTreeMap::new();
    container.symbols.iter().for_each(|symbol| of_part.entry(symbol.part).or_default().push(symbol));
    let (mut symbols, mut mistake) = (Vec::new(), None);
    let title = |part: &Part<'_>| format!("{} at {:#x}", part.name, part.offset);
    // A whole name is meant alone, even where others begin with it.
    let is_named = |part: &Part<'_>, wanted: &str| part.name == wanted || title(part) == wanted;
    let exactly = wanted.is_some_and(|wanted| container.parts.iter().any(|part| is_named(part, wanted)));
    let (mut search, mut relocations) = (Search::new(), 0);
    for (index, part) in container.parts.iter().enumerate() {
        let is_other = |wanted| if exactly { !is_named(part, wanted) } else { !part.name.starts_with(wanted) };
        if wanted.is_some_and(is_other) {
            skipped.push(part.name.as_str());
            continue;
        }
        let Some((bytes, range)) = search.code(part, &|bytes| valid(tables, part.holds, bytes)) else {
            skipped.push(part.name.as_str());
            continue;
        };
        let name = title(part);
        let start = code.bytes.len();
        let own = of_part.remove(&index).unwrap_or_default().into_iter();
        let own = own.filter(|symbol| range.contains(&symbol.offset));
        symbols.extend(own.map(|symbol| (start + symbol.offset - range.start, symbol.name.as_str())));
        let own = cut(tables, Bytes { bytes: bytes[range].to_vec(), lines: Vec::new() });
        let bytes = own.code;
        mistake = mistake.or(own.mistake.map(|own| Mistake { message: format!("{name}: {}", own.message), ..own }));
        taken.push(format!("{name} with {}", count(Decoded::of(tables, &bytes).all as u64, "instruction")));
        code.bytes.extend(bytes.bytes);
        relocations += part.relocations;
        let address = how.address.unwrap_or(part.address);
        shaders.push(Shader { name, bytes: start..code.bytes.len(), address });
    }
    let mut remarks = remarks(container, &search);
    if taken.is_empty() {
        let (message, help) = match wanted {
            Some(wanted) if !skipped.is_empty() => {
                let message = format!("`{}` is {}, and has no shader `{wanted}`", input.name, container.kind);
                (message, format!("its parts are {}", listed(&skipped)))
            }
            _ => {
                remarks.insert(0, "holds no code of this instruction set".to_owned());
                let message = format!("`{}` is {}, and {}", input.name, container.kind, remarks.join("; "));
                (message, "`--raw` reads its bytes unchanged".to_owned())
            }
        };
        return Err(Failure::usage(message, help));
    }
    if let (Some(bits), Some(width), Some(_)) = (container.bits, how.width, how.machine)
        && bits > width
    {
        let message = format!("it is for processors of {bits} bits, and the instruction set has registers of {width}");
        remarks.insert(0, message);
    }
    if relocations > 0 {
        let places = count(relocations as u64, "place");
        remarks.insert(0, format!("a linker has yet to fill in {places}, so operands and targets there are not final"));
    }
    if !skipped.is_empty() {
        remarks.insert(0, format!("skipped {}", listed(&skipped)));
    }
    remarks.insert(0, format!("{}: {}", container.kind, listed(&taken)));
    let address = shaders.first().map_or(0, |shader| shader.address);
    let shaders = if shaders.len() > 1 { shaders } else { Vec::new() };
    let symbols = labels(symbols.into_iter());
    Ok(Code { code, mistake, address, note: Some(remarks.join("; ")), shaders, symbols })
}

/// What a user should know about a container: what is wrong with it, and what was not read.
fn remarks(container: &Container<'_>, search: &Search) -> Vec<String> {
    let mut remarks: Vec<String> = container.damage.iter().map(|damage| format!("damaged: {damage}")).collect();
    if container.unread > 0 {
        remarks.push(format!("{} at the end not read", count(container.unread as u64, "byte")));
    }
    if search.too_large() > 0 {
        let parts = count(search.too_large() as u64, "part");
        remarks.push(format!("{parts} not unpacked: a part may have at most 64 MiB, and all parts of a file 1 GiB"));
    }
    if !search.broken.is_empty() {
        remarks.push(format!("damaged, cannot be decompressed: {}", listed(&search.broken)));
    }
    if !search.altered.is_empty() {
        remarks.push(format!("damaged, the checksum is wrong: {}", listed(&search.altered)));
    }
    if !search.cut.is_empty() {
        let parts = count(search.cut.len() as u64, "part");
        let cut = listed(&search.cut);
        remarks.push(format!("{parts} not searched to the end, for time: {cut}; `--shader NAME` searches one"));
    }
    remarks
}

/// Makes labels from symbols: the first symbol at each address, with characters that labels may not have replaced.
pub fn labels<'a>(symbols: impl Iterator<Item = (usize, &'a str)>) -> Symbols {
    let mut labels = Symbols::new();
    let mut taken: HashMap<String, u32> = HashMap::new();
    for (at, symbol) in symbols.filter(|(_, symbol)| !symbol.is_empty()) {
        if labels.contains_key(&at) {
            continue;
        }
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut name: String = symbol.chars().map(plain).collect();
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            name.insert(0, '_');
        }
        let first = name.clone();
        while taken.contains_key(&name) {
            let number = taken.entry(first.clone()).or_insert(1);
            *number += 1;
            name = format!("{first}_{number}");
        }
        taken.insert(name.clone(), 1);
        labels.insert(at, name);
    }
    labels
}

/// The maximum number of names in a message.
const NAMED: usize = 20;

/// Lists names, but not all of very many.
pub fn listed(names: &[impl AsRef<str>]) -> String {
    let mut text = names.iter().take(NAMED).map(AsRef::as_ref).collect::<Vec<&str>>().join(", ");
    if names.len() > NAMED {
        text.push_str(&format!(" and {} more", names.len() - NAMED));
    }
    text
}

/// How many bytes are valid code, from the first one on: all of them if the file says that they are code and most
/// instructions decode, else as many as do.
fn valid(tables: Tables, holds: Holds, bytes: &[u8]) -> usize {
    if holds == Holds::Code {
        let decoded = Decoded::of(tables, &Bytes { bytes: bytes.to_vec(), lines: Vec::new() });
        return if 2 * decoded.good > decoded.all { bytes.len() } else { 0 };
    }
    match tables {
        Tables::Words(isa) => {
            let size = word_bytes(isa);
            // Zeros decode as an instruction in many sets.
            if !bytes.iter().any(|byte| *byte != 0) {
                return 0;
            }
            let is_word = |word: &&[u8]| word.len() == size && decode(isa, word_of(word)).is_ok();
            size * bytes.chunks(size).take_while(is_word).count()
        }
        Tables::Groups(isa) => {
            let invalid = pieces(isa, bytes, &[]).find(|piece| piece.group.is_err());
            invalid.map_or(bytes.len(), |piece| piece.at)
        }
        Tables::Streams(engine) => {
            let invalid = parts(engine, bytes).find(|part| part.decoded.is_err());
            invalid.map_or(bytes.len(), |part| part.at)
        }
    }
}
