//! Values that live until the program ends, for tables.

/// A text that is never freed.
pub fn text(s: &str) -> &'static str {
    Box::leak(s.to_owned().into_boxed_str())
}

/// Items that are never freed.
pub fn slice<T>(items: impl IntoIterator<Item = T>) -> &'static [T] {
    Box::leak(items.into_iter().collect::<Vec<_>>().into_boxed_slice())
}
