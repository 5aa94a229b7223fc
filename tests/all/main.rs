//! The facade as its users meet it: the macro, generated crates, and crates downstream of both.

mod support;

mod another_document;
mod documentation;
mod downstream;
mod machine;
mod same_code;
mod streams;
mod ui_pages;
