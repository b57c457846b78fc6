//! A call of a kernel while it is put together.

use super::argument::KernelArgument;
use super::binding::Binding;
use super::domain::{Domain, IntoDomain};
use super::handle::Kernel;
use super::params::{IntoParam, ParamValue, Record};
use crate::element::Element;

impl Kernel {
    /// A call, to be given its sections and parameters and then [run](Call::run).
    pub fn call(&self) -> Call<'_> {
        Call::new(self)
    }
}

/// What a call does with a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccessMode {
    Read,
    Write,
    Update,
}

/// A call of a kernel while it is put together: sections and parameters by name, then [`run`](Call::run).
///
/// Mistakes are kept until then.
#[derive(Debug)]
#[must_use = "a call does nothing before run()"]
pub struct Call<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) bound: Vec<(String, Binding, AccessMode)>,
    pub(super) over: Option<Domain>,
    pub(super) params: Vec<(String, ParamValue)>,
    pub(super) records: Vec<(String, Record)>,
}

impl<'k> Call<'k> {
    pub(super) fn new(kernel: &'k Kernel) -> Self {
        Self { kernel, bound: Vec::new(), over: None, params: Vec::new(), records: Vec::new() }
    }

    fn bind(mut self, name: &str, section: impl KernelArgument, access: AccessMode) -> Self {
        self.bound.push((name.to_owned(), section.into(), access));
        self
    }

    /// Binds a section to a variable that the shader declares `var<storage, read>`.
    pub fn read(self, name: &str, section: impl KernelArgument) -> Self {
        self.bind(name, section, AccessMode::Read)
    }

    /// Binds a section that the kernel writes to a `read_write` variable.
    ///
    /// The first section that is written or updated gives the domain, one invocation a cell, where [`over`](Self::over) does
    /// not.
    pub fn write(self, name: &str, section: impl KernelArgument) -> Self {
        self.bind(name, section, AccessMode::Write)
    }

    /// Binds a section that the kernel both reads and writes to a `read_write` variable.
    pub fn update(self, name: &str, section: impl KernelArgument) -> Self {
        self.bind(name, section, AccessMode::Update)
    }

    /// Runs over this section, these extents or this count instead of the first written section: see [`Domain`].
    ///
    /// Over a section of a bound array's index space positions count from the start of the one that is bound: ghost cells
    /// around it are negative or past its end.
    pub fn over(mut self, domain: impl IntoDomain) -> Self {
        self.over = Some(domain.into());
        self
    }

    /// Gives a uniform variable, or one member of a uniform struct, its value.
    ///
    /// Members of members are `"light.position"`. Where two structs have a member of one name, it is `"params.name"`.
    pub fn param(mut self, name: &str, value: impl IntoParam) -> Self {
        self.params.push((name.to_owned(), value.into()));
        self
    }

    /// Gives the uniform struct `name` all its members at once, matched by name and type.
    ///
    /// What [`param`](Call::param) gives as well goes before it.
    pub fn params<T: Element>(mut self, name: &str, value: &T) -> Self {
        self.records.push((name.to_owned(), Record::new(value)));
        self
    }
}
