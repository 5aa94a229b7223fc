//! The keys around a place in a file of a specification, what may stand there, and what is defined where: by the very types
//! that read the file.

use isaforge_compiler::diagnostic::Diagnostics;
use isaforge_compiler::keys::{Accepts, FromNode, KeyDoc, MapDoc};
use isaforge_compiler::source::{FileId, Sources, Span};
use isaforge_compiler::spec::File;
use isaforge_compiler::yaml::{Node, Value, read_yaml};

/// What stands at a place.
#[derive(Debug)]
pub enum Here {
    /// A key of the language.
    Key(KeyDoc),
    /// A name that the specification chose, of something that has these keys; its section.
    Name(String, Option<MapDoc>),
    /// Text, the value of a key.
    Value(String, KeyDoc),
}

/// A thing that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The key of the map that it stands in: `enums`, `kinds`.
    pub section: &'static str,
    /// Its name.
    pub name: String,
    /// Its name in the text.
    pub key: Span,
    /// All that is said of it.
    pub value: Span,
}

/// Reads a file. `None` where it is no YAML.
fn tree(sources: &Sources, file: FileId) -> Option<Node> {
    read_yaml(sources, file, &mut Diagnostics::new())
}

/// What stands at a byte of a file, and where that starts and ends.
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

/// All that has a name in a file.
pub fn definitions(sources: &Sources, file: FileId) -> Vec<Definition> {
    let mut found = Vec::new();
    if let Some(root) = tree(sources, file) {
        define(&root, &File::accepts(), "", &mut found);
    }
    found
}

/// The shape of a value among those that are accepted: the first that has its kind and, of a map, its keys.
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
