//! The state of resolving, and how names are looked up in it.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::arm_xml::document::Document;
use super::index::Indexes;
use crate::diagnostic::{Diagnostic, Diagnostics, Unknown};
use crate::keys::Named;
use crate::model::Isa;
use crate::source::{FileId, Sources, Span, Spanned};
use crate::spec::{File, RulingSpec, XmlSpec};
use crate::xml::Element;

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
    pub indexes: Indexes,
    /// The rulings that kinds depend on, computed on first use.
    pub rulings: Option<Rc<Rulings>>,
    /// How many bytes of YAML were read; a base counts once for each file that builds on it.
    pub read: usize,
    pub xml_roots: Vec<(XmlSpec, Element)>,
    pub arm_documents: Vec<Document>,
}

impl<'a> Resolver<'a> {
    /// A resolver without files.
    pub(super) fn new(sources: &'a mut Sources, out: &'a mut Diagnostics) -> Self {
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
            indexes: Indexes::default(),
            rulings: None,
            read: 0,
            xml_roots: Vec::new(),
            arm_documents: Vec::new(),
        }
    }
}

impl Resolver<'_> {
    /// The path of a file named by another file.
    pub(crate) fn beside(&self, name: &Spanned<String>) -> PathBuf {
        let folder = self.sources.path_on_disk(name.span.file).parent().unwrap_or(Path::new(""));
        folder.join(&name.value)
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

/// Formats `` `a`, `b` and 3 more ``.
fn list<'n>(shown: impl Iterator<Item = &'n str>, total: usize) -> String {
    let names: Vec<String> = shown.map(|name| format!("`{name}`")).collect();
    match total.saturating_sub(names.len()) {
        0 => names.join(", "),
        rest => format!("{} and {rest} more", names.join(", ")),
    }
}
/// The rulings, and those that kinds of operands depend on.
pub(crate) struct Rulings {
    pub rulings: Vec<(Spanned<String>, RulingSpec)>,
    pub of_kinds: HashMap<String, Vec<Spanned<String>>>,
}
