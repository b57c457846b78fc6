//! Invocations of a call: its domain as boxes, or as a count on the device.

use super::binding::Binding;
use super::binding_checks::{check_binding, check_device};
use super::call::{AccessMode, Call};
use super::dispatch::Grid;
use super::domain::{DomainKind, MAX_INVOCATIONS};
use super::program::Program;
use super::signature::{BoxForm, Space};
use crate::element::{ElementKind, Scalar};
use crate::error::{KernelError, Result};
use crate::extents::Index;
use crate::region::Region;

/// Domain of a call, in the index space of the section or extents that define the domain.
pub(super) enum ResolvedDomain<'c> {
    Boxes {
        space: Space,
        /// True if the index space is that of the first written section.
        written: bool,
        /// Coordinates of position 0.
        zero: Index,
        whole: Region,
        boxes: Vec<Region>,
        label: &'c str,
    },
    Counted {
        count: &'c Binding,
        max_count: u32,
    },
}

pub(super) enum Invocations<'c> {
    Grid(Grid),
    Counted { count: &'c Binding, max_count: u32 },
}

impl Invocations<'_> {
    pub(super) fn form(&self) -> BoxForm {
        match self {
            Self::Grid(grid) => grid.form(),
            Self::Counted { .. } => BoxForm::OneInOrder,
        }
    }
}

impl ResolvedDomain<'_> {
    pub(super) fn space(&self) -> Space {
        match self {
            Self::Boxes { space, .. } => *space,
            Self::Counted { .. } => Space::Counted,
        }
    }

    pub(super) fn axes(&self) -> usize {
        match self {
            Self::Boxes { whole, .. } => whole.axes(),
            Self::Counted { .. } => 1,
        }
    }
}

impl Call<'_> {
    fn wrong<R>(&self, program: &Program, problem: String) -> Result<R> {
        Err(KernelError::Binding { kernel: program.name.clone(), problem }.into())
    }

    /// Returns the section whose start is position 0 in the index space of `over`: the first one
    /// that is written there, or the first one that is read if none is written.
    fn origin_of(&self, over: &Binding) -> Option<&Binding> {
        let of_space = |access: bool| {
            let of = move |(_, binding, mode): &&(_, Binding, AccessMode)| {
                binding.shape == over.shape && (*mode == AccessMode::Read) == access
            };
            self.bound.iter().find(of).map(|(_, binding, _)| binding)
        };
        of_space(false).or_else(|| of_space(true))
    }

    fn first_written(&self, program: &Program) -> Result<&Binding> {
        match self.bound.iter().find(|(_, _, access)| *access != AccessMode::Read) {
            Some((_, binding, _)) => Ok(binding),
            None => self.wrong(
                program,
                "no section is bound for writing, so the kernel would have no effect; bind one with write or update"
                    .into(),
            ),
        }
    }

    pub(super) fn resolve_domain<'c>(&'c self, program: &Program) -> Result<ResolvedDomain<'c>> {
        let first = self.first_written(program)?;
        let of_section = |section: &'c Binding, origin: Option<&Binding>| {
            let (whole, boxes, label) = (section.section, section.boxes(), &*section.label);
            let written = section.shape == first.shape;
            let space = if origin.is_some() { Space::Cells } else { Space::Separate };
            let zero = origin.unwrap_or(section).section.start;
            ResolvedDomain::Boxes { space, written, zero, whole, boxes, label }
        };
        Ok(match self.over.as_ref().map(|domain| &domain.0) {
            None => of_section(first, Some(first)),
            Some(DomainKind::Section(over)) => {
                check_binding(program, over)?;
                of_section(over, self.origin_of(over))
            }
            Some(DomainKind::Extents(Ok(extents))) => {
                let whole = Region::whole(*extents);
                let boxes = if whole.is_empty() { vec![] } else { vec![whole] };
                let zero = Index::zeros(extents.axes());
                ResolvedDomain::Boxes {
                    space: Space::Separate,
                    written: false,
                    zero,
                    whole,
                    boxes,
                    label: "the domain",
                }
            }
            Some(DomainKind::Extents(Err(problem))) => {
                return self.wrong(program, format!("it cannot run over these extents: {problem}"));
            }
            Some(DomainKind::Counted { count, max_count }) => self.counted(program, count, *max_count)?,
        })
    }

    fn counted<'c>(&self, program: &Program, count: &'c Binding, max_count: u64) -> Result<ResolvedDomain<'c>> {
        check_binding(program, count)?;
        check_device(program, &self.kernel.shared.target.device, count)?;
        let cells = count.section.cells();
        if count.element.kind != ElementKind::Scalar(Scalar::U32) || cells != 1 {
            let (label, element) = (&count.label, count.element.name);
            return self.wrong(
                program,
                format!("the count to run over must be one cell of u32, but {label} has {cells} of {element}"),
            );
        }
        match u32::try_from(max_count) {
            Ok(number) if max_count <= MAX_INVOCATIONS => Ok(ResolvedDomain::Counted { count, max_count: number }),
            _ => self.wrong(
                program,
                format!("a count of at most {max_count} invocations is not possible; at most {MAX_INVOCATIONS} are"),
            ),
        }
    }

    /// Returns the boxes of the domain in positions and numbers of invocations: one invocation per
    /// cell, or one per word if packed cells are written.
    pub(super) fn invocations<'c>(
        &self,
        program: &Program,
        order: &[Option<usize>],
        domain: ResolvedDomain<'c>,
    ) -> Result<Invocations<'c>> {
        let words = self.words(program, order)?;
        if let (Some((_, _, name)), ResolvedDomain::Boxes { written: false, .. } | ResolvedDomain::Counted { .. }) =
            (words, &domain)
        {
            return self.wrong(
                program,
                format!(
                    "`{name}` is written word by word, but the kernel does not run over its words: declare it \
                     array<atomic<u32>> and write it cell by cell, or run over a section of its index space"
                ),
            );
        }
        let (zero, whole, regions, label) = match domain {
            ResolvedDomain::Counted { count, max_count } => return Ok(Invocations::Counted { count, max_count }),
            ResolvedDomain::Boxes { zero, whole, boxes, label, .. } => (zero, whole, boxes, label),
        };
        let (step, phase) = words.map_or((1, 0), |(step, phase, _)| (step, phase));
        // In words along axis 0.
        let in_words = |region: &Region| {
            let mut region = region.translate(&(Index::zeros(zero.axes()) - zero));
            if !region.is_empty() {
                region.start[0] = (region.start[0] + phase).div_euclid(step);
                region.end[0] = (region.end[0] + phase + step - 1).div_euclid(step);
            }
            region
        };
        let first_cell = |region: &Region| {
            let mut origin = region.start;
            origin[0] = origin[0] * step - phase;
            origin
        };
        let mut cut: Vec<Region> = Vec::new();
        for region in &regions {
            let mut parts = vec![in_words(region)];
            // A word that two boxes share is run once.
            for earlier in cut.iter().filter(|_| step > 1) {
                parts = parts.iter().flat_map(|part| part.subtract(earlier)).collect();
            }
            cut.extend(parts);
        }
        let fits = |tuple: &Index| tuple.iter().all(|n| (-(1 << 30)..1 << 31).contains(n));
        let whole = in_words(&whole);
        let domain = (first_cell(&whole), whole.extents());
        let boxes: Vec<_> = cut.iter().map(|region| (first_cell(region), region.extents())).collect();
        let mut all = boxes.iter().chain(boxes.first().map(|_| &domain));
        if !all.all(|(origin, extents)| fits(origin) && fits(extents)) {
            let problem = format!("{label} is too large for 31-bit positions; cut it into more chunks");
            return Err(KernelError::Limit { kernel: program.name.clone(), problem }.into());
        }
        if boxes.len() > 1 && program.scan.words.contains("domain_workgroup") {
            let problem = format!(
                "domain_workgroup numbers the workgroups of one box, but the kernel runs over {} boxes of {label}; run over \
                 one after the other, or over plain extents",
                boxes.len()
            );
            return self.wrong(program, problem);
        }
        // Native rows along axis 0 are vectors, and a dispatch costs little.
        let separate = self.kernel.shared.target.is_native;
        let in_order = separate
            || self.over.as_ref().is_some_and(|domain| matches!(domain.0, DomainKind::Extents(_)))
            || program.scan.depends_on_workgroups();
        let (lo, extent) = domain;
        Ok(Invocations::Grid(Grid { boxes, step, lo, extent, in_order, separate }))
    }

    /// For a kernel that writes packed cells by words: returns the number of cells per word, the
    /// number of cells of the first word before the section, and the name of the array.
    fn words(&self, program: &Program, order: &[Option<usize>]) -> Result<Option<(i64, i64, &str)>> {
        let mut words: Option<(i64, i64, &str)> = None;
        for (number, bound) in order.iter().enumerate() {
            let Some(bound) = bound else { continue };
            let (name, binding, access) = &self.bound[*bound];
            let Some(packed) = binding.packed() else { continue };
            if *access == AccessMode::Read || program.scan.storage[number].atomic {
                continue;
            }
            let step = 4 / packed.bytes() as i64;
            let phase = (binding.section.start[0] - binding.storage.start[0]).rem_euclid(step);
            match words {
                Some((other_step, other_phase, other)) if (other_step, other_phase) != (step, phase) => {
                    let problem = format!(
                        "`{other}` and `{name}` are written word by word, but their words hold different cells; declare one \
                         of them array<atomic<u32>> and write it cell by cell"
                    );
                    return self.wrong(program, problem);
                }
                _ => words = Some((step, phase, name)),
            }
        }
        Ok(words)
    }
}
