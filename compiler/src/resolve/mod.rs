//! From what is written to what is meant: names are bound, positions computed, XML groups expanded, errata applied.

pub mod arm_xml;
mod common;
mod families;
mod instructions;
mod mesa_xml;
mod syntax;
mod unused;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Diagnostics, Unknown};
use crate::model::Isa;
use crate::reader::{FromNode, Named, OneOrMany, Reader};
use crate::source::{FileId, Sources, Span, Spanned};
use crate::spec::File;
use crate::suggest::did_you_mean;
use crate::xml::read_xml;
use crate::yaml::{Node, Value, read_yaml};

/// Everything that resolving needs at hand.
pub(crate) struct Resolver<'a> {
    pub sources: &'a mut Sources,
    pub out: &'a mut Diagnostics,
    pub isa: Isa,
    pub files: Vec<(FileId, File)>,
    /// Files that others build on: what nobody uses of them is no concern of the one that builds.
    pub bases: Vec<FileId>,
    /// How many kinds the specification declares; those behind are of plain registers.
    pub declared_kinds: usize,
    /// Entries of `xml` sections that decided something.
    pub applied: HashSet<Span>,
    /// Primary opcodes of the XML files.
    pub opcodes: HashSet<u64>,
    /// Attributes of XML files that were complained about: those of a group are met for each of its instructions.
    pub told: HashSet<Span>,
    /// Opcodes of an XML file that do not fit their bits.
    pub too_wide: Vec<Spanned<u64>>,
    /// Names of instructions in the XML files.
    pub names: HashSet<String>,
    pub xml_roots: Vec<(crate::spec::XmlSpec, crate::xml::Element)>,
    pub arm_documents: Vec<arm_xml::Document>,
}

/// Reads the specification whose entry is `path` and all files it names.
///
/// `None` when there is no model to speak of; the reasons are in `out`. A model may come with errors in `out`, too:
/// what could be resolved is there for the checks.
pub fn resolve(path: &Path, sources: &mut Sources, out: &mut Diagnostics) -> Option<Isa> {
    let mut resolver = Resolver {
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
        xml_roots: Vec::new(),
        arm_documents: Vec::new(),
    };
    // All files are read before anything is said about what is in them.
    let complete = resolver.load(path, None, &mut Vec::new());
    complete.and(resolver.entry())?;
    resolver.xml_definitions()?;
    resolver.arm_definitions()?;
    resolver.definitions();
    resolver.xml_derived_enums();
    resolver.kinds_and_limits();
    resolver.isa.groups = resolver.groups();
    resolver.instructions();
    resolver.xml_instructions();
    resolver.arm_instructions();
    resolver.unused();
    resolver.apply_limits();
    resolver.semantics();
    resolver.out.settle_names();
    resolver.isa.bases = resolver.bases;
    Some(resolver.isa)
}

impl Resolver<'_> {
    fn load(&mut self, path: &Path, named: Option<&Spanned<String>>, stack: &mut Vec<PathBuf>) -> Option<()> {
        let id = match self.sources.load(path) {
            Ok(id) => id,
            Err(error) => {
                self.out.push(match named {
                    Some(name) => Diagnostic::error("E0003", name.span, error.to_string()),
                    None => Diagnostic::error_without_place("E0003", error.to_string()),
                });
                return None;
            }
        };
        let path = self.sources.path_on_disk(id).to_owned();
        if stack.contains(&path) {
            if let Some(name) = named {
                let message = format!("`{}` imports itself", name.value);
                let error = Diagnostic::error("E0004", name.span, message);
                self.out.push(error.help("remove the import that closes the circle"));
            }
            return None;
        }
        if self.files.iter().any(|(known, _)| *known == id) {
            return Some(());
        }
        if self.sources.text(id).trim_start().starts_with('<') {
            self.only_xml(id);
            return None;
        }
        let node = read_yaml(self.sources, id, self.out)?;
        stack.push(path.clone());
        let node = self.with_base(node, id, stack);
        stack.pop();
        let node = node?;
        let before = self.out.iter().len();
        let mut reader = Reader { sources: self.sources, out: self.out };
        let file = File::from_node(&node, &mut reader);
        // A mistake in one entry concerns that entry; any other, like a section that is not there because its name is
        // misspelt, makes everything else look wrong.
        let is_local = |found: &Diagnostic| found.primary.is_some_and(|span| is_in_entry(&node, span));
        let mut complete = self.out.iter().skip(before).all(is_local).then_some(());
        let imports = match &file {
            Some(file) => file.import.clone(),
            // The file cannot be taken; what is wrong with those that it imports is worth knowing all the same.
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

    /// Reports an XML document where a specification should be, and what is wrong with its markup.
    fn only_xml(&mut self, id: FileId) {
        let at = self.sources.text(id).find('<').unwrap_or(0);
        read_xml(self.sources, id, self.out);
        let error =
            Diagnostic::error("E0001", Span::new(id, at..at + 1), "this is XML, and a specification begins with YAML");
        let help = "write an `isa.yaml` beside it that names it under `xml: file:` and says where the bits are";
        self.out.push(error.label("a document begins here").help(help));
    }

    /// The path that a name in a file stands for.
    pub(crate) fn beside(&self, name: &Spanned<String>) -> PathBuf {
        let folder = self.sources.path_on_disk(name.span.file).parent().unwrap_or(Path::new(""));
        folder.join(&name.value)
    }

    /// A file's content laid over that of its base, if it names one.
    fn with_base(&mut self, node: Node, id: FileId, stack: &mut Vec<PathBuf>) -> Option<Node> {
        let Value::Map(entries) = &node.value else { return Some(node) };
        let Some((_, base)) = entries.iter().find(|(key, _)| key.value == "base") else { return Some(node) };
        let Value::Text(text) = &base.value else { return Some(node) };
        let name = Spanned::new(text.clone(), base.span);
        let base_id = match self.sources.load(&self.beside(&name)) {
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
            self.out.push(error.help("remove the `base` that closes the circle"));
            return None;
        }
        stack.push(path);
        let under = read_yaml(self.sources, base_id, self.out).and_then(|under| self.with_base(under, base_id, stack));
        stack.pop();
        Some(overlay(under?, node))
    }

    /// Takes the name and the word size from the entry, the first file.
    fn entry(&mut self) -> Option<()> {
        let (_, entry) = self.files.first()?;
        let name = entry.isa.clone();
        let word = entry.word.clone();
        self.isa.doc = entry.doc.clone().unwrap_or_default();
        let span = entry.span;
        match name {
            Some(name) => {
                self.isa.span = Some(name.span);
                self.isa.name = name.value;
            }
            // A file of its own that lacks its name may be a misspelt key, which is reported.
            None if self.out.has_errors() => {}
            None => self.out.push(Diagnostic::error("E0022", span, "the key `isa` is missing").help("give it a name")),
        }
        match word {
            Some(word) if matches!(word.value, 8 | 16 | 32 | 64) => self.isa.word_bits = word.value,
            Some(word) => {
                let message = format!("a word cannot have {} bits", word.value);
                self.out.push(Diagnostic::error("E0032", word.span, message).help("write 8, 16, 32 or 64"));
                return None;
            }
            None if self.files.iter().any(|(_, file)| file.group.is_some()) => {}
            None => {
                self.out.push(Diagnostic::error("E0022", span, "the key `word` is missing").help("say `word: 64`"));
                return None;
            }
        }
        Some(())
    }

    /// All entries of one key of all files, in the order of the files.
    pub(crate) fn all<T: Clone>(&self, key: impl Fn(&File) -> &Option<Named<T>>) -> Vec<(Spanned<String>, T)> {
        self.files.iter().filter_map(|(_, f)| key(f).as_ref()).flat_map(|n| n.0.clone()).collect()
    }

    /// The index of a name, or an error. The names come with the places of their definitions: a letter may be wrong there,
    /// or one be missing.
    pub(crate) fn find<'n>(
        out: &mut Diagnostics,
        what: &str,
        name: &Spanned<String>,
        names: impl Iterator<Item = (&'n str, Option<Span>)> + Clone,
    ) -> Option<usize> {
        let found = names.clone().position(|(n, _)| n == name.value);
        if let Some(span) = found.and_then(|found| names.clone().nth(found)?.1) {
            out.note_use(span);
        }
        if found.is_none() && !out.pass_over(&name.value) {
            let mut error =
                Diagnostic::error("E0101", name.span, format!("there is no {what} called `{}`", name.value));
            let near = did_you_mean(&name.value, names.clone().map(|(n, _)| n));
            let definition = near.and_then(|near| names.clone().find(|(n, _)| *n == near)?.1);
            if let Some(near) = near {
                error = error.help(format!("did you mean `{near}`?"));
            }
            if let (Some(near), Some(span)) = (near, definition) {
                error = error.label("used here").secondary(span, format!("`{near}` is defined here"));
            }
            let all = names.clone().filter_map(|(_, span)| span).reduce(Span::to);
            let first = names.clone().filter(|(n, _)| !n.is_empty()).take(4).map(|(n, _)| n);
            let all = all.map(|span| (span, format!("there is {}", list(first, names.count()))));
            out.push_unknown(error, Unknown { near: definition, all });
        }
        found
    }
}

/// `` `a`, `b` and 3 more ``.
fn list<'n>(shown: impl Iterator<Item = &'n str>, total: usize) -> String {
    let names: Vec<String> = shown.map(|name| format!("`{name}`")).collect();
    match total.saturating_sub(names.len()) {
        0 => names.join(", "),
        rest => format!("{} and {rest} more", names.join(", ")),
    }
}

/// The sections of a file whose entries stand alone: a mistake in one leaves the others as they are.
const SECTIONS: [&str; 7] = ["enums", "constants", "banks", "shared", "kinds", "rulings", "instructions"];

fn value_of<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let Value::Map(entries) = &node.value else { return None };
    entries.iter().find(|(given, _)| given.value == key).map(|(_, value)| value)
}

/// Whether a place is inside of an entry of a section.
fn is_in_entry(file: &Node, span: Span) -> bool {
    SECTIONS.iter().filter_map(|section| value_of(file, section)).any(|section| match &section.value {
        Value::Map(entries) => entries.iter().any(|(_, entry)| covers(entry, span)),
        _ => false,
    })
}

/// Whether a place is inside of a value, parts of which may come from another file.
fn covers(node: &Node, span: Span) -> bool {
    let within = |outer: Span| outer.file == span.file && outer.start <= span.start && span.end <= outer.end;
    within(node.span)
        || match &node.value {
            Value::Map(entries) => entries.iter().any(|(key, value)| within(key.span) || covers(value, span)),
            Value::List(items) => items.iter().any(|item| covers(item, span)),
            _ => false,
        }
}

/// `over` laid over `under`: maps merge key by key, `~` takes a key away, anything else replaces.
fn overlay(under: Node, over: Node) -> Node {
    let (Value::Map(below), Value::Map(above)) = (under.value, &over.value) else { return over };
    let mut merged = below;
    for (key, value) in above {
        let known = merged.iter().position(|(k, _)| k.value == key.value);
        match (known, &value.value) {
            (Some(i), Value::Null) => drop(merged.remove(i)),
            (Some(i), _) => {
                let (_, old) = merged.remove(i);
                merged.insert(i, (key.clone(), overlay(old, value.clone())));
            }
            (None, _) => merged.push((key.clone(), value.clone())),
        }
    }
    Node { span: over.span, value: Value::Map(merged) }
}
