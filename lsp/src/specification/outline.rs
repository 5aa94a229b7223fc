//! The keys around a position in a file of a specification, the keys allowed there, and all definitions, according to
//! the types that read the file.

use isaforge_compiler::diagnostic::Diagnostics;
use isaforge_compiler::keys::{Accepts, FromNode, KeyDoc, MapDoc};
use isaforge_compiler::source::{FileId, Sources, Span};
use isaforge_compiler::spec::File;
use isaforge_compiler::yaml::{Node, Value, read_yaml};

/// The item at a position.
#[derive(Debug)]
pub enum Here {
    /// A key of the language.
    Key(KeyDoc),
    /// A name defined by the specification, and the keys of the map that it names, if it has any.
    Name(String, Option<MapDoc>),
    /// Text that is the value of a key.
    Value(String, KeyDoc),
}

/// A named definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The key of the enclosing map: `enums`, `kinds`.
    pub section: &'static str,
    /// Its name.
    pub name: String,
    /// The span of the name.
    pub key: Span,
    /// The span of the definition.
    pub value: Span,
}

/// Parses a file. `None` when it is not YAML.
fn tree(sources: &Sources, file: FileId) -> Option<Node> {
    read_yaml(sources, file, &mut Diagnostics::new())
}

/// The item at a byte of a file, and its span.
pub fn at(sources: &Sources, file: FileId, offset: usize) -> Option<(Here, Span)> {
    let root = tree(sources, file)?;
    let mut found = None;
    walk(&root, &File::accepts(), None, &mut |here, span| {
        let range = span.range();
        if span.file == file && range.start <= offset && offset <= range.end && !range.is_empty() {
            found = Some((here(), span));
        }
    });
    found
}

/// All definitions in a file.
pub fn definitions(sources: &Sources, file: FileId) -> Vec<Definition> {
    let mut found = Vec::new();
    if let Some(root) = tree(sources, file) {
        define(&root, &File::accepts(), "", &mut found);
    }
    found
}

/// Selects the accepted type that fits a node: for maps, the one with the most matching keys.
fn fitting<'a>(node: &Node, accepts: &'a Accepts) -> Option<&'a Accepts> {
    match (accepts, &node.value) {
        (Accepts::Either(all), _) => {
            let fits = all.iter().filter_map(|one| fitting(node, one));
            fits.max_by_key(|one| match (one, &node.value) {
                (Accepts::Map(map), Value::Map(entries)) => {
                    let keys = (map.keys)();
                    1 + entries.iter().filter(|(key, _)| keys.iter().any(|known| known.name == key.value)).count()
                }
                _ => 1,
            })
        }
        (Accepts::Map(_) | Accepts::Named(_) | Accepts::Keyed(..), Value::Map(_)) => Some(accepts),
        (Accepts::List(_), Value::List(_)) => Some(accepts),
        (Accepts::Map(_) | Accepts::Named(_) | Accepts::Keyed(..) | Accepts::List(_), _) => None,
        (_, Value::Map(_) | Value::List(_)) => None,
        _ => Some(accepts),
    }
}

type Tell<'t> = dyn FnMut(&dyn Fn() -> Here, Span) + 't;

fn walk(node: &Node, accepts: &Accepts, key: Option<KeyDoc>, tell: &mut Tell<'_>) {
    match (&node.value, fitting(node, accepts)) {
        (Value::Map(entries), Some(Accepts::Map(map))) => {
            let keys = (map.keys)();
            for (name, value) in entries {
                let Some(known) = keys.iter().find(|known| known.name == name.value) else { continue };
                tell(&|| Here::Key(*known), name.span);
                walk(value, &(known.accepts)(), Some(*known), tell);
            }
        }
        (Value::Map(entries), Some(Accepts::Named(of) | Accepts::Keyed(_, of))) => {
            for (name, value) in entries {
                let map = match fitting(value, of) {
                    Some(Accepts::Map(map)) => Some(*map),
                    _ => None,
                };
                tell(&|| Here::Name(name.value.clone(), map), name.span);
                walk(value, of, key, tell);
            }
        }
        (Value::List(items), Some(Accepts::List(of))) => items.iter().for_each(|item| walk(item, of, key, tell)),
        (Value::Text(text), _) => {
            if let Some(key) = key {
                tell(&|| Here::Value(text.clone(), key), node.span);
            }
        }
        _ => {}
    }
}

fn define(node: &Node, accepts: &Accepts, section: &'static str, found: &mut Vec<Definition>) {
    match (&node.value, fitting(node, accepts)) {
        (Value::Map(entries), Some(Accepts::Map(map))) => {
            let keys = (map.keys)();
            for (name, value) in entries {
                if let Some(known) = keys.iter().find(|known| known.name == name.value) {
                    define(value, &(known.accepts)(), known.name, found);
                }
            }
        }
        (Value::Map(entries), Some(Accepts::Named(of))) => {
            for (name, value) in entries {
                found.push(Definition { section, name: name.value.clone(), key: name.span, value: value.span });
                define(value, of, section, found);
            }
        }
        (Value::List(items), Some(Accepts::List(of))) => items.iter().for_each(|item| define(item, of, section, found)),
        _ => {}
    }
}
