//! [`Site`]: who did something to cells.

use crate::error::CallSite;
use std::fmt::{self, Debug, Display, Formatter};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// Who read or wrote cells: the operation or kernel, the place in the program that called it, and when.
#[derive(Clone)]
pub struct Site {
    what: What,
    at: CallSite,
    step: u64,
}

/// An operation.
#[derive(Clone)]
pub(crate) enum What {
    Kernel(Rc<str>),
    Local(&'static str),
    Collective(Rc<dyn Display>),
}

impl Site {
    pub(crate) fn new(what: What, at: CallSite, step: u64) -> Self {
        Self { what, at, step }
    }

    /// The operation in words: "kernel heat.wgsl", "write", "ghosts(...)".
    pub fn operation(&self) -> String {
        match &self.what {
            What::Kernel(name) => format!("kernel {name}"),
            What::Local(name) => (*name).to_string(),
            What::Collective(operation) => operation.to_string(),
        }
    }

    /// The file or name of the kernel, where it was one.
    pub fn kernel(&self) -> Option<&str> {
        match &self.what {
            What::Kernel(name) => Some(name),
            _ => None,
        }
    }

    /// The line of the program that called it.
    pub fn call_site(&self) -> CallSite {
        self.at
    }

    /// A number of the place in the program, the same on every rank.
    pub(crate) fn place(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.at.hash(&mut hasher);
        hasher.finish()
    }

    /// How many [`debug_point`](crate::World::debug_point)s this rank had passed.
    pub fn step(&self) -> u64 {
        self.step
    }
}

impl Display for Site {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.operation(), self.at)?;
        if self.step > 0 { write!(f, ", step {}", self.step) } else { Ok(()) }
    }
}

impl Debug for Site {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}
