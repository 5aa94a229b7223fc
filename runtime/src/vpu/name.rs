//! The numbers of names in the specification; an unknown name is a compile-time error.

use isaforge_vpu::semantics::SEMANTICS;

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

macro_rules! numbers {
    ($list:ident, $found:ident => $name:expr; $($constant:ident = $text:literal),* $(,)?) => {
        $(pub(crate) const $constant: u16 = {
            let mut i = 0;
            while {
                let $found = &SEMANTICS.$list[i];
                !same($name, $text)
            } {
                i += 1;
            }
            i as u16
        };)*
    };
}

numbers! { states, state => state.name;
FLAG = "flag", POSITION = "position", TILE_SIZE = "tile_size", PENDING = "pending", RESULT = "result" }
numbers! { spaces, space => space; EXTERNAL = "external", TILE = "tile", PALETTE = "palette" }
numbers! { intrinsics, intrinsic => intrinsic.name;
UNMASK = "unmask", LOCK = "lock", WAIT_FOR_RESULT = "wait_for_result",
ALLOCATE = "allocate", LAUNCH = "launch" }
