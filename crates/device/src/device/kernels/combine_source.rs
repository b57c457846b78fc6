//! The WGSL of a combining kernel: the operator's text first, so that its lines keep their numbers,
//! then what is generated for the element type, then `shaders/jobs.wgsl` and
//! `shaders/combine.wgsl`.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use naga::valid::{Capabilities, ValidationFlags, Validator};

use super::tables::JOBS;
use crate::device::Operator;
use crate::device::operator::COLOURS;
use crate::element::{ElementInfo, ElementKind, Packed};
use crate::error::DeviceError;
use crate::wgsl::{self, Tokens};

/// A kernel's source and how many lines stand before the operator's text.
pub(super) struct CombineSource {
    pub text: String,
    lines_before: u32,
}

/// Works for every element type, whether or not the operator exists for it.
pub(super) fn combine_source(element: &ElementInfo, operator: &Operator) -> CombineSource {
    let enable = if element.requires().f16 { "enable f16;\n" } else { "" };
    let mut text = format!("{enable}{}\n", operator.definition(element));
    let tail = match element.kind {
        ElementKind::Packed(packed) => packed_cells(packed),
        _ => {
            text.push_str(&element.declarations());
            format!(
                "alias T = {};
@group(0) @binding(0) var<storage, read_write> zippy_src: array<T>;
@group(0) @binding(1) var<storage, read_write> zippy_dst: array<T>;
fn zippy_combine_cell(s: u32, d: u32) {{
    zippy_dst[d] = combine(zippy_src[s], zippy_dst[d]);
}}
",
                element.name
            )
        }
    };
    text.push_str(&tail);
    text.push_str(JOBS);
    text.push_str(include_str!("../../../shaders/combine.wgsl"));
    CombineSource { text, lines_before: u32::from(!enable.is_empty()) }
}

/// Cells of 8 or 16 bits: unpacked, combined, clamped to their range, and put in place although
/// other invocations may be changing other cells of the word. A word has at most four cells, so
/// that the loop is short.
fn packed_cells(packed: Packed) -> String {
    let bits = 8 * packed.bytes();
    let (per_word_log, mask) = (if bits == 8 { 2 } else { 1 }, (1_u32 << bits) - 1);
    let (scalar, low, high) = match packed {
        Packed::U8 => ("u32", "0u", "255u"),
        Packed::U16 => ("u32", "0u", "65535u"),
        Packed::I8 => ("i32", "-128i", "127i"),
        Packed::I16 => ("i32", "-32768i", "32767i"),
    };
    format!(
        "alias T = {scalar};
@group(0) @binding(0) var<storage, read_write> zippy_src: array<u32>;
@group(0) @binding(1) var<storage, read_write> zippy_dst: array<atomic<u32>>;
fn zippy_unpack(word: u32, cell: u32) -> T {{
    return extractBits(bitcast<T>(word), (cell & {in_word}u) * {bits}u, {bits}u);
}}
fn zippy_combine_cell(s: u32, d: u32) {{
    let source = zippy_unpack(zippy_src[s >> {per_word_log}u], s);
    let at = d >> {per_word_log}u;
    let shift = (d & {in_word}u) * {bits}u;
    var old = atomicLoad(&zippy_dst[at]);
    let result = clamp(combine(source, zippy_unpack(old, d)), {low}, {high});
    let placed = (bitcast<u32>(result) & {mask}u) << shift;
    loop {{
        let swap = atomicCompareExchangeWeak(&zippy_dst[at], old, (old & ~({mask}u << shift)) | placed);
        if swap.exchanged {{
            break;
        }}
        old = swap.old_value;
    }}
}}
",
        in_word = (1 << per_word_log) - 1,
    )
}

/// Custom operators that have been found to compile, by element and text.
static CHECKED: Mutex<BTreeSet<(&'static str, String)>> = Mutex::new(BTreeSet::new());
/// How many are remembered.
const REMEMBERED: usize = 256;

/// What an operator's text cannot declare: names and words of WGSL's own that the rest of the
/// kernel uses.
const NAMES: [&str; 21] = [
    "T",
    "array",
    "atomic",
    "atomicCompareExchangeWeak",
    "atomicLoad",
    "bitcast",
    "clamp",
    "extractBits",
    "f16",
    "f32",
    "f64",
    "i32",
    "i64",
    "main",
    "min",
    "select",
    "u32",
    "u64",
    "vec2",
    "vec3",
    "vec4",
];

/// Names of the records that an element consists of.
fn record_names(element: &ElementInfo) -> Vec<&'static str> {
    let ElementKind::Record(fields) = element.kind else { return Vec::new() };
    let inner = fields.iter().flat_map(|field| record_names(&field.info));
    inner.chain([element.name]).collect()
}

/// Names of the members of a record and of those in it.
fn members(element: &ElementInfo) -> Box<dyn Iterator<Item = &'static str>> {
    match element.kind {
        ElementKind::Record(fields) => {
            Box::new(fields.iter().flat_map(|field| std::iter::once(field.name).chain(members(&field.info))))
        }
        _ => Box::new(std::iter::empty()),
    }
}

/// No name stands for two things: in the operator's text, in the records and in what is generated.
fn check_names(element: &ElementInfo, name: &str, wgsl: &str) -> Result<(), DeviceError> {
    let records = record_names(element);
    let of_operator = |record: &str| (record == "combine").then(|| "`combine` is the operator's name".to_string());
    let wrong =
        |record: &&str| wgsl::reserved(record).or_else(|| wgsl::taken(record, &NAMES)).or_else(|| of_operator(record));
    if let Some(message) = records.iter().find_map(wrong).or_else(|| members(element).find_map(wgsl::reserved)) {
        let (operator, element) = (name.to_string(), element.name.to_string());
        return Err(DeviceError::Operator { operator, element, message });
    }
    for declaration in Tokens::new(wgsl).declarations().0 {
        let declared = &wgsl[declaration.name.clone()];
        let of_record =
            || format!("`{declared}` cannot be declared: the record of this name is declared already, as in Rust");
        let problem = wgsl::taken(declared, &NAMES).or_else(|| records.contains(&declared).then(of_record));
        if let Some(message) = problem {
            let before = &wgsl[..declaration.name.start];
            let (line, column) =
                (before.matches('\n').count(), before.chars().rev().take_while(|&c| c != '\n').count());
            let (line, column) = (line as u32 + 1, column as u32 + 1);
            return Err(DeviceError::OperatorSource { operator: name.to_string(), line, column, message });
        }
    }
    Ok(())
}

impl Operator {
    /// Whether the operator exists for an element type and, if it is the program's own, compiles.
    /// Needs no device, so that all ranks get the same answer.
    ///
    /// # Errors
    /// [`DeviceError::Operator`], or [`DeviceError::OperatorSource`] with line and column of the
    /// operator's text.
    pub fn check(&self, element: &ElementInfo) -> Result<(), DeviceError> {
        let refuse = |message: &str| {
            Err(DeviceError::Operator {
                operator: self.name().to_string(),
                element: element.name.to_string(),
                message: message.to_string(),
            })
        };
        match self {
            Self::UnderOpaque { from_bits }
                if !(f32::from_bits(*from_bits) > 0.0 && f32::from_bits(*from_bits) <= 1.0) =>
            {
                refuse(&format!("{} is no threshold above 0 and at most 1", f32::from_bits(*from_bits)))
            }
            Self::Over | Self::Under | Self::UnderOpaque { .. } if !COLOURS.contains(&element.kind) => {
                refuse("it needs red, green, blue and opacity, premultiplied: vec4<f32>, or u32 with 8 bits of each")
            }
            Self::Add | Self::Min | Self::Max if matches!(element.kind, ElementKind::Record(_)) => {
                refuse("it works on scalars, vectors and packed integers; write an Operator::custom for records")
            }
            Self::Custom { name, wgsl } => check_custom(element, name, wgsl),
            _ => Ok(()),
        }
    }
}

/// Compiles a custom operator without a device; the same text for the same element type only once.
fn check_custom(element: &ElementInfo, name: &str, wgsl: &str) -> Result<(), DeviceError> {
    let checked = || CHECKED.lock().unwrap_or_else(PoisonError::into_inner);
    // Records of one name may have different members.
    let known = (element.name, wgsl.to_string());
    let remember = !matches!(element.kind, ElementKind::Record(_));
    if remember && checked().contains(&known) {
        return Ok(());
    }
    check_names(element, name, wgsl)?;
    compile_custom(name, wgsl, &combine_source(element, &Operator::custom(name, wgsl)))?;
    if remember {
        let mut checked = checked();
        if checked.len() >= REMEMBERED {
            checked.clear();
        }
        checked.insert(known);
    }
    Ok(())
}

fn compile_custom(name: &str, wgsl: &str, source: &CombineSource) -> Result<(), DeviceError> {
    let lines = wgsl.lines().count().max(1) as u32;
    let fail = |at: Option<naga::SourceLocation>, message: String| {
        let line = at.map_or(0, |at| at.line_number.saturating_sub(source.lines_before));
        let inside = (1..=lines).contains(&line);
        // A mistake found in the generated part is one in how `combine` is declared.
        let declared = wgsl.lines().position(|line| line.contains("fn combine")).map_or(1, |line| line as u32 + 1);
        let (line, column, message) = if inside {
            (line, at.map_or(1, |at| at.line_position), message)
        } else {
            (declared, 1, format!("{message} (it must declare fn combine(src: T, dst: T) -> T)"))
        };
        Err(DeviceError::OperatorSource { operator: name.to_string(), line, column, message })
    };
    let module = match naga::front::wgsl::parse_str(&source.text) {
        Ok(module) => module,
        Err(error) => return fail(error.location(&source.text), error.message().to_string()),
    };
    match Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module) {
        Ok(_) => Ok(()),
        Err(error) => {
            let mut message = error.as_inner().to_string();
            let mut cause = std::error::Error::source(error.as_inner());
            while let Some(inner) = cause {
                message = format!("{message}: {inner}");
                cause = inner.source();
            }
            // The shortest span is the most specific one.
            let places = error.spans().filter_map(|(span, _)| Some((span.to_range()?.len(), span)));
            let place = places.min_by_key(|(length, _)| *length).map(|(_, span)| span.location(&source.text));
            fail(place, message)
        }
    }
}
