//! Indexes of definitions by name: a linear search for each use would take quadratic time.

use std::collections::HashMap;

/// The indexes of the definitions that instructions refer to most.
#[derive(Default)]
pub(crate) struct Indexes {
    pub enums: Index,
    pub kinds: Index,
    pub banks: Index,
}

/// Names and their positions in a list that only grows.
#[derive(Default)]
pub(crate) struct Index {
    known: HashMap<String, usize>,
    /// How many items of the list are indexed.
    seen: usize,
}

impl Index {
    /// The position of the first item with this name.
    pub(crate) fn find<T>(&mut self, name: &str, items: &[T], name_of: impl Fn(&T) -> &str) -> Option<usize> {
        for (at, item) in items.iter().enumerate().skip(self.seen) {
            self.known.entry(name_of(item).to_owned()).or_insert(at);
        }
        self.seen = items.len();
        self.known.get(name).copied()
    }
}
