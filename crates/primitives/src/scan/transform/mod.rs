//! Scans and reductions of transformed cells, without a separate pass for the transformation.

mod over_ranks;

use bytemuck::{bytes_of, pod_read_unaligned};
use zippy::World;
use zippy::array::{IntoSequence, Sequence};
use zippy::device::Operator;
use zippy::element::{Element, ElementInfo, ElementKind};
use zippy::error::{CallSite, ErrorKind, KernelError, Result};
use zippy::kernel::{Kernel, KernelSource};

use super::operation::ScanOperation;
use super::run;
use crate::heads::Heads;
use crate::on_rank::OnRank;

impl OnRank<'_> {
    /// Transforms each cell by a WGSL expression of `x` and combines the results from left to
    /// right; `None` without cells. Local; waits for the device. Runs as a kernel, also on software
    /// adapters.
    ///
    /// Cells of 8 and 16 bits are `u32` or `i32` in the expression. See [`reduce`](Self::reduce)
    /// for operators.
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce), and an error in the expression, by its own line and column.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let bytes = world.local_array::<u8, 1>("bytes", &Layout::new([4]))?;
    /// bytes.all().write(&[3, 200, 7, 250])?;
    /// let squares = world.on_rank().transform_reduce::<u8, u32>(&bytes, "x * x", &Operator::Add)?;
    /// assert_eq!(squares, Some(9 + 40_000 + 49 + 62_500));
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(1), program).unwrap();
    /// ```
    #[track_caller]
    pub fn transform_reduce<I: Element, T: Element>(
        &self,
        input: impl IntoSequence<I>,
        expression: &str,
        operator: &Operator,
    ) -> Result<Option<T>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("transform_reduce");
        check(self.world(), &I::INFO, expression, &T::INFO)?;
        let operation =
            ScanOperation { transform: Some((&I::INFO, expression)), ..ScanOperation::inclusive(operator, &T::INFO) };
        let all = run(self.world(), &operation, input.into().cells()?, Heads::None, None)?;
        Ok(all.item.map(|item| pod_read_unaligned(&item.value)))
    }

    /// [`inclusive_scan`](Self::inclusive_scan) of cells transformed by a WGSL expression of `x`.
    /// Local, as [`transform_reduce`](Self::transform_reduce).
    ///
    /// # Errors
    /// As [`inclusive_scan`](Self::inclusive_scan), and an error in the expression.
    #[track_caller]
    pub fn transform_inclusive_scan<I: Element, T: Element>(
        &self,
        input: impl IntoSequence<I>,
        expression: &str,
        output: impl IntoSequence<T>,
        operator: &Operator,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("transform_inclusive_scan");
        self.transformed(&input.into(), expression, &output.into(), None, operator)
    }

    /// [`exclusive_scan`](Self::exclusive_scan) of cells transformed by a WGSL expression of `x`.
    /// Local, as [`transform_reduce`](Self::transform_reduce).
    ///
    /// # Errors
    /// As [`inclusive_scan`](Self::inclusive_scan), and an error in the expression.
    #[track_caller]
    pub fn transform_exclusive_scan<I: Element, T: Element>(
        &self,
        input: impl IntoSequence<I>,
        expression: &str,
        output: impl IntoSequence<T>,
        first: T,
        operator: &Operator,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("transform_exclusive_scan");
        self.transformed(&input.into(), expression, &output.into(), Some(&first), operator)
    }

    fn transformed<I: Element, T: Element>(
        &self,
        input: &Sequence<I>,
        expression: &str,
        output: &Sequence<T>,
        first: Option<&T>,
        operator: &Operator,
    ) -> Result<()> {
        let (input, output) = (input.cells()?, output.cells()?);
        input.check_length(output, "the output")?;
        check(self.world(), &I::INFO, expression, &T::INFO)?;
        let transform = Some((&I::INFO, expression));
        let operation =
            ScanOperation { transform, first: first.map(bytes_of), ..ScanOperation::inclusive(operator, &T::INFO) };
        run(self.world(), &operation, input, Heads::None, Some(output)).map(drop)
    }
}

/// The WGSL type of a cell in an expression.
pub(super) fn value_type(element: &ElementInfo) -> &'static str {
    match element.kind {
        ElementKind::Packed(packed) if packed.is_signed() => "i32",
        ElementKind::Packed(_) => "u32",
        _ => element.name,
    }
}

/// Fails unless an expression converts one type to the other. Checks the expression separately, so
/// that errors have its own line numbers.
fn check(world: &World, from: &'static ElementInfo, expression: &str, to: &'static ElementInfo) -> Result<()> {
    let mut records = from.declarations();
    if from != to {
        records += &to.declarations();
    }
    let (x, result) = (value_type(from), value_type(to));
    if let ElementKind::Packed(_) = to.kind {
        let problem = format!("a transform to cells of {} is not possible; make u32 or i32 of them", to.name);
        return Err(KernelError::Other(problem).into());
    }
    let before = format!("{records}fn zippy_transform(x: {x}) -> {result} {{ return (\n");
    let text = format!("{before}{expression}\n); }}\n@compute @workgroup_size(1)\nfn zippy_main() {{}}\n");
    let name = format!("transform {expression:?}");
    let lines = before.matches('\n').count();
    let Err(error) = Kernel::new(world.gpu(), &KernelSource::composed(&name, text)) else { return Ok(()) };
    match error.kind().clone() {
        ErrorKind::Kernel(KernelError::Wgsl { line, column, message, excerpt, .. })
            if line > lines && line <= lines + 1 + expression.matches('\n').count() =>
        {
            let excerpt = excerpt.replacen(&format!("\n{line} | "), &format!("\n{} | ", line - lines), 1);
            Err(KernelError::Wgsl { file: name, line: line - lines, column, message, excerpt }.into())
        }
        ErrorKind::Kernel(KernelError::Wgsl { message, .. }) => {
            Err(KernelSource::text(name, expression).ends_early(&message).into())
        }
        _ => Err(error),
    }
}
