//! From the tables of groups to Rust.

use isaforge_core::group::table::GroupIsa;
use proc_macro2::TokenStream;
use quote::quote;

use crate::emit::Options;

/// The items of the generated module.
pub fn emit(isa: &GroupIsa, options: &Options) -> TokenStream {
    let _ = (isa, options);
    quote!()
}
