//! Generation of machine code by Cranelift, for the host's processor or another one.

use cranelift_codegen::binemit::CodeOffset;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{Function, UserFuncName};
use cranelift_codegen::isa::{self, Builder, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, FinalizedMachReloc};

use crate::emit;
use crate::error::Error;
use crate::ir::Kernel;
use crate::regions::{GroupShapes, Regions};

/// Number of instructions from which on a function gets single-pass register allocation, for rows
/// without an interior. Backtracking allocation takes time in proportion to the square of this
/// number, and makes functions of this size two to three times as fast.
const ONE_PASS_INSTRUCTIONS: usize = 6000;
/// As [`ONE_PASS_INSTRUCTIONS`], for interiors of rows: most invocations run in these functions.
const ONE_PASS_INTERIOR_INSTRUCTIONS: usize = 8000;
/// As [`ONE_PASS_INSTRUCTIONS`], for invocations outside the interior: few invocations run in these
/// functions.
const ONE_PASS_BORDER_INSTRUCTIONS: usize = 2000;

/// Code generator for a processor.
pub struct CodeGenerator {
    /// With backtracking register allocation.
    isa: OwnedTargetIsa,
    /// With single-pass register allocation.
    one_pass: OwnedTargetIsa,
}

/// Machine code of a function before it has an address.
pub struct GeneratedFunction {
    pub function: Function,
    pub code: Vec<u8>,
    /// Alignment in bytes.
    pub alignment: u64,
    pub relocations: Vec<FinalizedMachReloc>,
}

/// Functions of a region.
pub struct GeneratedRegion {
    /// Runs a row.
    pub row: GeneratedFunction,
    /// Runs the invocations outside the interior; `None` where `row` has no interior.
    pub border: Option<GeneratedFunction>,
}

impl CodeGenerator {
    /// Makes a generator for the processor of the host.
    pub fn for_host() -> Result<Self, Error> {
        Self::new(|| cranelift_native::builder().map_err(|error| Error::Generator(error.to_owned())))
    }

    /// Makes a generator for the processors of a target, such as `aarch64-unknown-linux-gnu`.
    pub fn for_target(target: &str) -> Result<Self, Error> {
        Self::new(|| isa::lookup_by_name(target).map_err(|error| Error::Generator(error.to_string())))
    }

    fn new(builder: impl Fn() -> Result<Builder, Error>) -> Result<Self, Error> {
        let isa = |allocation| {
            let mut flags = settings::builder();
            for (name, value) in [
                ("opt_level", "speed"),
                ("regalloc_algorithm", allocation),
                ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
                ("is_pic", "false"),
                // Large frames touch each page, so that the end of the stack is met and not passed.
                ("enable_probestack", "true"),
                ("probestack_strategy", "inline"),
            ] {
                flags.set(name, value).map_err(|error| Error::Generator(error.to_string()))?;
            }
            builder()?.finish(settings::Flags::new(flags)).map_err(|error| Error::Generator(error.to_string()))
        };
        Ok(Self { isa: isa("backtracking")?, one_pass: isa("single_pass")? })
    }

    /// Returns the instruction set.
    pub fn isa(&self) -> &OwnedTargetIsa {
        &self.isa
    }

    /// Generates the functions of each region. Regions with shapes use vectors.
    pub fn generate(&self, regions: &Regions) -> Result<Vec<GeneratedRegion>, Error> {
        let frontend = self.isa.frontend_config();
        let mut number = 0;
        let mut function = |one_pass: usize, emit: &dyn Fn(&mut Function)| {
            number += 1;
            self.function(UserFuncName::user(0, number), one_pass, emit)
        };
        let region = |(kernel, groups): (&Kernel, &Option<GroupShapes>)| {
            let groups = groups.as_ref();
            let interior = groups.and_then(|groups| groups.interior.as_ref());
            let shapes = groups.map(|groups| &groups.shapes);
            let all = |function: &mut Function| emit::emit_rows(kernel, shapes, regions.frames, function, frontend);
            let Some((interior, shapes)) = interior else {
                return Ok(GeneratedRegion { row: function(ONE_PASS_INSTRUCTIONS, &all)?, border: None });
            };
            let border = function(ONE_PASS_BORDER_INSTRUCTIONS, &all)?;
            let emit = |function: &mut Function| {
                emit::emit_interior_rows(interior, shapes, regions.frames, function, frontend);
            };
            Ok(GeneratedRegion { row: function(ONE_PASS_INTERIOR_INSTRUCTIONS, &emit)?, border: Some(border) })
        };
        regions.kernels.iter().zip(&regions.groups).map(region).collect()
    }

    fn function(
        &self,
        name: UserFuncName,
        one_pass: usize,
        emit: &dyn Fn(&mut Function),
    ) -> Result<GeneratedFunction, Error> {
        let mut context = Context::new();
        context.func.signature = emit::signature(self.isa.default_call_conv());
        context.func.name = name;
        emit(&mut context.func);
        let isa = if context.func.dfg.num_insts() > one_pass { &self.one_pass } else { &self.isa };
        let compiled = context
            .compile(&**isa, &mut ControlPlane::default())
            .map_err(|error| Error::Generator(format!("{:?}", error.inner)))?;
        let (code, alignment) = (compiled.code_buffer().to_vec(), CodeOffset::from(compiled.buffer.alignment).into());
        let relocations = compiled.buffer.relocs().to_vec();
        Ok(GeneratedFunction { function: context.func, code, alignment, relocations })
    }
}
