//! Where definitions are, by name: looking through all of them for each use would take the product of both.

use std::collections::HashMap;

/// The indexes of what instructions refer to most.
#[derive(Default)]
pub(crate) struct Indexes {
    pub enums: Index,
    pub kinds: Index,
    pub banks: Index,
}

/// Names and where they stand in a list that grows at its end.
#[derive(Default)]
pub(crate) struct Index {
    known: HashMap<String, usize>,
    /// How many items of the list are known.
    seen: usize,
}

impl Index {
    /// The first item of this name.
    pub(crate) fn find<T>(&mut self, name: &str, items: &[T], name_of: impl Fn(&T) -> &str) -> Option<usize> {
        for (at, item) in items.iter().enumerate().skip(self.seen) {
            self.known.entry(name_of(item).to_owned()).or_insert(at);
        }
        self.seen = items.len();
        self.known.get(name).copied()
    }
}
