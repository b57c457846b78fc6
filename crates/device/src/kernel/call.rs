//! [`Call`]: builder of a kernel call.

use super::argument::KernelArgument;
use super::binding::Binding;
use super::domain::{Domain, IntoDomain};
use super::handle::Kernel;
use super::params::{IntoParam, ParamValue, Record};
use crate::element::Element;

impl Kernel {
    /// Starts a call of the kernel. Add sections and parameters, then [run](Call::run) it.
    pub fn call(&self) -> Call<'_> {
        Call::new(self)
    }
}

/// Access of a kernel call to a bound section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccessMode {
    Read,
    Write,
    Update,
}

/// Builder of a kernel call: add sections and parameters by name, then [`run`](Call::run).
///
/// `run` reports the errors of all methods.
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

    /// Binds a section that the kernel writes to a variable that the shader declares `var<storage,
    /// read_write>`.
    ///
    /// Without [`over`](Self::over), the first written or updated section is the domain, with one
    /// invocation per cell.
    pub fn write(self, name: &str, section: impl KernelArgument) -> Self {
        self.bind(name, section, AccessMode::Write)
    }

    /// Binds a section that the kernel both reads and writes to a `read_write` variable.
    pub fn update(self, name: &str, section: impl KernelArgument) -> Self {
        self.bind(name, section, AccessMode::Update)
    }

    /// Sets the domain: a section, extents, or a count, instead of the first written section. See
    /// [`Domain`].
    ///
    /// If the domain is a section of the index space of a bound array, positions count from the
    /// start of the bound section: cells outside of the bound section have negative positions or
    /// positions past its end.
    pub fn over(mut self, domain: impl IntoDomain) -> Self {
        self.over = Some(domain.into());
        self
    }

    /// Sets the value of a uniform variable, or of one member of a uniform struct.
    ///
    /// Nested members have names such as `"light.position"`. If several structs have a member of
    /// the same name, use `"params.name"`.
    pub fn param(mut self, name: &str, value: impl IntoParam) -> Self {
        self.params.push((name.to_owned(), value.into()));
        self
    }

    /// Sets all members of the uniform struct `name`, matched by name and type.
    ///
    /// Values of [`param`](Call::param) take precedence.
    pub fn params<T: Element>(mut self, name: &str, value: &T) -> Self {
        self.records.push((name.to_owned(), Record::new(value)));
        self
    }
}
