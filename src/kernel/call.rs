//! A call of a kernel while it is put together.

use super::binding::Binding;
use super::handle::Kernel;
use super::params::{ParamValue, Record};
use crate::element::Element;

impl Kernel {
    /// A call, to be given its sections and parameters and then [run](Call::run).
    pub fn call(&self) -> Call<'_> {
        Call::new(self)
    }
}

/// What a call does with a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    Update,
}

/// A call of a kernel while it is put together. Mistakes are kept and reported by [`Call::run`].
#[derive(Debug)]
#[must_use = "a call does nothing before run()"]
pub struct Call<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) bound: Vec<(String, Binding, Access)>,
    pub(super) over: Option<Binding>,
    pub(super) params: Vec<(String, ParamValue)>,
    pub(super) records: Vec<(String, Record)>,
}

impl<'k> Call<'k> {
    pub(super) fn new(kernel: &'k Kernel) -> Self {
        Self { kernel, bound: Vec::new(), over: None, params: Vec::new(), records: Vec::new() }
    }

    fn bind(mut self, name: &str, section: impl Into<Binding>, access: Access) -> Self {
        self.bound.push((name.to_owned(), section.into(), access));
        self
    }

    /// Binds a section to a variable that the shader declares `var<storage, read>`.
    pub fn read(self, name: &str, section: impl Into<Binding>) -> Self {
        self.bind(name, section, Access::Read)
    }

    /// Binds a section to a `read_write` variable. The first written section gives the domain: one invocation a cell.
    pub fn write(self, name: &str, section: impl Into<Binding>) -> Self {
        self.bind(name, section, Access::Write)
    }

    /// Binds a section that the kernel both reads and writes to a `read_write` variable.
    pub fn update(self, name: &str, section: impl Into<Binding>) -> Self {
        self.bind(name, section, Access::Update)
    }

    /// Runs over the cells of this section instead of the first written one. Positions still count from the start of the
    /// written section, so that the ghost cells around it are negative or past its end.
    pub fn over(mut self, section: impl Into<Binding>) -> Self {
        self.over = Some(section.into());
        self
    }

    /// Gives a member of a uniform struct, or a uniform variable that is no struct, its value. `"params.name"` where two
    /// structs have a member of the same name; `"light.position"` for members of members.
    pub fn param(mut self, name: &str, value: impl Into<ParamValue>) -> Self {
        self.params.push((name.to_owned(), value.into()));
        self
    }

    /// Gives the uniform variable `name` all its members at once; they are matched by name and type. [`Call::param`] given
    /// as well goes before it.
    pub fn params<T: Element>(mut self, name: &str, value: &T) -> Self {
        self.records.push((name.to_owned(), Record::new(value)));
        self
    }
}
