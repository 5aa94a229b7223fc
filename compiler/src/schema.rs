//! A JSON Schema of specification files, derived from the types that read them, so that editors can complete and check.
//!
//! `specs/isa.schema.json` holds it; a test fails when that file is stale. A specification that builds on another may
//! omit keys of its base, and remove entries with `~`, so a second, looser set of definitions applies below `base`.

use std::collections::BTreeMap;

use crate::json::{Json, array, object, plain, string};
use crate::keys::{Accepts, FromNode, MapDoc};
use crate::spec::File;

/// Returns the schema (JSON Schema draft 2020-12), indented.
pub fn schema() -> String {
    let mut whole = Definitions { loose: false, done: BTreeMap::new() };
    let mut changes = Definitions { loose: true, done: BTreeMap::new() };
    let (file, change) = (whole.render(&File::accepts()), changes.render(&File::accepts()));
    let mut definitions = whole.done;
    definitions.extend(changes.done);
    let definitions = definitions.iter().map(|(name, text)| (name.as_str(), text.clone()));
    let schema = object([
        ("$schema", string("https://json-schema.org/draft/2020-12/schema")),
        ("title", string("A specification of an instruction set for isaforge")),
        ("if", object([("required", array([string("base")]))])),
        ("then", change),
        ("else", file),
        ("$defs", object(definitions)),
    ]);
    format!("{schema:#}\n")
}

/// The definitions of maps with known keys, by name, since several keys share one.
struct Definitions {
    /// Whether they describe changes to another specification.
    loose: bool,
    done: BTreeMap<String, Json>,
}

impl Definitions {
    fn render(&mut self, accepts: &Accepts) -> Json {
        match accepts {
            Accepts::Anything => object([]),
            Accepts::Null => kind("null"),
            Accepts::Bool => kind("boolean"),
            Accepts::Number(least, greatest) => {
                object([("type", string("integer")), ("minimum", plain(least)), ("maximum", plain(greatest))])
            }
            Accepts::Text => object([("type", array(["string", "number", "boolean"].map(string)))]),
            Accepts::Words(words) => object([("enum", array(words.iter().map(|word| string(word))))]),
            Accepts::List(item) => object([("type", string("array")), ("items", self.render(item))]),
            Accepts::Named(value) => {
                let value = self.value(value);
                object([("type", string("object")), ("additionalProperties", value)])
            }
            Accepts::Keyed(pattern, value) => {
                let value = self.value(value);
                object([
                    ("type", string("object")),
                    ("patternProperties", object([(*pattern, value)])),
                    ("additionalProperties", plain(false)),
                ])
            }
            Accepts::Map(map) => self.reference(map),
            Accepts::Either(all) => object([("anyOf", array(all.iter().map(|one| self.render(one))))]),
        }
    }

    /// The schema of a key's value. In a change, `null` is also allowed, to remove the key.
    fn value(&mut self, accepts: &Accepts) -> Json {
        let value = self.render(accepts);
        if self.loose { object([("anyOf", array([value, kind("null")]))]) } else { value }
    }

    /// A reference to the definition of a map.
    fn reference(&mut self, map: &MapDoc) -> Json {
        let name = if self.loose { format!("{}Change", map.name) } else { map.name.to_owned() };
        let reference = object([("$ref", string(&format!("#/$defs/{name}")))]);
        // A map may contain itself, so it is registered before it is complete.
        if self.done.contains_key(&name) {
            return reference;
        }
        self.done.insert(name.clone(), object([]));
        let keys = (map.keys)();
        let properties: Vec<(&str, Json)> =
            keys.iter().map(|key| (key.name, described(key.doc, self.value(&(key.accepts)())))).collect();
        let required = keys.iter().filter(|key| key.required && !self.loose).map(|key| string(key.name));
        let definition = object([
            ("description", string(map.doc)),
            ("type", string("object")),
            ("properties", object(properties)),
            ("required", array(required)),
            ("additionalProperties", plain(false)),
        ]);
        self.done.insert(name, definition);
        reference
    }
}

/// Adds a description to a schema.
fn described(doc: &str, schema: Json) -> Json {
    match schema {
        Json::Map(members) => {
            let description = ("description".to_owned(), string(doc));
            Json::Map([description].into_iter().chain(members).collect())
        }
        other => other,
    }
}

fn kind(name: &str) -> Json {
    object([("type", string(name))])
}
