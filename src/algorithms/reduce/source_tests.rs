//! Validation and native compilation of all texts of reduction kernels.

use std::collections::BTreeSet;

use half::f16;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use zippy_device::kernel::WgslComposer;
use zippy_native::{CompiledKernel, Vectorization};

use super::format::Order;
use super::number::Number;
use super::source::{
    DIFFERING, DOT_FLOAT, DOT_INTEGER, EXTREMES, HISTOGRAM, SUM_FLOAT, SUM_INTEGER, kernel, kernel_of_lengths,
};
use crate::device::ReductionKernel;

/// Adds the texts of all kernels for a type, with their names.
fn add_texts<T: Number>(texts: &mut Vec<(String, WgslComposer)>) {
    let format = T::FORMAT.unwrap();
    let mut add = |name: String, source: &dyn Fn() -> WgslComposer| {
        let composer = ReductionKernel { name: &name, source, words: 0, constants: &[] }.composer();
        texts.push((name, composer));
    };
    let sums = match format.order {
        Order::Float => [&SUM_FLOAT, &DOT_FLOAT],
        Order::Signed | Order::Unsigned => [&SUM_INTEGER, &DOT_INTEGER],
    };
    for work in sums.map(|sum| &sum.work).into_iter().chain([&EXTREMES, &HISTOGRAM, &DIFFERING]) {
        let (name, source) = kernel(work, &T::INFO, format);
        add(name, &source);
    }
    // Lengths of vectors are floating-point numbers for all types of components.
    for work in [&EXTREMES, &HISTOGRAM] {
        let (name, source) = kernel_of_lengths(work, &T::INFO, format, 3);
        add(name, &source);
    }
}

#[test]
fn all_kernel_texts_compile_natively() {
    let mut texts = Vec::new();
    add_texts::<u8>(&mut texts);
    add_texts::<i8>(&mut texts);
    add_texts::<u16>(&mut texts);
    add_texts::<i16>(&mut texts);
    add_texts::<u32>(&mut texts);
    add_texts::<i32>(&mut texts);
    add_texts::<f16>(&mut texts);
    add_texts::<f32>(&mut texts);
    for (name, composer) in &texts {
        let text = composer.compose().unwrap_or_else(|error| panic!("{name}: {error}"));
        let module = naga::front::wgsl::parse_str(&text);
        let module = module.unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(&text)));
        let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module);
        let info = info.unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(&text)));
        let native = CompiledKernel::new(&module, &info, "main", &text, Vectorization::Use);
        assert!(native.is_ok(), "{name}: {}", native.unwrap_err());
    }

    let used: BTreeSet<String> = texts.iter().flat_map(|(_, composer)| composer.files()).collect();
    let all = zippy_testing::shaders::files(env!("CARGO_MANIFEST_DIR")).into_keys();
    let own = all.filter(|file| file.starts_with("reduce/"));
    let left: Vec<_> = own.filter(|file| !used.contains(&format!("shaders/{file}"))).collect();
    assert!(left.is_empty(), "no text contains {left:?}");
}
