//! From syntax to the model: binds names, computes positions, expands XML groups, and applies errata.
//!
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
mod sharing;
mod syntax;
mod unused;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::build::taken_crate_name;
use crate::diagnostic::{Diagnostic, Diagnostics, Unknown};
use crate::keys::{FromNode, Named, OneOrMany, Reader};
use crate::model::{Encoding, Isa};
use crate::source::{FileId, Sources, Span, Spanned};
use crate::spec::{File, InstructionSpec, YAML};
use crate::xml::read_xml;
use crate::yaml::{Node, Value, read_yaml};

/// The state of resolving.
pub(crate) struct Resolver<'a> {
    pub sources: &'a mut Sources,
    pub out: &'a mut Diagnostics,
    pub isa: Isa,
    pub files: Vec<(FileId, File)>,
    /// Files of bases: unused definitions in them do not concern the specification that builds on them.
    pub bases: Vec<FileId>,
    /// How many kinds the specification declares; those after them are of plain registers.
    pub declared_kinds: usize,
    /// Entries of `xml` sections that had an effect.
    pub applied: HashSet<Span>,
    /// Primary opcodes of the XML files.
    pub opcodes: HashSet<u64>,
    /// Attributes of XML files that were reported. Those of a group are visited for each of its instructions.
    pub told: HashSet<Span>,
    /// Opcodes of an XML file that are too wide for their bits.
    pub too_wide: Vec<Spanned<u64>>,
    /// The names of instructions in the XML files.
    pub names: HashSet<String>,
    /// Indexes of enums, kinds and banks by name.
    pub indexes: index::Indexes,
    /// The rulings that kinds depend on, computed on first use.
    pub rulings: Option<std::rc::Rc<families::Rulings>>,
    /// How many bytes of YAML were read; a base counts once for each file that builds on it.
    pub read: usize,
    pub xml_roots: Vec<(crate::spec::XmlSpec, crate::xml::Element)>,
    pub arm_documents: Vec<arm_xml::Document>,
}

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

impl<'a> Resolver<'a> {
    /// A resolver without files.
    fn new(sources: &'a mut Sources, out: &'a mut Diagnostics) -> Self {
        Resolver {
            sources,
            out,
            isa: Isa::default(),
            files: Vec::new(),
            bases: Vec::new(),
            declared_kinds: 0,
            applied: HashSet::new(),
            opcodes: HashSet::new(),
            told: HashSet::new(),
            too_wide: Vec::new(),
            names: HashSet::new(),
            indexes: index::Indexes::default(),
            rulings: None,
            read: 0,
            xml_roots: Vec::new(),
            arm_documents: Vec::new(),
        }
    }
}

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

    /// The path of a file named by another file.
    pub(crate) fn beside(&self, name: &Spanned<String>) -> PathBuf {
        let folder = self.sources.path_on_disk(name.span.file).parent().unwrap_or(Path::new(""));
        folder.join(&name.value)
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
        Some(overlay(under?, node))
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

    /// All entries of a key in all files, in file order.
    pub(crate) fn all<T: Clone>(&self, key: impl Fn(&File) -> &Option<Named<T>>) -> Vec<(Spanned<String>, T)> {
        self.files.iter().filter_map(|(_, f)| key(f).as_ref()).flat_map(|n| n.0.clone()).collect()
    }

    /// The index of a name, or an error. The names come with the places of their definitions, because a definition may
    /// be misspelt or missing.
    pub(crate) fn find<'n>(
        out: &mut Diagnostics,
        what: &str,
        name: &Spanned<String>,
        names: impl Iterator<Item = (&'n str, Option<Span>)> + Clone,
    ) -> Option<usize> {
        let Some((found, (_, definition))) = names.clone().enumerate().find(|(_, (n, _))| *n == name.value) else {
            if !out.pass_over(&name.value) {
                let names = if out.explains() { names.collect() } else { Vec::new() };
                unknown(out, what, name, &names);
            }
            return None;
        };
        if let Some(span) = definition {
            out.note_use(span);
        }
        Some(found)
    }
}

/// Reports an unknown name. Not generic, so that it is compiled only once.
fn unknown(out: &mut Diagnostics, what: &str, name: &Spanned<String>, names: &[(&str, Option<Span>)]) {
    let mut error = Diagnostic::error("E0101", name.span, format!("there is no {what} called `{}`", name.value));
    let near = out.near(&name.value, names.iter().map(|(n, _)| *n));
    let definition = near.and_then(|near| names.iter().find(|(n, _)| *n == near)?.1);
    if let Some(near) = near {
        error = error.help(format!("did you mean `{near}`?"));
    }
    if let (Some(near), Some(span)) = (near, definition) {
        error = error.label("used here").secondary(span, format!("`{near}` is defined here"));
    }
    let all = names.iter().filter_map(|(_, span)| *span).reduce(Span::to);
    let first = names.iter().map(|(n, _)| *n).filter(|n| !n.is_empty()).take(4);
    let all = all.map(|span| (span, format!("there is {}", list(first, names.len()))));
    if out.explains() {
        out.push_unknown(error, Unknown { near: definition, all });
    } else {
        out.push(error);
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

/// Formats `` `a`, `b` and 3 more ``.
fn list<'n>(shown: impl Iterator<Item = &'n str>, total: usize) -> String {
    let names: Vec<String> = shown.map(|name| format!("`{name}`")).collect();
    match total.saturating_sub(names.len()) {
        0 => names.join(", "),
        rest => format!("{} and {rest} more", names.join(", ")),
    }
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

/// Merges `over` into `under`: maps merge key by key, `~` removes a key, and any other value replaces the one there.
pub(crate) fn overlay(under: Node, over: Node) -> Node {
    let (Value::Map(below), Value::Map(above)) = (under.value, &over.value) else { return over };
    let mut merged: Vec<Option<(Spanned<String>, Node)>> = below.into_iter().map(Some).collect();
    let known: HashMap<String, usize> =
        merged.iter().flatten().enumerate().map(|(i, (key, _))| (key.value.clone(), i)).collect();
    for (key, value) in above {
        match (known.get(&key.value), &value.value) {
            (Some(i), Value::Null) => merged[*i] = None,
            (Some(i), _) => {
                let laid = match merged[*i].take() {
                    Some((_, old)) => overlay(old, value.clone()),
                    None => value.clone(),
                };
                merged[*i] = Some((key.clone(), laid));
            }
            (None, _) => merged.push(Some((key.clone(), value.clone()))),
        }
    }
    let merged = merged.into_iter().flatten().collect();
    Node { span: over.span, value: Value::Map(merged) }
}
