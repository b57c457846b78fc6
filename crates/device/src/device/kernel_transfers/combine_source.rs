//! [`CombineSource`]: WGSL of a kernel that combines cells. The operator's text is first, so that
//! its line numbers stay; the element type, `shaders/whole_cells.wgsl` or
//! `shaders/packed_cells.wgsl`, `shaders/jobs.wgsl` and `shaders/combine.wgsl` follow.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use naga::valid::{Capabilities, ValidationFlags, Validator};

use super::job_table::jobs;
use super::shader::compose;
use crate::device::Operator;
use crate::device::operator::COLOUR_ELEMENTS;
use crate::element::{ElementInfo, ElementKind, Packed};
use crate::error::DeviceError;
use crate::wgsl::{self, Tokens, WgslComposer};

/// WGSL text of a kernel that combines cells.
pub(super) struct CombineSource {
    pub text: String,
    /// Number of lines before the operator's text.
    lines_before: u32,
}

/// Returns the WGSL text of the combining kernel for any element type; [`Operator::check`] checks
/// that the operator supports it.
pub(super) fn combine_source(element: &ElementInfo, operator: &Operator) -> Result<CombineSource, DeviceError> {
    let lines_before = u32::from(element.requires().f16);
    Ok(CombineSource { text: compose(&combine_composer(element, operator))?, lines_before })
}

/// Returns the parts of the text of [`combine_source`].
pub(super) fn combine_composer(element: &ElementInfo, operator: &Operator) -> WgslComposer {
    let head = if element.requires().f16 { WgslComposer::new().enable("f16") } else { WgslComposer::new() };
    let head = head.append(operator.definition(element));
    let cells = match element.kind {
        ElementKind::Packed(packed) => head.append(packed_cells_composer(packed)),
        _ => {
            let head = head.generated(element.declarations()).alias("T", element.name);
            head.module(wgsl_module!("../../../shaders/whole_cells.wgsl"))
        }
    };
    cells.append(jobs()).module(wgsl_module!("../../../shaders/combine.wgsl"))
}

/// Returns the WGSL code that loads and stores cells of 8 or 16 bits, packed in words.
fn packed_cells_composer(packed: Packed) -> WgslComposer {
    let (bits, cells_per_word) = (8 * packed.bytes() as u32, 4 / packed.bytes());
    let composer = WgslComposer::new()
        .constant("zippy_BITS", bits)
        .constant("zippy_PER_WORD_LOG", cells_per_word.trailing_zeros());
    let composer = match packed {
        Packed::U8 => unsigned_range(composer, u8::MAX.into()),
        Packed::U16 => unsigned_range(composer, u16::MAX.into()),
        Packed::I8 => signed_range(composer, [i8::MIN.into(), i8::MAX.into()]),
        Packed::I16 => signed_range(composer, [i16::MIN.into(), i16::MAX.into()]),
    };
    composer.module(wgsl_module!("../../../shaders/packed_cells.wgsl"))
}

fn unsigned_range(composer: WgslComposer, highest: u32) -> WgslComposer {
    composer.alias("T", "u32").constant("zippy_LOWEST", 0_u32).constant("zippy_HIGHEST", highest)
}

fn signed_range(composer: WgslComposer, [lowest, highest]: [i32; 2]) -> WgslComposer {
    composer.alias("T", "i32").constant("zippy_LOWEST", lowest).constant("zippy_HIGHEST", highest)
}

/// Custom operators that have compiled, by element name and operator text.
static VALID_OPERATORS: Mutex<BTreeSet<(&'static str, String)>> = Mutex::new(BTreeSet::new());
/// Maximum number of entries of [`VALID_OPERATORS`].
const MAX_VALID_OPERATORS: usize = 256;

/// Names that an operator's text cannot declare, because the generated code uses them.
const RESERVED_NAMES: [&str; 21] = [
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

/// Returns the WGSL names of an element's record types, nested ones included.
fn record_names(element: &ElementInfo) -> Vec<&'static str> {
    let ElementKind::Record(fields) = element.kind else { return Vec::new() };
    let inner = fields.iter().flat_map(|field| record_names(&field.info));
    inner.chain([element.name]).collect()
}

/// Returns the names of the members of a record and of its nested records.
fn member_names(element: &ElementInfo) -> Box<dyn Iterator<Item = &'static str>> {
    match element.kind {
        ElementKind::Record(fields) => {
            Box::new(fields.iter().flat_map(|field| std::iter::once(field.name).chain(member_names(&field.info))))
        }
        _ => Box::new(std::iter::empty()),
    }
}

/// Checks that the names of the operator's text, of the records and of the generated code differ.
fn check_names(element: &ElementInfo, name: &str, wgsl: &str) -> Result<(), DeviceError> {
    let records = record_names(element);
    let combine_name = |record: &str| (record == "combine").then(|| "`combine` is the operator's name".to_string());
    let wrong = |record: &&str| {
        wgsl::reserved(record).or_else(|| wgsl::taken(record, &RESERVED_NAMES)).or_else(|| combine_name(record))
    };
    if let Some(message) = records.iter().find_map(wrong).or_else(|| member_names(element).find_map(wgsl::reserved)) {
        let (operator, element) = (name.to_string(), element.name.to_string());
        return Err(DeviceError::Operator { operator, element, message });
    }
    for declaration in Tokens::new(wgsl).declarations().0 {
        let declared = &wgsl[declaration.name.clone()];
        let record_name =
            || format!("`{declared}` cannot be declared: the record of this name is declared already, as in Rust");
        let problem = wgsl::taken(declared, &RESERVED_NAMES).or_else(|| records.contains(&declared).then(record_name));
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
    /// Checks that the operator supports an element type and, for a custom operator, that it
    /// compiles. Does not depend on a device, so that all ranks have the same result.
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
            Self::Over | Self::Under | Self::UnderOpaque { .. } if !COLOUR_ELEMENTS.contains(&element.kind) => {
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

/// Compiles a custom operator without a device, once per text and element type.
fn check_custom(element: &ElementInfo, name: &str, wgsl: &str) -> Result<(), DeviceError> {
    let valid_operators = || VALID_OPERATORS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (element.name, wgsl.to_string());
    // Records of one name can have different members.
    let is_cacheable = !matches!(element.kind, ElementKind::Record(_));
    if is_cacheable && valid_operators().contains(&key) {
        return Ok(());
    }
    check_names(element, name, wgsl)?;
    compile_custom(name, wgsl, &combine_source(element, &Operator::custom(name, wgsl))?)?;
    if is_cacheable {
        let mut valid = valid_operators();
        if valid.len() >= MAX_VALID_OPERATORS {
            valid.clear();
        }
        valid.insert(key);
    }
    Ok(())
}

fn compile_custom(name: &str, wgsl: &str, source: &CombineSource) -> Result<(), DeviceError> {
    let lines = wgsl.lines().count().max(1) as u32;
    let fail = |location: Option<naga::SourceLocation>, message: String| {
        let line = location.map_or(0, |location| location.line_number.saturating_sub(source.lines_before));
        let is_in_operator = (1..=lines).contains(&line);
        // An error in the generated code means a wrong declaration of `combine`.
        let declaration = wgsl.lines().position(|line| line.contains("fn combine")).map_or(1, |line| line as u32 + 1);
        let (line, column, message) = if is_in_operator {
            (line, location.map_or(1, |location| location.line_position), message)
        } else {
            (declaration, 1, format!("{message} (it must declare fn combine(src: T, dst: T) -> T)"))
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
            let spans = error.spans().filter_map(|(span, _)| Some((span.to_range()?.len(), span)));
            let location = spans.min_by_key(|(length, _)| *length).map(|(_, span)| span.location(&source.text));
            fail(location, message)
        }
    }
}
