//! From syntax to the model: binds names, computes positions, expands XML groups, and applies errata.
//!
//! - here: reads the files of a specification, and runs the stages
//! - `resolver`: the state that all stages share
//! - `sharing`: expands `like` and `rows`, before anything else
//! - `common`: definitions that instructions refer to: enums, banks, kinds, limits
//! - `instructions`: instructions written in YAML; `families`: entries that define several
//! - [`arm_xml`], `mesa_xml`: instructions described by XML
//! - `syntax`: templates of texts
//! - `index`: definitions by name; `unused`: what nothing refers to

pub mod arm_xml;
mod common;
mod families;
mod index;
mod instructions;
mod mesa_xml;
pub(crate) mod resolver;
mod sharing;
mod syntax;
mod unused;

use std::path::{Path, PathBuf};

use crate::crate_name::taken_crate_name;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::keys::{FromNode, Named, OneOrMany, Reader};
use crate::model::{Encoding, Isa};
use crate::source::{FileId, Sources, Span, Spanned};
use crate::spec::{File, InstructionSpec, YAML};
use crate::xml::read_xml;
use crate::yaml::{Node, Value, read_yaml};
use resolver::Resolver;

/// Reads the specification whose entry is `path`, with all files it names.
///
/// Returns `None` when no model could be built; the reasons are in `out`. A model may also come with errors in `out`:
/// it then contains what could be resolved, for the checks.
pub fn resolve(path: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Isa> {
    let mut resolver = Resolver::new(sources, out);
    // All files are read before their contents are examined.
    let complete = resolver.load(path, None, &mut Vec::new());
    complete.and(resolver.entry())?;
    if resolver.beyond_words().is_some() {
        resolver.stream_definitions();
        resolver.stream()?;
        resolver.unused();
        resolver.semantics();
        resolver.machine();
        resolver.split_by_generation();
        resolver.out.settle_names();
        resolver.isa.bases = resolver.bases;
        return Some(resolver.isa);
    }
    resolver.xml_definitions()?;
    resolver.arm_definitions()?;
    resolver.definitions();
    resolver.xml_derived_enums();
    resolver.kinds_and_limits();
    if let Some(groups) = resolver.groups() {
        resolver.isa.encoding = Encoding::Groups(groups);
    }
    resolver.instructions();
    resolver.xml_instructions();
    resolver.arm_instructions();
    resolver.unused();
    resolver.apply_limits();
    resolver.semantics();
    resolver.machine();
    resolver.out.settle_names();
    resolver.isa.bases = resolver.bases;
    Some(resolver.isa)
}

/// Resolves a specification whose entry is a text of isaforge and whose instructions come from elsewhere: a reader made
/// them from a document in a foreign format. The set must be a stream.
pub(crate) fn resolve_parts(
    entry: FileId,
    instructions: impl FnOnce(&File, &mut Diagnostics) -> Named<InstructionSpec>,
    sources: &mut Sources,
    out: &mut Diagnostics,
) -> Option<Isa> {
    let mut node = read_yaml(sources, entry, out)?;
    sharing::expand(&mut node, out);
    let mut file = File::from_node(&node, &mut Reader { sources, out })?;
    file.instructions = Some(instructions(&file, out));
    let mut resolver = Resolver::new(sources, out);
    resolver.files.push((entry, file));
    resolver.entry()?;
    resolver.stream_definitions();
    resolver.stream()?;
    resolver.semantics();
    resolver.split_by_generation();
    resolver.out.settle_names();
    Some(resolver.isa)
}

/// The maximum length of a chain of files that name one another, counting imports and bases.
const MAX_NESTED: usize = 64;
/// The maximum number of files in a specification.
const MAX_FILES: usize = 1000;
/// The maximum number of bytes of YAML to read; a base counts once for each file that builds on it.
const MAX_BYTES: usize = 64 << 20;

impl Resolver<'_> {
    fn load(&mut self, path: &Path, named: Option<&Spanned<String>>, stack: &mut Vec<PathBuf>) -> Option<()> {
        let loaded = match named {
            Some(_) => self.sources.load_part(path, YAML),
            None => self.sources.load(path),
        };
        let id = match loaded {
            Ok(id) => id,
            Err(error) => {
                self.out.push(match named {
                    Some(name) => Diagnostic::error("E0003", name.span, error.to_string()),
                    None => Diagnostic::error_without_place("E0003", error.to_string()),
                });
                return None;
            }
        };
        // Imports of a base belong to the base.
        if named.is_some_and(|name| self.bases.contains(&name.span.file)) {
            self.bases.push(id);
        }
        let path = self.sources.path_on_disk(id).to_owned();
        if stack.contains(&path) {
            if let Some(name) = named {
                let message = format!("`{}` imports itself", name.value);
                let error = Diagnostic::error("E0004", name.span, message);
                self.out.push(error.help("remove the import that closes the cycle"));
            }
            return None;
        }
        if self.files.iter().any(|(known, _)| *known == id) || self.too_many(named.map(|name| name.span), stack) {
            return Some(());
        }
        if self.sources.text(id).trim_start().starts_with('<') {
            self.only_xml(id);
            return None;
        }
        self.read += self.sources.text(id).len();
        let node = read_yaml(self.sources, id, self.out)?;
        if matches!(node.value, Value::Null) {
            let error = Diagnostic::error("E0020", node.span, "a file that describes nothing");
            self.out.push(error.help(match named {
                None => "a specification has a name, a word and instructions: `isa: …`, `word: …`, `instructions: …`",
                Some(_) => "describe something in it, or remove the import",
            }));
            return None;
        }
        stack.push(path.clone());
        let node = self.with_base(node, id, stack);
        stack.pop();
        let mut node = node?;
        sharing::expand(&mut node, self.out);
        let before = self.out.iter().len();
        let mut reader = Reader { sources: self.sources, out: self.out };
        let file = File::from_node(&node, &mut reader);
        // A mistake within an entry concerns only that entry. Any other mistake, such as a section that is missing
        // because its name is misspelt, makes everything else look wrong.
        let entries = Places::of_entries(&node);
        let is_local = |found: &Diagnostic| found.primary.is_some_and(|span| entries.cover(span));
        let mut complete = self.out.iter().skip(before).all(is_local).then_some(());
        let imports = match &file {
            Some(file) => file.import.clone(),
            // The file cannot be used, but mistakes in its imports are reported nevertheless.
            None => {
                let mut reader = Reader { sources: self.sources, out: &mut Diagnostics::new() };
                let import = value_of(&node, "import");
                import.and_then(|import| OneOrMany::<Spanned<String>>::from_node(import, &mut reader))
            }
        };
        complete = complete.filter(|()| file.is_some());
        self.files.extend(file.map(|file| (id, file)));
        stack.push(path);
        for import in imports.iter().flat_map(|i| i.iter()) {
            complete = self.load(&self.beside(import), Some(import), stack).and(complete);
        }
        stack.pop();
        complete
    }

    /// Whether a specification exceeds a limit on its files, their nesting or their size. Reports it once.
    fn too_many(&mut self, place: Option<Span>, stack: &[PathBuf]) -> bool {
        let message = if stack.len() >= MAX_NESTED {
            format!("files refer to one another more than {MAX_NESTED} deep")
        } else if self.files.len() + self.bases.len() >= MAX_FILES {
            format!("a specification of more than {MAX_FILES} files")
        } else if self.read > MAX_BYTES {
            format!("a specification of more than {} MiB", MAX_BYTES >> 20)
        } else {
            return false;
        };
        let told = |found: &Diagnostic| found.code == "E0003" && found.message == message;
        if !self.out.iter().any(told) {
            self.out.push(Diagnostic { primary: place, ..Diagnostic::error_without_place("E0003", message) });
        }
        true
    }

    /// Reports an XML document in place of a specification, with the mistakes in its markup.
    fn only_xml(&mut self, id: FileId) {
        let at = self.sources.text(id).find('<').unwrap_or(0);
        read_xml(self.sources, id, self.out);
        let error =
            Diagnostic::error("E0001", Span::new(id, at..at + 1), "this is XML, but a specification begins with YAML");
        let help = "write an `isa.yaml` beside it that names it under `xml: file:` and says where the bits are";
        self.out.push(error.label("a document begins here").help(help));
    }

    /// Merges a file over its base, if it names one.
    fn with_base(&mut self, node: Node, id: FileId, stack: &mut Vec<PathBuf>) -> Option<Node> {
        let Value::Map(entries) = &node.value else { return Some(node) };
        let Some((_, base)) = entries.iter().find(|(key, _)| key.value == "base") else { return Some(node) };
        let Value::Text(text) = &base.value else { return Some(node) };
        let name = Spanned::new(text.clone(), base.span);
        let base_id = match self.sources.load_part(&self.beside(&name), YAML) {
            Ok(base_id) => base_id,
            Err(error) => {
                self.out.push(Diagnostic::error("E0003", name.span, error.to_string()));
                return None;
            }
        };
        let path = self.sources.path_on_disk(base_id).to_owned();
        self.bases.push(base_id);
        if base_id == id || stack.contains(&path) {
            let error = Diagnostic::error("E0004", name.span, format!("`{text}` builds on itself"));
            self.out.push(error.help("remove the `base` that closes the cycle"));
            return None;
        }
        if self.too_many(Some(name.span), stack) {
            return None;
        }
        self.read += self.sources.text(base_id).len();
        stack.push(path);
        let under = read_yaml(self.sources, base_id, self.out).and_then(|under| self.with_base(under, base_id, stack));
        stack.pop();
        Some(sharing::overlay(under?, node))
    }

    /// Sets the name and the width of words from the entry, which is the first file.
    fn entry(&mut self) -> Option<()> {
        let (_, entry) = self.files.first()?;
        let name = entry.isa.clone();
        let word = entry.word.clone();
        self.isa.doc = entry.doc.clone().unwrap_or_default();
        let span = entry.span;
        match name {
            Some(name) => {
                self.isa.span = Some(name.span);
                if let Some(reason) = wrong_crate_name(&name.value) {
                    let message = format!("`{}` is not a valid name for an instruction set", name.value.escape_debug());
                    let error = Diagnostic::error("E0035", name.span, message).label(reason);
                    self.out.push(error.help("a crate and a module get this name: `my-isa2`"));
                }
                self.isa.name = name.value;
            }
            // If the name is missing because its key is misspelt, that is already reported.
            None if self.out.has_errors() => {}
            None => self.out.push(Diagnostic::error("E0022", span, "the key `isa` is missing").help("give it a name")),
        }
        match word.as_ref().map(|word| &word.0[..]) {
            // Streams check this in more detail.
            _ if self.beyond_words().is_some() && word.is_some() => {}
            Some([word, ..]) => self.isa.word_bits = word.value as u8,
            Some([]) => {
                self.out.push(Diagnostic::error("E0032", span, "`word` gives no length").help("write 8, 16, 32 or 64"));
                return None;
            }
            None if self.files.iter().any(|(_, file)| file.group.is_some()) => {}
            // If the file that has it cannot be used, or its key is misspelt, that is already reported.
            None if self.out.has_errors() => return None,
            None => {
                self.out.push(Diagnostic::error("E0022", span, "the key `word` is missing").help("say `word: 64`"));
                return None;
            }
        }
        Some(())
    }
}

/// Why a name cannot be that of a crate and module; `None` if it can.
fn wrong_crate_name(name: &str) -> Option<String> {
    const MAX_TEXT: usize = 64;
    if name.is_empty() {
        return Some("the name is empty".to_owned());
    }
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Some("the name must begin with a letter from a to z".to_owned());
    }
    if let Some(found) = name.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))) {
        return Some(format!("the name cannot contain `{}`, only letters, digits, `-` and `_`", found.escape_debug()));
    }
    if name.len() > MAX_TEXT {
        return Some(format!("the name has {} letters, at most {MAX_TEXT} are allowed", name.len()));
    }
    taken_crate_name(name).map(str::to_owned)
}

/// The sections whose entries are independent: a mistake in one entry does not affect the others.
const SECTIONS: [&str; 7] = ["enums", "constants", "banks", "shared", "kinds", "rulings", "instructions"];

fn value_of<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let Value::Map(entries) = &node.value else { return None };
    entries.iter().find(|(given, _)| given.value == key).map(|(_, value)| value)
}

/// The places of all entries in a file's sections, sorted and disjoint. Parts of an entry may come from other files.
struct Places(Vec<Span>);

impl Places {
    fn of_entries(file: &Node) -> Self {
        let mut spans = Vec::new();
        for section in SECTIONS.iter().filter_map(|section| value_of(file, section)) {
            if let Value::Map(entries) = &section.value {
                entries.iter().for_each(|(_, entry)| collect(entry, &mut spans));
            }
        }
        spans.sort_unstable();
        let mut apart: Vec<Span> = Vec::new();
        for span in spans {
            match apart.last_mut().filter(|last| last.file == span.file && span.start < last.end) {
                Some(last) => *last = last.to(span),
                None => apart.push(span),
            }
        }
        Places(apart)
    }

    fn cover(&self, span: Span) -> bool {
        let next = self.0.partition_point(|place| (place.file, place.start) <= (span.file, span.start));
        let place = next.checked_sub(1).and_then(|before| self.0.get(before));
        place.is_some_and(|place| place.file == span.file && span.end <= place.end)
    }
}

fn collect(node: &Node, spans: &mut Vec<Span>) {
    spans.push(node.span);
    match &node.value {
        Value::Map(entries) => entries.iter().for_each(|(key, value)| {
            spans.push(key.span);
            collect(value, spans);
        }),
        Value::List(items) => items.iter().for_each(|item| collect(item, spans)),
        _ => {}
    }
}
