//! Compiled variants of one text: one variant for each signature of bound arrays.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::access_range::{AccessRange, find_access_ranges};
use super::checked_kernel::CheckedKernel;
use super::pipeline::Pipeline;
use super::program::{Program, capabilities, note_missing_features};
use super::signature::{Signature, VarShape};
use super::target::Target;
use crate::error::{KernelError, Result};

/// Key of a compiled variant: signature of the bindings, and selected entry point.
type Variant = (Signature, Option<String>);

/// Program of a kernel with all its compiled variants.
#[derive(Debug)]
pub(super) struct Version {
    pub program: Program,
    pub label: Rc<str>,
    compiled: RefCell<HashMap<Variant, Rc<Compiled>>>,
}

/// Kernel compiled for one signature; the pipeline is created at the first run.
#[derive(Debug)]
pub(super) struct Compiled {
    pub checked: CheckedKernel,
    pipeline: OnceCell<Pipeline>,
    access_ranges: OnceCell<Vec<AccessRange>>,
}

/// Reads a program and checks it for its device and backend.
pub(super) fn read(target: &Target, name: &str, text: &str, composed: bool) -> Result<Program, KernelError> {
    let new = |features| Program::new(name, text, composed, capabilities(features));
    new(target.features())
        .map_err(|error| note_missing_features(&target.device, error, |features| new(features).is_ok()))
}

impl Version {
    pub(super) fn new(program: Program) -> Rc<Self> {
        let label = program.name.as_str().into();
        Rc::new(Self { program, label, compiled: RefCell::default() })
    }

    /// Returns the program with helpers for `signature`, validated by naga, from the cache.
    pub(super) fn compiled(
        &self,
        target: &Target,
        signature: &Signature,
        entry: &Option<String>,
    ) -> Result<Rc<Compiled>, KernelError> {
        let key = (signature.clone(), entry.clone());
        if let Some(found) = self.compiled.borrow().get(&key) {
            return Ok(found.clone());
        }
        let program = &self.program;
        let complete = |features| program.complete(signature, entry.as_deref(), capabilities(features));
        let complete = complete(target.features()).map_err(|fault| {
            note_missing_features(&target.device, program.explain_bound(&fault, signature), |features| {
                complete(features).is_ok()
            })
        })?;
        let checked = CheckedKernel::new(program, complete, signature, entry.as_deref())?;
        let compiled = Rc::new(Compiled { checked, pipeline: OnceCell::new(), access_ranges: OnceCell::new() });
        self.compiled.borrow_mut().insert(key, compiled.clone());
        Ok(compiled)
    }
}

impl Compiled {
    /// Returns the access range of the entry point in the array of each storage variable.
    pub(super) fn access_ranges(&self, program: &Program, vars: &[VarShape]) -> &[AccessRange] {
        let checked = &self.checked;
        self.access_ranges.get_or_init(|| find_access_ranges(&checked.parsed, &checked.entry, &program.scan, vars))
    }

    /// Returns the pipeline of the kernel on this device, compiled at its first use.
    pub(super) fn pipeline(&self, target: &Target, name: &str) -> Result<&Pipeline> {
        if self.pipeline.get().is_none() {
            let made = Pipeline::get(target, name, &self.checked)?;
            return Ok(self.pipeline.get_or_init(|| made));
        }
        Ok(self.pipeline.get().expect("just seen"))
    }
}
