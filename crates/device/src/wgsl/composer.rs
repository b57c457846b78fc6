//! [`WgslComposer`]: composition of a kernel's text from WGSL files, Rust constants, and generated
//! parts.
//!
//! **How to read a file of `shaders/`.** A file is WGSL, except for placeholders: `$CELL` stands
//! for a name or an expression that [`WgslModule::define`] gives. Names that a file uses and does
//! not declare are in other modules of its kernel, or are constants and aliases of Rust; the first
//! comment of the file lists them. The Rust code with the composer of the kernel lists the modules.
//!
//! A composed text has a line `//# zippy module FILE` before each module. Errors of the compiler in
//! a module report the file and its line, and not a line of the composed text.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use super::Tokens;
use crate::error::KernelError;

/// Begin of the line before a module, which ends with the file of the module.
const MODULE_BEGIN: &str = "//# zippy module ";

/// Line after a module.
const MODULE_END: &str = "//# zippy end";

/// Number or vector of Rust that WGSL can declare as a constant; an `f32` must be finite.
pub trait WgslConstant {
    /// Returns the value as a WGSL expression.
    fn expression(&self) -> String;
}

macro_rules! scalar_constants {
    ($($type:ty: $format:literal),*) => {$(
        impl WgslConstant for $type {
            fn expression(&self) -> String {
                format!($format, self)
            }
        }
    )*};
}
// An abstract literal: the least i32 is the negation of a number that no i32 literal can have.
scalar_constants!(u32: "{}u", i32: "i32({})", f32: "{:?}f", bool: "{}");

impl WgslConstant for [i32; 3] {
    fn expression(&self) -> String {
        let [x, y, z] = self;
        format!("vec3<i32>({x}, {y}, {z})")
    }
}

/// A WGSL file of a library, from [`wgsl_module!`](crate::wgsl_module).
#[derive(Debug, Clone)]
pub struct WgslModule {
    source_file: &'static str,
    path: &'static str,
    text: &'static str,
    defines: Vec<PlaceholderText>,
}

#[derive(Debug, Clone)]
struct PlaceholderText {
    name: &'static str,
    text: String,
    call_site: &'static Location<'static>,
}

impl WgslModule {
    /// Creates the module of a file with this text, at a path relative to a source file.
    /// [`wgsl_module!`](crate::wgsl_module) calls it.
    pub const fn included(source_file: &'static str, path: &'static str, text: &'static str) -> Self {
        Self { source_file, path, text, defines: Vec::new() }
    }

    /// Replaces the placeholder `$name` of the file by a text.
    #[track_caller]
    pub fn define(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.defines.push(PlaceholderText { name, text: text.into(), call_site: Location::caller() });
        self
    }

    /// Returns the path of the file, relative to the workspace.
    pub fn file(&self) -> String {
        tidy_path(self.source_file, self.path)
    }

    /// Returns the text of the file with its placeholders replaced.
    fn replaced(&self) -> Result<String, KernelError> {
        let (mut out, mut end) = (String::new(), 0);
        let mut is_used = vec![false; self.defines.len()];
        for placeholder in &ModuleWords::of(self.text).placeholders {
            let name = &self.text[placeholder.start + 1..placeholder.end];
            let Some(found) = self.defines.iter().position(|define| define.name == name) else {
                let before = &self.text[..placeholder.start];
                let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
                let message = format!("nothing defines the placeholder ${name}");
                return Err(text_error(self.file(), before.matches('\n').count() + 1, column, message));
            };
            is_used[found] = true;
            out.push_str(&self.text[end..placeholder.start]);
            out.push_str(&self.defines[found].text);
            end = placeholder.end;
        }
        match self.defines.iter().zip(is_used).find(|(_, is_used)| !is_used) {
            Some((PlaceholderText { name, call_site, .. }, _)) => {
                Err(text_error_at(call_site, format!("{} has no placeholder ${name}", self.file())))
            }
            None => Ok(out + &self.text[end..]),
        }
    }

    /// Words of the text with the texts of the placeholders.
    fn words(&self) -> PartWords<'_> {
        let defined = self.defines.iter().flat_map(|define| words_of(&define.text));
        PartWords { file: Some(ModuleWords::of(self.text)), others: defined.collect() }
    }
}

/// Words of a WGSL file, for fast composition: programs compose a text for each use of a kernel.
struct ModuleWords {
    words: BTreeSet<&'static str>,
    /// Byte ranges of the placeholders.
    placeholders: Vec<Range<usize>>,
}

/// Words of the WGSL files of this process, by address and length of their texts.
static KNOWN_WORDS: Mutex<BTreeMap<(usize, usize), Arc<ModuleWords>>> = Mutex::new(BTreeMap::new());

impl ModuleWords {
    fn of(text: &'static str) -> Arc<Self> {
        let mut known = KNOWN_WORDS.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry((text.as_ptr() as usize, text.len())).or_insert_with(|| Arc::new(Self::new(text))).clone()
    }

    fn new(text: &'static str) -> Self {
        let tokens = Tokens::new(text);
        let marks = (0..tokens.count()).filter(|&index| tokens.get(index) == "$");
        let placeholder = |index: usize| {
            let start = tokens.ranges[index].start;
            start..tokens.ranges.get(index + 1).map_or(start + 1, |name| name.end)
        };
        let placeholders: Vec<Range<usize>> = marks.map(placeholder).collect();
        let is_placeholder = |word: &Range<usize>| placeholders.iter().any(|placeholder| placeholder.end == word.end);
        let words = tokens.ranges.iter().filter(|range| !is_placeholder(range)).map(|range| &text[range.clone()]);
        Self { words: words.collect(), placeholders }
    }
}

/// The WGSL file at a path relative to this source file, as a
/// [`WgslModule`](crate::wgsl::WgslModule).
#[macro_export]
macro_rules! wgsl_module {
    ($path:expr $(,)?) => {
        $crate::wgsl::WgslModule::included(file!(), $path, include_str!($path))
    };
}

/// Words of a part of a text.
struct PartWords<'p> {
    file: Option<Arc<ModuleWords>>,
    others: BTreeSet<&'p str>,
}

impl PartWords<'_> {
    fn contain(&self, name: &str) -> bool {
        self.others.contains(name) || self.file.as_ref().is_some_and(|file| file.words.contains(name))
    }
}

fn words_of(text: &str) -> BTreeSet<&str> {
    let tokens = Tokens::new(text);
    tokens.ranges.into_iter().map(|range| &text[range]).collect()
}

/// Part of a text.
#[derive(Debug, Clone)]
enum TextPart {
    Declaration { name: &'static str, text: String, call_site: &'static Location<'static>, is_optional: bool },
    Generated(String),
    Module(WgslModule),
}

impl TextPart {
    fn words(&self) -> PartWords<'_> {
        match self {
            Self::Declaration { text, .. } | Self::Generated(text) => PartWords { file: None, others: words_of(text) },
            Self::Module(module) => module.words(),
        }
    }
}

/// Composer of the text of a kernel from parts, in the order of their addition.
///
/// ```
/// use zippy_device::wgsl::{WgslComposer, WgslModule};
///
/// const SQUARES: WgslModule =
///     WgslModule::included("src/lib.rs", "squares.wgsl", "fn f(x: $T) -> $T { return x * x % MOST; }");
/// let composer = WgslComposer::new().constant("MOST", 7_u32).module(SQUARES.define("T", "u32"));
/// assert_eq!(
///     composer.compose()?,
///     "const MOST = 7u;\n//# zippy module src/squares.wgsl\n\
///      fn f(x: u32) -> u32 { return x * x % MOST; }\n"
/// );
/// # Ok::<(), zippy_base::error::KernelError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct WgslComposer {
    extensions: Vec<&'static str>,
    parts: Vec<TextPart>,
}

impl WgslComposer {
    /// Creates a composer without parts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Enables an extension of WGSL, such as `f16`, at the start of the text.
    pub fn enable(mut self, extension: &'static str) -> Self {
        if !self.extensions.contains(&extension) {
            self.extensions.push(extension);
        }
        self
    }

    /// Declares a constant for other parts; an unused constant is an error.
    #[track_caller]
    pub fn constant(self, name: &'static str, value: impl WgslConstant) -> Self {
        self.declare(name, format!("const {name} = {};", value.expression()), false)
    }

    /// Declares those of several constants, such as the values of an enumeration, that other parts
    /// use.
    #[track_caller]
    pub fn used_constants<T: WgslConstant>(self, constants: impl IntoIterator<Item = (&'static str, T)>) -> Self {
        constants.into_iter().fold(self, |composer, (name, value)| {
            composer.declare(name, format!("const {name} = {};", value.expression()), true)
        })
    }

    /// Declares an alias of a type for other parts; an unused alias is an error.
    #[track_caller]
    pub fn alias(self, name: &'static str, wgsl_type: &str) -> Self {
        self.declare(name, format!("alias {name} = {wgsl_type};"), false)
    }

    #[track_caller]
    fn declare(mut self, name: &'static str, text: String, is_optional: bool) -> Self {
        self.parts.push(TextPart::Declaration { name, text, call_site: Location::caller(), is_optional });
        self
    }

    /// Adds declarations that Rust has generated. `$` is not a placeholder in them.
    pub fn generated(mut self, text: impl Into<String>) -> Self {
        self.parts.push(TextPart::Generated(text.into()));
        self
    }

    /// Adds a WGSL file.
    pub fn module(mut self, module: WgslModule) -> Self {
        self.parts.push(TextPart::Module(module));
        self
    }

    /// Adds several WGSL files.
    pub fn modules(mut self, modules: impl IntoIterator<Item = WgslModule>) -> Self {
        self.parts.extend(modules.into_iter().map(TextPart::Module));
        self
    }

    /// Adds the parts of another composer.
    pub fn append(self, other: Self) -> Self {
        let mut all = other.extensions.into_iter().fold(self, Self::enable);
        all.parts.extend(other.parts);
        all
    }

    /// Returns the files of the text, as paths relative to the workspace.
    pub fn files(&self) -> Vec<String> {
        self.parts
            .iter()
            .filter_map(|part| if let TextPart::Module(module) = part { Some(module.file()) } else { None })
            .collect()
    }

    /// Returns the composed text.
    ///
    /// # Errors
    /// With the file and line of the mistake:
    /// * a placeholder that nothing defines;
    /// * a define, a constant or an alias that no part uses.
    pub fn compose(&self) -> Result<String, KernelError> {
        let words: Vec<PartWords<'_>> = self.parts.iter().map(TextPart::words).collect();
        let is_used = |name: &str, number: usize| {
            words.iter().enumerate().any(|(other, part)| other != number && part.contain(name))
        };
        let mut out: String = self.extensions.iter().map(|extension| format!("enable {extension};\n")).collect();
        let mut is_after_module = false;
        for (number, part) in self.parts.iter().enumerate() {
            if let TextPart::Declaration { name, call_site, is_optional, .. } = part
                && !is_used(name, number)
            {
                if *is_optional {
                    continue;
                }
                return Err(text_error_at(call_site, format!("no part of the text uses {name}")));
            }
            if let TextPart::Module(module) = part {
                out.push_str(&format!("{MODULE_BEGIN}{}\n", module.file()));
                is_after_module = true;
            } else if std::mem::take(&mut is_after_module) {
                out.push_str(&format!("{MODULE_END}\n"));
            }
            match part {
                TextPart::Declaration { text, .. } | TextPart::Generated(text) => out.push_str(text),
                TextPart::Module(module) => out.push_str(&module.replaced()?),
            }
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
        }
        Ok(out)
    }
}

/// Returns the file of a line of a composed text, and the line in the file; `None` for a line that
/// is not in a module. Lines count from 1.
pub(crate) fn locate_line(text: &str, line: usize) -> Option<(&str, usize)> {
    let is_marker = |line: &str| line == MODULE_END || line.starts_with(MODULE_BEGIN);
    let (at, marker) = text.lines().take(line).enumerate().filter(|(_, line)| is_marker(line)).last()?;
    let file = marker.strip_prefix(MODULE_BEGIN)?;
    (line > at + 1).then(|| (file, line - at - 1))
}

/// Returns a path relative to a source file, without `..`: `examples/a.rs` and
/// `../shaders/add.wgsl` become `shaders/add.wgsl`.
pub(crate) fn tidy_path(source_file: &str, path: &str) -> String {
    let mut parts: Vec<&str> = source_file.split(['/', '\\']).collect();
    parts.pop();
    for part in path.split('/').filter(|part| *part != ".") {
        if part == ".." && parts.last().is_some_and(|last| *last != "..") {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

fn text_error(file: String, line: usize, column: usize, message: String) -> KernelError {
    KernelError::Wgsl { file, line, column, message, excerpt: String::new() }
}

fn text_error_at(call_site: &Location<'_>, message: String) -> KernelError {
    text_error(call_site.file().to_owned(), call_site.line() as usize, call_site.column() as usize, message)
}
