//! `#[derive(Element)]`: a plain struct becomes a record that arrays can hold.
//!
//! The struct must be `#[repr(C)]` and `Copy`, and its memory must be what WGSL gives a struct of
//! the same members in a storage buffer; what differs is a compile error that names the field. WGSL
//! aligns 2-vectors to 8 bytes, 3- and 4-vectors to 16 (half of that for `f16`); write the padding
//! between fields out as `u32` fields.
#![forbid(unsafe_code)]

mod record;

use proc_macro::TokenStream;

/// Implements `zippy::Element` (with `bytemuck::Pod` and `Zeroable`) for a `#[repr(C)]` struct of
/// numbers, 2-, 3- and 4-vectors (`[f32; 2]`) and other records.
#[proc_macro_derive(Element)]
pub fn derive_element(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    record::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
