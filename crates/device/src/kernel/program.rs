//! [`Program`]: text of a kernel, and its module with helpers.

use std::sync::Arc;

use naga::valid::{Capabilities, ValidationFlags, Validator};

use super::diagnose::{self, Fault};
use super::entry;
use super::geometry::{GeometryMap, REPORT};
use super::helpers;
use super::loops;
use super::parsed_module::{ParsedKey, ParsedModule, get_or_parse};
use super::scan::{SourceScan, scan};
use super::signature::{Signature, Watch};
use super::source::KernelSource;
use crate::device::Device;
use crate::element::Packed;
use crate::error::KernelError;
use crate::extents::MAX_AXES;
use crate::wgsl;

/// Text of a kernel without helpers, with its declarations.
#[derive(Debug, Clone)]
pub(super) struct Program {
    /// File or name of the kernel, for error messages.
    pub name: String,
    pub text: String,
    pub scan: SourceScan,
}

/// Text and module of a kernel with the helpers for one signature.
#[derive(Debug)]
pub(super) struct Complete {
    pub text: String,
    pub parsed: Arc<ParsedModule>,
    pub map: GeometryMap,
    /// Bind group of the geometry and the windows.
    pub group: u32,
}

/// Returns the capabilities that naga may use on a device with these features.
pub(super) fn capabilities(features: wgpu::Features) -> Capabilities {
    let mut out = Capabilities::empty();
    for (feature, capability) in [
        (wgpu::Features::SHADER_F64, Capabilities::FLOAT64),
        (wgpu::Features::SHADER_INT64, Capabilities::SHADER_INT64),
        (wgpu::Features::SHADER_F16, Capabilities::SHADER_FLOAT16 | Capabilities::SHADER_FLOAT16_IN_FLOAT32),
        (wgpu::Features::SUBGROUP, Capabilities::SUBGROUP),
        (wgpu::Features::SUBGROUP_BARRIER, Capabilities::SUBGROUP_BARRIER),
    ] {
        if features.contains(feature) {
            out |= capability;
        }
    }
    out | Capabilities::SHADER_FLOAT16_IN_FLOAT32
}

fn parse_wgsl(text: &str, capabilities: Capabilities) -> Result<naga::Module, naga::front::wgsl::ParseError> {
    let options = naga::front::wgsl::Options { parse_doc_comments: false, capabilities };
    naga::front::wgsl::Frontend::new_with_options(options).parse(text)
}

/// Optional features of WGSL with their names in error messages.
const OPTIONAL_FEATURES: [(wgpu::Features, &str); 4] = [
    (wgpu::Features::SHADER_F16, "16-bit floats"),
    (wgpu::Features::SHADER_F64, "64-bit floats"),
    (wgpu::Features::SHADER_INT64, "64-bit integers"),
    (wgpu::Features::SUBGROUP, "subgroup operations"),
];

/// Adds a note to an error of naga if the adapter lacks an optional feature that the text needs.
/// `right` returns true if naga accepts the text on a device with the given features.
pub(super) fn note_missing_features(
    device: &Device,
    error: KernelError,
    right: impl Fn(wgpu::Features) -> bool,
) -> KernelError {
    if !right(wgpu::Features::all()) {
        return error;
    }
    let missing = OPTIONAL_FEATURES.iter().filter(|(feature, _)| {
        !device.features().contains(*feature) && !right(wgpu::Features::all().difference(*feature))
    });
    let missing: Vec<_> = missing.map(|(_, name)| *name).collect();
    let adapter = &device.adapter().name;
    diagnose::with_note(
        error,
        &format!("the adapter \"{adapter}\" does not offer {} in shaders", missing.join(" and ")),
    )
}

/// Fails at the first declaration with a forbidden name.
fn refuse_names(
    file: &str,
    text: &str,
    scan: &SourceScan,
    objection: impl Fn(&str) -> Option<String>,
) -> Result<(), KernelError> {
    let names = scan.declared.iter().map(|declaration| declaration.name.clone());
    match names.filter_map(|name| Some((objection(&text[name.clone()])?, name))).next() {
        None => Ok(()),
        Some((message, name)) => {
            Err(Fault { message, notes: Vec::new(), span: Some(name), generated: None }.to_error(file, text, None))
        }
    }
}

impl KernelSource {
    /// Checks that a user's text can be composed with arrays and parameters of these names: it
    /// declares neither these names nor [taken](helpers::taken) ones, and does not end inside an
    /// item or a comment.
    pub fn check_composable(&self, names_in_use: &[&str]) -> Result<(), KernelError> {
        let scan = scan(&self.text);
        let name_conflict = |name: &str| format!("`{name}` cannot be declared: an array or a parameter has this name");
        let objection = |name: &str| {
            helpers::taken(name, names_in_use).or_else(|| names_in_use.contains(&name).then(|| name_conflict(name)))
        };
        refuse_names(&self.name, &self.text, &scan, objection)?;
        if scan.open { Err(self.ends_early("the text ends inside an item or a comment")) } else { Ok(()) }
    }

    /// Returns the error of a text that ends inside an item; `message` describes the item.
    pub fn ends_early(&self, message: &str) -> KernelError {
        let end = self.text.trim_end().len();
        let notes = vec!["the text ends here".to_owned()];
        let fault = Fault { message: message.to_owned(), notes, span: Some(end..end), generated: None };
        fault.to_error(&self.name, &self.text, None)
    }
}

impl Program {
    /// Reads `text` and reports errors that are independent of the bindings.
    ///
    /// The numbers of axes of the bindings are not known yet, so all are tried. An error is
    /// reported if all numbers of axes fail at the same location for the same reason; otherwise the
    /// first run reports it. A text `composed` by Zippy may use internal names.
    pub(super) fn new(name: &str, text: &str, composed: bool, capabilities: Capabilities) -> Result<Self, KernelError> {
        let scan = scan(text);
        let program = Self { name: name.to_owned(), text: text.to_owned(), scan };
        program.check_storage()?;
        if !composed {
            program.check_names()?;
        }
        let mut common: Option<(Fault, Signature)> = None;
        let packings = [None, Some(Packed::U8), Some(Packed::I8), Some(Packed::U16), Some(Packed::I16)];
        let could_pack = program.scan.storage.iter().any(|var| var.cell.as_deref() == Some("u32"));
        for packed in &packings[..if could_pack { packings.len() } else { 1 }] {
            // Common numbers first: the first valid one ends the search.
            for axes in [3, 2, 1, 4, 5, 6, MAX_AXES] {
                let signature = Signature::uniform(&program.scan, axes, *packed);
                match (program.complete(&signature, None, capabilities), &common) {
                    (Ok(_), _) => return Ok(program),
                    (Err(fault), Some((first, _))) if *first != fault => return Ok(program),
                    (Err(fault), _) => common = Some((fault, signature)),
                }
            }
        }
        match common {
            Some((fault, signature)) => Err(program.explain(&fault, &signature)),
            None => Ok(program),
        }
    }

    /// Fails unless storage variables are arrays of cells.
    fn check_storage(&self) -> Result<(), KernelError> {
        match self.scan.storage.iter().find(|var| var.cell.is_none()) {
            None => Ok(()),
            Some(var) => Err(Fault {
                message: format!("the storage variable {} must be declared as array<T>, without a length", var.name),
                notes: vec!["a section of an array is bound to it, T being the type of a cell".to_owned()],
                span: Some(var.span.clone()),
                generated: None,
            }
            .to_error(&self.name, &self.text, None)),
        }
    }

    /// Fails for declarations that would shadow the names that helpers use.
    fn check_names(&self) -> Result<(), KernelError> {
        let arrays: Vec<_> = self.scan.storage.iter().map(|var| var.name.as_str()).collect();
        refuse_names(&self.name, &self.text, &self.scan, |name| helpers::taken(name, &arrays))
    }

    /// Returns the text with helpers, parsed and validated; with several entry points, only the
    /// code that `entry` uses.
    pub(super) fn complete(
        &self,
        signature: &Signature,
        entry: Option<&str>,
        capabilities: Capabilities,
    ) -> Result<Complete, Fault> {
        let map = GeometryMap::new(signature);
        let group = (0..).find(|group| !self.scan.groups.contains(group)).unwrap_or(0);
        let user = entry.map_or_else(|| self.text.clone(), |entry| self.scan.reached_from(entry, &self.text));
        let text = user + &helpers::generate(&self.scan, signature, &map, group);
        let watched = signature.watch != Watch::Off;
        let parsed =
            get_or_parse(ParsedKey { text: text.clone(), watched, capabilities: capabilities.bits() }, |text| {
                let mut module =
                    parse_wgsl(text, capabilities).map_err(|error| self.fault(&error, text, capabilities))?;
                if signature.reports_stopped_loops {
                    let own_text = &text[..self.text.len()];
                    loops::instrument_loops(&mut module, own_text, &helpers::stopped_line_name(), REPORT);
                }
                entry::call_at_entry_start(&mut module, &helpers::load_geometry_name());
                if watched {
                    entry::call_at_entry_end(&mut module, &helpers::report_function_name());
                }
                let info = Validator::new(ValidationFlags::all(), capabilities)
                    .validate(&module)
                    .map_err(|error| Fault::validate(&error, &module, text, self.text.len(), &self.scan))?;
                wgsl::check_parameter_branches(&module, text).map_err(Fault::whole)?;
                Ok(ParsedModule { module, info })
            })?;
        Ok(Complete { text, parsed, map, group })
    }

    /// Converts an error of naga's parser. If the text ends inside an item, the fault is at its
    /// end, not in the helpers after it.
    fn fault(&self, error: &naga::front::wgsl::ParseError, text: &str, capabilities: Capabilities) -> Fault {
        let user = self.text.len();
        let fault = Fault::parse(error, text, user);
        match parse_wgsl(&self.text, capabilities) {
            Err(alone) if fault.generated.is_some() && self.scan.open => Fault::parse(&alone, &self.text, user),
            _ => fault,
        }
    }

    /// Converts a fault of [`Program::complete`] to an error with a location in the user's text.
    pub(super) fn explain(&self, fault: &Fault, signature: &Signature) -> KernelError {
        let name = fault.unknown_name(&self.text);
        let hint = name.and_then(|name| helpers::explain_missing_helper(&self.scan, signature, name));
        fault.to_error(&self.name, &self.text, hint)
    }

    /// Converts a fault as [`explain`](Self::explain) does, for the signature of bound sections.
    pub(super) fn explain_bound(&self, fault: &Fault, signature: &Signature) -> KernelError {
        let error = self.explain(fault, signature);
        let name = fault.misled_function(&self.text);
        let positions = || fault.mixes_positions().then(|| helpers::positions(&self.scan, signature)).flatten();
        match name.and_then(|name| helpers::expected_position_type(&self.scan, signature, name)).or_else(positions) {
            Some(note) => diagnose::with_note(error, &note),
            None => error,
        }
    }

    pub(super) fn declared(&self) -> String {
        let list: Vec<_> = self.scan.storage.iter().map(|var| format!("`{}`", var.declaration())).collect();
        if list.is_empty() { "no arrays".to_owned() } else { list.join(", ") }
    }
}
