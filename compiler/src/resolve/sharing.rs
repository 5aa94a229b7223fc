//! Sharing between instructions: `like` merges an entry over templates, and `rows` expands an entry to several.
//!
//! Both operate on the syntax before it is read, so that the result is the same as if the entries were written out.

use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Span, Spanned};
use crate::suggest::did_you_mean;
use crate::yaml::{Node, Value};

/// The maximum number of instructions that an entry may expand to.
const MAX_ROWS: usize = 4096;
/// The maximum size of the result in total: that of a file.
const MAX_MADE: usize = 1 << 24;
/// The size that a value counts for besides its text.
const VALUE: usize = 16;

type Entries = Vec<(Spanned<String>, Node)>;

/// How much more may be generated.
struct Room(usize);

impl Room {
    /// Takes a part of it. Reports once when it is exhausted, and returns whether it is.
    fn ends(&mut self, size: usize, span: Span, out: &mut Diagnostics) -> bool {
        if self.0 == 0 {
            return true;
        }
        self.0 = self.0.saturating_sub(size);
        if self.0 == 0 {
            let message = "`like` and `rows` expand to more than a spec may hold";
            out.push(Diagnostic::error("E0033", span, message).help("repeat less in templates and rows"));
        }
        self.0 == 0
    }
}

fn size(node: &Node) -> usize {
    VALUE
        + match &node.value {
            Value::Map(entries) => entries.iter().map(|(key, value)| key.value.len() + size(value)).sum(),
            Value::List(items) => items.iter().map(size).sum(),
            Value::Text(text) => text.len(),
            _ => 0,
        }
}

/// Expands `like` and `rows` in the entries of `instructions`.
pub(super) fn expand(file: &mut Node, out: &mut Diagnostics) {
    let Value::Map(keys) = &mut file.value else { return };
    let templates = match keys.iter().find(|(key, _)| key.value == "templates") {
        Some((_, Node { value: Value::Map(templates), .. })) => templates.clone(),
        _ => Vec::new(),
    };
    let Some((_, instructions)) = keys.iter_mut().find(|(key, _)| key.value == "instructions") else { return };
    let Value::Map(entries) = &mut instructions.value else { return };
    for (name, _) in unused(&templates, entries) {
        let warning = Diagnostic::warning("W0202", name.span, format!("the template `{}` is never used", name.value));
        out.push(warning.help("remove it, or name it in `like`"));
    }
    let mut expanded: Entries = Vec::with_capacity(entries.len());
    let mut room = Room(MAX_MADE);
    for (name, entry) in std::mem::take(entries) {
        let before = out.failures();
        let entry = like(entry, &templates, &mut Vec::new(), &mut room, out);
        // Without a template, everything that it would have given is missing, too.
        if out.failures() > before {
            out.mark_broken(&name.value);
            continue;
        }
        match take(entry, "rows") {
            (entry, Some(rows)) => expanded.extend(self::rows(&entry, &rows, &mut room, out)),
            (entry, None) => expanded.push((name, entry)),
        }
    }
    *entries = expanded;
}

/// The templates that no entry uses, directly or through other templates. Mistakes in them would otherwise go
/// unnoticed.
fn unused<'t>(templates: &'t Entries, entries: &Entries) -> impl Iterator<Item = &'t (Spanned<String>, Node)> {
    let names = |node: &Node| -> Vec<String> {
        let Value::Map(keys) = &node.value else { return Vec::new() };
        let text = |node: &Node| if let Value::Text(text) = &node.value { Some(text.clone()) } else { None };
        match keys.iter().find(|(key, _)| key.value == "like").map(|(_, node)| node) {
            Some(Node { value: Value::List(names), .. }) => names.iter().filter_map(text).collect(),
            named => named.and_then(text).into_iter().collect(),
        }
    };
    let mut open: Vec<String> = entries.iter().flat_map(|(_, entry)| names(entry)).collect();
    let mut used = HashSet::new();
    while let Some(name) = open.pop() {
        if used.contains(&name) {
            continue;
        }
        if let Some((_, template)) = templates.iter().find(|(known, _)| known.value == name) {
            open.extend(names(template));
        }
        used.insert(name);
    }
    templates.iter().filter(move |(name, _)| !used.contains(&name.value))
}

/// Removes a key from an entry, and returns the entry and the key's value.
fn take(entry: Node, key: &str) -> (Node, Option<Node>) {
    let Value::Map(mut keys) = entry.value else { return (entry, None) };
    let found = keys.iter().position(|(given, _)| given.value == key).map(|at| keys.remove(at).1);
    (Node { span: entry.span, value: Value::Map(keys) }, found)
}

/// The longest chain of templates.
const MAX_CHAIN: usize = 64;

/// Merges an entry over its templates; later templates override earlier ones.
fn like(entry: Node, templates: &Entries, path: &mut Vec<String>, room: &mut Room, out: &mut Diagnostics) -> Node {
    let (mut entry, named) = take(entry, "like");
    let names = match named {
        Some(Node { value: Value::List(names), .. }) => names,
        Some(name) => vec![name],
        None => return entry,
    };
    for name in names.into_iter().rev() {
        let Value::Text(text) = &name.value else {
            out.push(Diagnostic::error("E0023", name.span, "expected the name of a template"));
            continue;
        };
        if path.contains(text) {
            let message = format!("the template `{text}` refers to itself");
            out.push(Diagnostic::error("E0004", name.span, message).help("remove the `like` that closes the cycle"));
            continue;
        }
        let Some((_, template)) = templates.iter().find(|(known, _)| known.value == *text) else {
            let message = format!("there is no template called `{text}`");
            let error = Diagnostic::error("E0101", name.span, message);
            let near = did_you_mean(text, templates.iter().map(|(known, _)| known.value.as_str()));
            out.push(match near {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("templates are defined under `templates` of the same file"),
            });
            continue;
        };
        if path.len() == MAX_CHAIN {
            let message = format!("templates are `like` others at most {MAX_CHAIN} deep");
            out.push(Diagnostic::error("E0033", name.span, message).help("name several templates in one list"));
            continue;
        }
        if room.ends(size(template), name.span, out) {
            break;
        }
        path.push(text.clone());
        let template = like(template.clone(), templates, path, room, out);
        path.pop();
        entry = overlay(template, entry);
    }
    entry
}

/// Expands an entry to one for each row.
fn rows(entry: &Node, rows: &Node, room: &mut Room, out: &mut Diagnostics) -> Entries {
    let Value::Map(rows) = &rows.value else {
        let error = Diagnostic::error("E0023", rows.span, "expected a map from names to values of parameters");
        out.push(error.help("write `rows: { add: { f3: 0 }, sub: { f3: 1 } }`"));
        return Vec::new();
    };
    if rows.len() > MAX_ROWS {
        let span = rows.first().map_or(entry.span, |(name, _)| name.span);
        out.push(Diagnostic::error("E0033", span, format!("one entry makes at most {MAX_ROWS} instructions")));
        return Vec::new();
    }
    let mut made = Vec::with_capacity(rows.len());
    for (name, row) in rows {
        let parameters: &[(Spanned<String>, Node)] = match &row.value {
            Value::Map(parameters) => parameters,
            Value::Null => &[],
            _ => {
                out.push(Diagnostic::error("E0023", row.span, "expected a map from parameters to values"));
                continue;
            }
        };
        let mut row = Row { parameters, place: name.span, used: vec![false; parameters.len()], room };
        let filled = row.fill(entry, out);
        let used = row.used;
        if room.0 == 0 {
            break;
        }
        for ((parameter, _), _) in parameters.iter().zip(&used).filter(|(_, used)| !**used) {
            let message = format!("nothing in this entry uses `${}`", parameter.value);
            out.push(Diagnostic::error("E0044", parameter.span, message).secondary(entry.span, "this entry"));
        }
        made.push((name.clone(), filled));
    }
    made
}

/// The values of parameters.
struct Row<'a> {
    parameters: &'a [(Spanned<String>, Node)],
    place: Span,
    used: Vec<bool>,
    room: &'a mut Room,
}

impl Row<'_> {
    /// A copy of a value with each `$name` replaced by the value in the row.
    fn fill(&mut self, node: &Node, out: &mut Diagnostics) -> Node {
        let value = match &node.value {
            Value::Map(entries) => {
                self.room.ends(VALUE, self.place, out);
                let mut map: Entries = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    let key = self.key(key, out);
                    let filled = self.fill(value, out);
                    if key.value.is_empty() {
                        continue;
                    }
                    // The text has no duplicate keys, but parameters may have equal values.
                    match map.iter().find(|(known, _)| known.value == key.value) {
                        Some((known, _)) => {
                            let message = format!("the key `{}` is given twice", key.value);
                            let error =
                                Diagnostic::error("E0002", key.span, message).secondary(known.span, "first here");
                            out.push(error.secondary(self.place, "in this row"));
                        }
                        None => map.push((key, filled)),
                    }
                }
                Value::Map(map)
            }
            Value::List(items) => {
                self.room.ends(VALUE, self.place, out);
                Value::List(items.iter().map(|item| self.fill(item, out)).collect())
            }
            Value::Text(text) if text.contains('$') => return self.text(node, text, out),
            _ => return self.copy(node, out),
        };
        Node { span: node.span, value }
    }

    /// A key with its parameters replaced; empty after an error.
    fn key(&mut self, key: &Spanned<String>, out: &mut Diagnostics) -> Spanned<String> {
        if !key.value.contains('$') {
            return key.clone();
        }
        let text = Node { span: key.span, value: Value::Text(key.value.clone()) };
        let value = match self.text(&text, &key.value, out).value {
            Value::Text(text) => text,
            Value::Int(number) => number.to_string(),
            // A missing value or an exhausted limit is already reported.
            Value::Null => String::new(),
            _ => {
                let message = format!("`{}` cannot be a key", key.value);
                out.push(Diagnostic::error("E0023", key.span, message).secondary(self.place, "in this row"));
                String::new()
            }
        };
        Spanned::new(value, key.span)
    }

    fn copy(&mut self, node: &Node, out: &mut Diagnostics) -> Node {
        if self.room.ends(size(node), self.place, out) {
            return Node { span: node.span, value: Value::Null };
        }
        node.clone()
    }

    fn text(&mut self, node: &Node, text: &str, out: &mut Diagnostics) -> Node {
        let mut filled = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            filled.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            let len = after.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
            if let Some(literal) = after.strip_prefix('$') {
                filled.push('$');
                rest = literal;
                continue;
            }
            let name = &after[..len];
            match self.parameters.iter().position(|(parameter, _)| parameter.value == name) {
                Some(i) => {
                    self.used[i] = true;
                    let value = &self.parameters[i].1;
                    // A parameter that is the whole value keeps its type, such as a number or a list.
                    if at == 0 && len + 1 == text.len() {
                        return self.copy(value, out);
                    }
                    if self.room.ends(size(value), self.place, out) {
                        break;
                    }
                    match &value.value {
                        Value::Text(text) => filled.push_str(text),
                        Value::Int(number) => filled.push_str(&number.to_string()),
                        _ => {
                            let message = format!("`${name}` is not a text that can be part of another");
                            out.push(Diagnostic::error("E0023", value.span, message));
                        }
                    }
                }
                None if name.is_empty() => {
                    let error = Diagnostic::error("E0044", node.span, "no parameter name follows `$`");
                    out.push(error.secondary(self.place, "in this row").help("write `$$` for a dollar"));
                }
                None => {
                    let message = format!("this row has no value for `${name}`");
                    out.push(Diagnostic::error("E0044", self.place, message).secondary(node.span, "used here"));
                }
            }
            rest = &after[len..];
        }
        filled.push_str(rest);
        self.room.ends(VALUE + text.len(), self.place, out);
        Node { span: node.span, value: Value::Text(filled) }
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
