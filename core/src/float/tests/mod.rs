//! The arithmetic against others' and against its own definition.

mod host;
