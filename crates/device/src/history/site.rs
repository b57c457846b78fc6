//! [`Site`]: the operation that accessed cells, and its call site.

use crate::error::CallSite;
use std::fmt::{self, Debug, Display, Formatter};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// Operation that accesses cells, its call site in the program, and the number of debug points
/// before it.
#[derive(Clone)]
pub struct Site {
    name: OperationName,
    call_site: CallSite,
    step: u64,
}

/// Name of an operation that accesses cells.
#[derive(Clone)]
pub enum OperationName {
    /// A kernel, by its file or name.
    Kernel(Rc<str>),
    /// A local operation, such as `write`.
    Local(&'static str),
    /// A collective operation with its arguments.
    Collective(Rc<dyn Display>),
}

impl Site {
    /// Creates the site of an operation at a call site, after `step` debug points.
    pub fn new(name: OperationName, call_site: CallSite, step: u64) -> Self {
        Self { name, call_site, step }
    }

    /// Returns the text of the operation: `kernel heat.wgsl`, `write`, `ghosts(...)`.
    pub fn operation(&self) -> String {
        match &self.name {
            OperationName::Kernel(name) => format!("kernel {name}"),
            OperationName::Local(name) => (*name).to_string(),
            OperationName::Collective(operation) => operation.to_string(),
        }
    }

    /// Returns the file or name of the kernel; `None` for other operations.
    pub fn kernel(&self) -> Option<&str> {
        match &self.name {
            OperationName::Kernel(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the call site of the operation in the program.
    pub fn call_site(&self) -> CallSite {
        self.call_site
    }

    /// Returns the id of the call site, the same on every rank.
    pub fn call_site_id(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.call_site.hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the number of debug points that this rank had passed at the operation.
    pub fn step(&self) -> u64 {
        self.step
    }
}

impl Display for Site {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.operation(), self.call_site)?;
        if self.step > 0 { write!(f, ", step {}", self.step) } else { Ok(()) }
    }
}

impl Debug for Site {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}
