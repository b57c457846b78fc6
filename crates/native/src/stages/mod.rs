//! Division of kernels with barriers into stages.
//!
//! A region is a stage without a barrier: all invocations of a workgroup run the region before the
//! next stage. Variables and values of several regions are in the frame of each invocation. Control
//! flow around barriers is uniform in a workgroup: the first invocation that has not returned
//! decides.

mod regions;

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::ir::{Access, Builtin, Definition, Format, Kernel, Label, Memory, Statement, Type, Value, Variable};

use regions::{RegionRewriter, RegionUses};

/// Part of a kernel with barriers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Index in [`Staged::regions`].
    Region(usize),
    /// `condition` is the offset of a bool in the frame, in bytes.
    If {
        condition: u32,
        accept: Vec<Stage>,
        reject: Vec<Stage>,
    },
    Block {
        label: Label,
        body: Vec<Stage>,
    },
    Loop {
        label: Label,
        body: Vec<Stage>,
        line: u32,
    },
    Break(Label),
    Repeat(Label),
}

/// A kernel with barriers, as regions and the control flow around them.
#[derive(Debug, Clone)]
pub(crate) struct Staged {
    pub stages: Vec<Stage>,
    /// Kernels without barriers, with variables.
    pub regions: Vec<Kernel>,
    /// Offset in the frame, in bytes, of a word that is 1 after the return of the invocation.
    pub returned: u32,
    pub frame_bytes: u32,
}

/// True for a kernel with barriers or workgroup memory: its workgroups run as a whole.
pub(crate) fn has_stages(kernel: &Kernel) -> bool {
    kernel.workgroup_bytes > 0 || has_barrier(&kernel.body)
}

pub(crate) fn cut_at_barriers(kernel: &Kernel) -> Staged {
    let mut cut = StageCutter {
        kernel: kernel.clone(),
        open: Vec::new(),
        regions: Vec::new(),
        returns: returns(&kernel.body),
        slots: HashMap::new(),
        variable_slots: HashMap::new(),
    };
    let returned = cut.frame_slot(Type::I32);
    let body = std::mem::take(&mut cut.kernel.body);
    let mut stages = vec![];
    for statement in body {
        match statement {
            // Each invocation returns separately, so the outermost block is no stage.
            Statement::Block { label, body, .. } if Some(label) == cut.returns => cut.stages(&body, &mut stages),
            other => cut.stages(&[other], &mut stages),
        }
    }
    cut.close_region(&mut stages);
    let regions = cut.finish(returned);
    Staged { stages, regions, returned, frame_bytes: cut.kernel.frame_bytes }
}

struct StageCutter {
    kernel: Kernel,
    open: Vec<Statement>,
    regions: Vec<Vec<Statement>>,
    returns: Option<Label>,
    slots: HashMap<Value, u32>,
    variable_slots: HashMap<Variable, u32>,
}

impl StageCutter {
    /// Allocates a scalar in the frame; returns its offset in bytes.
    fn frame_slot(&mut self, ty: Type) -> u32 {
        let offset = self.kernel.frame_bytes.next_multiple_of(ty.bytes());
        self.kernel.frame_bytes = offset + ty.bytes();
        offset
    }

    fn close_region(&mut self, into: &mut Vec<Stage>) {
        if !self.open.is_empty() {
            into.push(Stage::Region(self.regions.len()));
            self.regions.push(std::mem::take(&mut self.open));
        }
    }

    fn stages(&mut self, body: &[Statement], into: &mut Vec<Stage>) {
        for statement in body {
            if !self.is_stage(statement) {
                self.open.push(statement.clone());
                continue;
            }
            match statement {
                Statement::Barrier => self.close_region(into),
                Statement::If { condition, accept, reject, .. } => {
                    let slot = self.frame_slot(Type::Bool);
                    self.open.push(Statement::Store(frame_access(slot, Type::Bool), *condition));
                    self.close_region(into);
                    let [accept, reject] = [accept, reject].map(|arm| self.nested_stages(arm));
                    into.push(Stage::If { condition: slot, accept, reject });
                }
                Statement::Block { label, body, .. } => {
                    self.close_region(into);
                    let body = self.nested_stages(body);
                    into.push(Stage::Block { label: *label, body });
                }
                Statement::Loop { label, body, line, .. } => {
                    self.close_region(into);
                    let body = self.nested_stages(body);
                    into.push(Stage::Loop { label: *label, body, line: *line });
                }
                Statement::Break { label, .. } => {
                    self.close_region(into);
                    into.push(Stage::Break(*label));
                }
                Statement::Repeat { label, .. } => {
                    self.close_region(into);
                    into.push(Stage::Repeat(*label));
                }
                _ => {}
            }
        }
    }

    fn nested_stages(&mut self, body: &[Statement]) -> Vec<Stage> {
        let mut stages = Vec::new();
        self.stages(body, &mut stages);
        self.close_region(&mut stages);
        stages
    }

    /// True for a statement that must be a stage: it has a barrier, or a jump to an outer label.
    fn is_stage(&self, statement: &Statement) -> bool {
        let body = std::slice::from_ref(statement);
        has_barrier(body) || leaves(body, self.returns, &mut HashSet::new())
    }

    /// Creates the kernel of each region. Values and variables of several regions are in the frame.
    fn finish(&mut self, returned: u32) -> Vec<Kernel> {
        let mut homes: HashMap<Value, usize> = HashMap::new();
        let mut variables: HashMap<Variable, BTreeSet<usize>> = HashMap::new();
        let mut uses: Vec<BTreeSet<Value>> = Vec::new();
        for (number, body) in self.regions.iter().enumerate() {
            let mut found = RegionUses::default();
            found.body(&self.kernel, body);
            homes.extend(found.defined.iter().map(|value| (*value, number)));
            found.variables.iter().for_each(|variable| {
                variables.entry(*variable).or_default().insert(number);
            });
            uses.push(found.used);
        }
        let crossing = |number: usize, value: &Value| homes.get(value).is_some_and(|home| *home != number);
        let mut foreign: Vec<Vec<Value>> = Vec::new();
        for (number, used) in uses.iter().enumerate() {
            foreign.push(used.iter().copied().filter(|value| crossing(number, value)).collect());
        }
        for value in foreign.iter().flatten().copied().collect::<BTreeSet<_>>() {
            if !self.is_repeatable(value) {
                let slot = self.frame_slot(self.kernel.ty(value));
                self.slots.insert(value, slot);
            }
        }
        for (variable, _) in variables.into_iter().filter(|(_, regions)| regions.len() > 1) {
            let slot = self.frame_slot(self.kernel.variables[variable.0 as usize]);
            self.variable_slots.insert(variable, slot);
        }
        let regions = std::mem::take(&mut self.regions);
        regions.into_iter().zip(foreign).map(|(body, foreign)| self.region(body, &foreign, returned)).collect()
    }

    /// True for a value that each region evaluates again, as a load would cost more.
    fn is_repeatable(&self, value: Value) -> bool {
        matches!(self.kernel.definition(value), Definition::Builtin(_) | Definition::Length { .. })
    }

    fn region(&self, body: Vec<Statement>, foreign: &[Value], returned: u32) -> Kernel {
        let mut kernel = self.kernel.clone();
        let mut start = Vec::new();
        let mut replaced = HashMap::new();
        for value in foreign {
            let definition = match self.slots.get(value) {
                Some(slot) => Definition::Load(frame_access(*slot, kernel.ty(*value))),
                None => kernel.definition(*value).clone(),
            };
            let copy = kernel.add(kernel.ty(*value), definition);
            start.push(Statement::Let(copy));
            replaced.insert(*value, copy);
        }
        let mut rewrite = RegionRewriter { cut: self, kernel: &mut kernel, replaced, returned };
        start.extend(rewrite.body(body));
        kernel.body = match self.returns {
            Some(label) => {
                let state = kernel.add(Type::I32, Definition::Load(frame_access(returned, Type::I32)));
                let zero = kernel.add(Type::I32, Definition::Constant(0));
                let runs = Definition::Compare(crate::ir::Compare::Equal, state, zero);
                let runs = kernel.add(Type::Bool, runs);
                let rest = Statement::If { condition: runs, accept: start, reject: Vec::new(), merges: Vec::new() };
                let body = vec![Statement::Let(state), Statement::Let(runs), rest];
                vec![Statement::Block { label, body, results: Vec::new(), ending: Vec::new() }]
            }
            None => start,
        };
        kernel
    }
}

fn frame_access(offset: u32, ty: Type) -> Access {
    let format = match ty {
        Type::Bool | Type::I32 => Format::Word,
        Type::I64 => Format::Long,
        Type::F32 => Format::F32,
        Type::F64 => Format::F64,
    };
    Access { memory: Memory::Frame, format, index: None, scale: 1, offset, guard: None }
}

fn has_barrier(body: &[Statement]) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Barrier => true,
        Statement::If { accept, reject, .. } => has_barrier(accept) || has_barrier(reject),
        Statement::Block { body, .. } | Statement::Loop { body, .. } => has_barrier(body),
        _ => false,
    })
}

/// True if a body has a jump to an outer label, except the label of `return`.
fn leaves(body: &[Statement], returns: Option<Label>, inside: &mut HashSet<Label>) -> bool {
    body.iter().any(|statement| match statement {
        Statement::If { accept, reject, .. } => leaves(accept, returns, inside) || leaves(reject, returns, inside),
        Statement::Block { label, body, .. } | Statement::Loop { label, body, .. } => {
            inside.insert(*label);
            leaves(body, returns, inside)
        }
        Statement::Break { label, .. } | Statement::Repeat { label, .. } => {
            Some(*label) != returns && !inside.contains(label)
        }
        _ => false,
    })
}

/// Label of the block around a kernel: its `Break` is a `return`.
fn returns(body: &[Statement]) -> Option<Label> {
    match body.last() {
        Some(Statement::Block { label, .. }) => Some(*label),
        _ => None,
    }
}

/// True for built-in values that depend on the workgroup along x: rows must end at its end.
pub(crate) fn uses_workgroup_index(definition: &Definition) -> bool {
    matches!(definition, Definition::Builtin(Builtin::LocalId(0) | Builtin::WorkgroupId(0) | Builtin::LocalIndex))
}
