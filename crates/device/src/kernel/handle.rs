//! [`Kernel`]: the user's handle of a kernel, and reloading of its text when the file changes.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use super::pipeline::BindGroups;
use super::source::{FileWatch, KernelSource};
use super::target::Target;
use super::variants::{Version, read};
use crate::device::{Device, Lease};
use crate::error::{CallSite, KernelError, Result};
use crate::trace;

/// A compute kernel of this rank, created by `World::kernel` and run by [`call`](Self::call).
///
/// The kernel is compiled on the first run, once per combination of element types and numbers of
/// axes of the bound arrays. Extents, chunks and ghost widths are data, so that every decomposition
/// runs the same code.
///
/// Clones share the compiled code.
#[derive(Debug, Clone)]
pub struct Kernel {
    pub(super) shared: Rc<SharedKernel>,
    pub(super) entry: Option<String>,
}

#[derive(Debug)]
pub(super) struct SharedKernel {
    pub target: Target,
    versions: RefCell<Versions>,
    pub groups: RefCell<BindGroups>,
    /// Kernel that computes dispatch arguments, created for the first counted domain.
    pub counter: OnceCell<Counter>,
}

/// Kernel that computes dispatch arguments from a count on the device, and their memory.
#[derive(Debug)]
pub(super) struct Counter {
    pub kernel: Kernel,
    /// Memory of the dispatch arguments; see [`COUNT`](super::geometry::COUNT).
    pub result: Lease,
}

#[derive(Debug)]
struct Versions {
    current: Rc<Version>,
    watch: Option<FileWatch>,
    /// Program before the last change of the file, until the changed program has run.
    previous: Option<Rc<Version>>,
}

impl Kernel {
    /// Creates a kernel from WGSL. Local; nothing is compiled for the GPU before the first run.
    ///
    /// # Errors
    /// WGSL that is invalid for all bindings, with file, line and column.
    #[track_caller]
    pub fn new(device: &Rc<Device>, source: &KernelSource) -> Result<Self> {
        let _call = CallSite::enter();
        let KernelSource { name, text, composed, .. } = source;
        let target = |is_native| Target { device: device.clone(), is_native };
        let prefers_driver = source.prefers_driver && read(&target(false), name, text, *composed).is_ok();
        let target = target(device.computes_natively(prefers_driver));
        let program = read(&target, name, text, *composed)?;
        let watch = source.path.as_deref().filter(|_| cfg!(debug_assertions)).map(FileWatch::new);
        let versions = RefCell::new(Versions { current: Version::new(program), watch, previous: None });
        let (groups, counter) = (RefCell::default(), OnceCell::new());
        let shared = SharedKernel { target, versions, groups, counter };
        Ok(Self { shared: Rc::new(shared), entry: None })
    }

    /// Returns the same kernel with the `@compute` function `name` as its entry point, for texts
    /// with several entry points. Local.
    ///
    /// # Errors
    /// The text has no `@compute` function with this name.
    #[track_caller]
    pub fn entry(&self, name: &str) -> Result<Self> {
        let _call = CallSite::enter();
        let version = self.version();
        let program = &version.program;
        if !program.scan.functions.contains_key(name) {
            let functions: Vec<_> = program.scan.functions.keys().map(|name| format!("`{name}`")).collect();
            return Err(KernelError::Entry {
                kernel: program.name.clone(),
                problem: format!("there is no @compute function `{name}`"),
                entries: format!("among {}", functions.join(", ")),
            }
            .into());
        }
        Ok(Self { shared: self.shared.clone(), entry: Some(name.to_owned()) })
    }

    /// True if the host computes the kernel natively. The driver still computes a kernel with
    /// constructs that native kernels do not support.
    pub fn is_native(&self) -> bool {
        self.shared.target.is_native
    }

    /// Returns the file or name of the kernel.
    pub fn name(&self) -> String {
        self.version().program.name.clone()
    }

    pub(super) fn version(&self) -> Rc<Version> {
        self.shared.versions.borrow().current.clone()
    }

    /// Reloads the file if it has changed (debug builds).
    pub(super) fn reload(&self) {
        let mut versions = self.shared.versions.borrow_mut();
        let Some(text) = versions.watch.as_mut().and_then(FileWatch::changed) else { return };
        if text == versions.current.program.text {
            return;
        }
        let name = versions.current.program.name.clone();
        match read(&self.shared.target, &name, &text, false) {
            Ok(program) => {
                tracing::info!("kernel {name} was changed and is compiled again");
                let old = std::mem::replace(&mut versions.current, Version::new(program));
                // If the current version has not run, the previous one stays the fallback.
                versions.previous.get_or_insert(old);
            }
            Err(error) => trace::warn(&format!("kernel {name} was changed, but stays as it was: {error}")),
        }
    }

    /// Restores the program before the last change of the file, if the changed program has not run
    /// yet; returns the changed program.
    pub(super) fn restore_previous_version(&self) -> Option<Rc<Version>> {
        let mut versions = self.shared.versions.borrow_mut();
        let previous = versions.previous.take()?;
        Some(std::mem::replace(&mut versions.current, previous))
    }

    /// Undoes [`Kernel::step_back`].
    pub(super) fn reinstate_changed_version(&self, changed: Rc<Version>) {
        let mut versions = self.shared.versions.borrow_mut();
        versions.previous = Some(std::mem::replace(&mut versions.current, changed));
    }

    /// Drops the previous program after a successful run of the changed one.
    pub(super) fn drop_previous_version(&self) {
        self.shared.versions.borrow_mut().previous = None;
    }
}
