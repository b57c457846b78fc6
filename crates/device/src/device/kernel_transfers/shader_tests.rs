//! All texts of the shaders of transfers are valid and compile natively.

use std::collections::BTreeSet;

use half::f16;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use zippy_native::{CompiledKernel, Vectorization};

use super::box_dispatch::Unit;
use super::combine_source::combine_composer;
use crate::device::Operator;
use crate::element::{Element, ElementInfo};
use crate::wgsl::WgslComposer;

/// Asserts that a text is valid and that its entry points compile natively.
fn check(name: &str, composer: &WgslComposer) {
    let text = composer.compose().unwrap_or_else(|error| panic!("{name}: {error}"));
    let module = naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(&text)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
    let info = info.unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(&text)));
    let native = CompiledKernel::new(&module, &info, "main", &text, Vectorization::Use);
    assert!(native.is_ok(), "{name}: {}", native.unwrap_err());
}

#[test]
fn transfer_shaders_are_valid_and_compile_natively() {
    let units = [Unit::Word, Unit::FourWords, Unit::Small { cells_per_word: 2 }];
    let mut texts: Vec<_> = units.map(|unit| (format!("{unit:?}"), unit.composer())).into();
    let elements: [&ElementInfo; 11] = [
        &f32::INFO,
        &<[f32; 4]>::INFO,
        &<[i32; 2]>::INFO,
        &u32::INFO,
        &i32::INFO,
        &f16::INFO,
        &<[f16; 2]>::INFO,
        &u8::INFO,
        &i8::INFO,
        &u16::INFO,
        &i16::INFO,
    ];
    let custom = Operator::custom("later", "fn combine(src: T, dst: T) -> T { return src; }");
    let operators = [
        Operator::Add,
        Operator::Min,
        Operator::Max,
        Operator::Over,
        Operator::Under,
        Operator::under_opaque_from(0.9),
        custom,
    ];
    for element in elements {
        for operator in operators.iter().filter(|operator| operator.check(element).is_ok()) {
            texts.push((format!("{operator} of {}", element.name), combine_composer(element, operator)));
        }
    }
    texts.iter().for_each(|(name, composer)| check(name, composer));

    let used: BTreeSet<String> = texts.iter().flat_map(|(_, composer)| composer.files()).collect();
    let all = zippy_testing::shaders::files(env!("CARGO_MANIFEST_DIR")).into_keys();
    let left: Vec<_> = all.filter(|file| !used.contains(&format!("crates/device/shaders/{file}"))).collect();
    assert!(left.is_empty(), "no shader has the text of {left:?}");
}
