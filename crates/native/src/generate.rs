//! Generation of machine code by Cranelift, for the host's processor or another one.

use cranelift_codegen::binemit::CodeOffset;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{Function, UserFuncName};
use cranelift_codegen::isa::{self, Builder, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, FinalizedMachReloc};

use crate::emit::{self, Borders};
use crate::error::Error;
use crate::interior::Interior;
use crate::ir::Kernel;
use crate::regions::{GroupShapes, Regions};
use crate::shape::Shapes;

/// Minimum number of instructions of a function with single-pass register allocation, for rows
/// without an interior. Backtracking allocation takes quadratic time in this number, and makes
/// functions of this size two to three times as fast.
const ONE_PASS_INSTRUCTIONS: usize = 6000;
/// [`ONE_PASS_INSTRUCTIONS`] for interiors of rows, which run most invocations.
const ONE_PASS_INTERIOR_INSTRUCTIONS: usize = 8000;
/// [`ONE_PASS_INSTRUCTIONS`] for the few invocations outside the interior.
const ONE_PASS_BORDER_INSTRUCTIONS: usize = 2000;

pub(crate) struct CodeGenerator {
    /// Instruction set with backtracking register allocation.
    isa: OwnedTargetIsa,
    /// Instruction set with single-pass register allocation.
    one_pass: OwnedTargetIsa,
}

/// Maximum stack frames of a call of generated code, in bytes.
pub const MAX_STACK_BYTES: usize = 15 << 20;
const FRAME_SETUP_BYTES: usize = 16;

pub(crate) struct GeneratedFunction {
    pub function: Function,
    pub code: Vec<u8>,
    pub frame_bytes: usize,
    pub alignment: u64,
    pub relocations: Vec<FinalizedMachReloc>,
}

pub(crate) struct GeneratedRegion {
    pub row: GeneratedFunction,
    /// Functions for the invocations outside the interior of `row`, by the constants of
    /// [`Borders`].
    pub borders: [Option<GeneratedFunction>; Borders::COUNT],
}

impl GeneratedRegion {
    /// Stack frames of the deepest chain of calls, in bytes: `row` calls the function of the outer
    /// interior, and both call the other border functions.
    pub(crate) fn stack_bytes(&self) -> usize {
        let bytes = |border: usize| self.borders[border].as_ref().map_or(0, |border| border.frame_bytes);
        let innermost = bytes(Borders::ROW).max(bytes(Borders::SINGLE));
        self.row.frame_bytes + bytes(Borders::OUTER_INTERIOR) + innermost
    }
}

impl CodeGenerator {
    pub(crate) fn for_host() -> Result<Self, Error> {
        Self::new(|| cranelift_native::builder().map_err(|error| Error::Generator(error.to_owned())))
    }

    /// Generator for the processors of a target, such as `aarch64-unknown-linux-gnu`.
    pub(crate) fn for_target(target: &str) -> Result<Self, Error> {
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
                // Large frames touch each page, so that a stack overflow is detected.
                ("enable_probestack", "true"),
                ("probestack_strategy", "inline"),
            ] {
                flags.set(name, value).map_err(|error| Error::Generator(error.to_string()))?;
            }
            builder()?.finish(settings::Flags::new(flags)).map_err(|error| Error::Generator(error.to_string()))
        };
        Ok(Self { isa: isa("backtracking")?, one_pass: isa("single_pass")? })
    }

    pub(crate) fn isa(&self) -> &OwnedTargetIsa {
        &self.isa
    }

    /// Generates the functions of each region. Regions with shapes use vectors, unless only scalar
    /// code has small enough stack frames.
    ///
    /// [`Error::Generator`] if the processor or the system refuses the code, [`Error::Stack`] for
    /// stack frames of scalar code above `most_stack` bytes.
    pub(crate) fn generate(&self, regions: &Regions, most_stack: usize) -> Result<Vec<GeneratedRegion>, Error> {
        let frontend = self.isa.frontend_config();
        let mut number = 0;
        let mut function = |one_pass: usize, emit: &dyn Fn(&mut Function)| {
            number += 1;
            self.function(UserFuncName::user(0, number), one_pass, emit)
        };
        let mut generate = |kernel: &Kernel, groups: Option<&GroupShapes>| -> Result<GeneratedRegion, Error> {
            let interiors = groups.map_or(&[][..], |groups| &groups.interiors);
            let shapes = groups.map(|groups| &groups.shapes);
            let all = |function: &mut Function| emit::emit_rows(kernel, shapes, regions.frames, function, frontend);
            let Some((inner, outer)) = interiors.split_first() else {
                return Ok(GeneratedRegion {
                    row: function(ONE_PASS_INSTRUCTIONS, &all)?,
                    borders: [const { None }; _],
                });
            };
            let border = function(ONE_PASS_BORDER_INSTRUCTIONS, &all)?;
            // The values that Cranelift hoists out of the loops of a large function cost more than
            // a call.
            let has_single = border.function.dfg.num_insts() > ONE_PASS_BORDER_INSTRUCTIONS;
            let single = |function: &mut Function| emit::emit_invocation(kernel, regions.frames, function, frontend);
            let single = has_single.then(|| function(ONE_PASS_INSTRUCTIONS, &single)).transpose()?;
            let mut interior = |(interior, shapes): &(Interior, Shapes), has_outer_interior| {
                let borders = Borders { has_outer_interior, has_single };
                let emit = |function: &mut Function| {
                    emit::emit_interior_rows(interior, shapes, regions.frames, borders, function, frontend);
                };
                function(ONE_PASS_INTERIOR_INSTRUCTIONS, &emit)
            };
            let outer = outer.first().map(|outer| interior(outer, false)).transpose()?;
            let row = interior(inner, outer.is_some())?;
            Ok(GeneratedRegion { row, borders: [Some(border), outer, single] })
        };
        let region = |(kernel, groups): (&Kernel, &Option<GroupShapes>)| {
            let mut region = generate(kernel, groups.as_ref())?;
            if region.stack_bytes() > most_stack && groups.is_some() {
                region = generate(kernel, None)?;
            }
            match region.stack_bytes() {
                bytes if bytes > most_stack => Err(Error::Stack { bytes, most: most_stack }),
                _ => Ok(region),
            }
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
        let layout = compiled.buffer.frame_layout();
        let frame_bytes = layout.map_or(0, |layout| layout.frame_to_fp_offset as usize) + FRAME_SETUP_BYTES;
        Ok(GeneratedFunction { function: context.func, code, frame_bytes, alignment, relocations })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower;
    use crate::regions::Vectorization;

    fn regions_of_values(values: usize) -> Regions {
        let loads: String = (0..values).map(|number| format!("let v{number} = cells[id.x * {number}u];\n")).collect();
        let stores: String = (0..values).map(|number| format!("cells[id.x + {number}u] = v{number};\n")).collect();
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> cells: array<f32>;
            @compute @workgroup_size(8)
            fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ {loads} {stores} }}"
        );
        let module = naga::front::wgsl::parse_str(&text).unwrap();
        let flags = naga::valid::ValidationFlags::all();
        let info = naga::valid::Validator::new(flags, naga::valid::Capabilities::all()).validate(&module).unwrap();
        Regions::new(&mut lower::lower(&module, &info, "main").unwrap(), Vectorization::Use)
    }

    fn stack_bytes(regions: &Regions, most: usize) -> Result<usize, Error> {
        let generated = CodeGenerator::for_host()?.generate(regions, most)?;
        Ok(generated.iter().map(GeneratedRegion::stack_bytes).sum())
    }

    #[test]
    fn stack_above_the_limit_means_scalar_code_and_then_an_error() {
        let mut regions = regions_of_values(300);
        let vector = stack_bytes(&regions, MAX_STACK_BYTES).unwrap();
        // Two registers of 16 bytes for each value.
        assert!(vector > 300 * 32, "{vector}");
        assert_eq!(stack_bytes(&regions, vector), Ok(vector));
        let scalar = stack_bytes(&regions, vector - 1).unwrap();
        assert!(scalar < vector, "{scalar}, {vector}");
        assert_eq!(stack_bytes(&regions, scalar), Ok(scalar));
        let error = Error::Stack { bytes: scalar, most: scalar - 1 };
        assert_eq!(stack_bytes(&regions, scalar - 1), Err(error.clone()));
        assert!(error.to_string().contains(&format!("need {scalar} bytes of a thread's stack")), "{error}");
        regions.groups = vec![None];
        assert_eq!(stack_bytes(&regions, scalar), Ok(scalar));
    }
}
