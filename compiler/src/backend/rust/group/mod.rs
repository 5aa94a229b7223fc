//! From the tables of groups to Rust.

pub(crate) mod operations;
mod shapes;
mod tables;
pub(crate) mod types;

use isaforge_core::group::table::GroupIsa;
use proc_macro2::TokenStream;
use quote::quote;

use super::options::Options;

/// Generates the items of the module. The same tables and options always give the same tokens.
pub fn emit(isa: &GroupIsa, options: &Options) -> TokenStream {
    let runtime: TokenStream = options.runtime.parse().unwrap_or_else(|_| quote!(::isaforge_core));
    let names = types::Names::new(isa);
    let types = types::emit(isa, &names, options);
    let shapes = shapes::emit(isa, &names);
    let operations = operations::emit(isa, &names, options);
    let tables = tables::emit(isa);
    let tests = (options.tests && options.text).then(tests);
    quote! {
        #[doc(hidden)]
        pub use #runtime as __rt;
        pub use __rt::group::info::{GroupBits, GroupRegister};
        pub use __rt::group::{BuildError, Form, GroupError, TextError};
        #types
        #shapes
        #operations
        #tables
        #tests
    }
}

/// Property tests with groups obtained by damaging valid ones.
fn tests() -> TokenStream {
    quote! {
        #[cfg(test)]
        mod tests {
            extern crate std;
            use super::*;

            #[test]
            fn groups_encode_decode_print_and_parse_to_themselves() {
                let mut state = 0x9e37_79b9_7f4a_7c15u64;
                let mut found = 0;
                for _ in 0..400_000 {
                    let mut bytes = [0u8; 32];
                    for chunk in bytes.chunks_mut(8) {
                        state ^= state << 13;
                        state ^= state >> 7;
                        state ^= state << 17;
                        chunk.copy_from_slice(&state.to_le_bytes());
                    }
                    // The first byte holds the length and the offset, which damage invalidates most often, so all of
                    // its values are tried.
                    for first in 0..=255 {
                        bytes[0] = first;
                        let Ok(group) = decode(&bytes) else { continue };
                        found += 1;
                        assert_eq!(group.as_bytes(), &bytes[..group.as_bytes().len()]);
                        assert_eq!(group.parts().encode_in(&group.form()), Ok(group));
                        let body = group.parts().body().expect("a group has parts that go together");
                        assert_eq!(Parts::of(group.parts().header, body).encode_in(&group.form()), Ok(group));
                        let text = std::string::ToString::to_string(&group);
                        assert_eq!(text.parse(), Ok(group), "{text}");
                        break;
                    }
                    if found == 200 {
                        return;
                    }
                }
            }
        }
    }
}
