use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, FieldsNamed, Result};

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let wgsl_name = name.unraw().to_string();
    let fields = named_fields(input)?;
    check_attributes(input)?;

    let element = quote!(::zippy::element);
    let mut described = Vec::new();
    let mut checks = Vec::new();
    let mut moved = quote!(0usize);
    for field in &fields.named {
        let ident = field.ident.as_ref().expect("named");
        let field_name = ident.unraw().to_string();
        let ty = &field.ty;
        let member = quote_spanned!(ty.span()=> <#ty as #element::private::Member>::MEMBER);
        described.push(quote! {
            #element::Field { name: #field_name, offset: ::core::mem::offset_of!(#name, #ident), info: #member }
        });
        let packed = format!(
            "`{wgsl_name}.{field_name}`: WGSL has no 8- or 16-bit integers inside records; use u32 or i32 and pack by hand"
        );
        let misplaced = format!(
            "`{wgsl_name}.{field_name}` does not start where WGSL puts it: WGSL aligns 8-byte numbers and 2-vectors of 4-byte \
             numbers to 8 bytes, 3- and 4-vectors to 16 and records to their largest member; write the padding before it \
             as `_pad: u32` fields or reorder the fields"
        );
        let span = ident.span();
        let at = format_ident!("at");
        checks.push(quote_spanned! {span=>
            assert!(!matches!(#member.kind, #element::ElementKind::Packed(_)), #packed);
            let #at = (#moved).next_multiple_of(#member.align);
            assert!(::core::mem::offset_of!(#name, #ident) == #at && #at == #moved, #misplaced);
        });
        moved = quote!((::core::mem::offset_of!(#name, #ident) + #member.bytes));
    }
    let aligns: Vec<_> = fields.named.iter().map(|field| &field.ty).collect();
    let size = format!(
        "the size of `{wgsl_name}` is not the size WGSL gives it: WGSL rounds a struct's size up to its largest alignment \
         (8 with 8-byte numbers or 2-vectors of 4-byte numbers, 16 with 3- or 4-vectors) and sizes must be multiples of 4; \
         end the struct with `_pad: u32` fields"
    );
    let bytemuck = quote!(#element::private::bytemuck);
    Ok(quote! {
        const _: () = {
            #(#checks)*
            let mut largest = 4;
            #(if <#aligns as #element::private::Member>::MEMBER.align > largest {
                largest = <#aligns as #element::private::Member>::MEMBER.align;
            })*
            let end = #moved;
            assert!(
                end == ::core::mem::size_of::<#name>() && end.is_multiple_of(largest) && end.is_multiple_of(4),
                #size
            );
        };
        // SAFETY: every field is `Pod` (a bound of `Member`), and the fields fill the struct
        // without padding.
        unsafe impl #bytemuck::Zeroable for #name {}
        // SAFETY: as above; `repr(C)` is checked by the macro and `Copy + 'static` are bounds of
        // the trait.
        unsafe impl #bytemuck::Pod for #name {}
        // SAFETY: offsets and size are compared with WGSL's layout at compile time.
        unsafe impl #element::Element for #name {
            const INFO: #element::ElementInfo = {
                const FIELDS: &[#element::Field] = &[#(#described),*];
                #element::private::record_info(#wgsl_name, ::core::mem::size_of::<#name>(), FIELDS)
            };
        }
    })
}

fn named_fields(input: &DeriveInput) -> Result<&FieldsNamed> {
    let fields = match &input.data {
        Data::Struct(data) => &data.fields,
        Data::Enum(_) | Data::Union(_) => {
            return Err(Error::new(
                input.ident.span(),
                "derive(Element) works on structs: WGSL has no enums or unions",
            ));
        }
    };
    match fields {
        Fields::Named(named) if !named.named.is_empty() => Ok(named),
        _ => Err(Error::new(
            input.ident.span(),
            "derive(Element) needs named fields: they are matched by name with the members of the WGSL struct",
        )),
    }
}

fn check_attributes(input: &DeriveInput) -> Result<()> {
    if !input.generics.params.is_empty() {
        return Err(Error::new(input.generics.span(), "derive(Element) works on structs without generic parameters"));
    }
    let mut is_c = false;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("C") {
                is_c = true;
                Ok(())
            } else {
                Err(meta.error("derive(Element) takes `#[repr(C)]` alone: write padding and alignment out as fields"))
            }
        })?;
    }
    if is_c {
        Ok(())
    } else {
        Err(Error::new(
            input.ident.span(),
            "derive(Element) needs `#[repr(C)]`, so that the fields lie in the order written",
        ))
    }
}
