//! Scans and reductions of transformed cells of distributed vectors.

use bytemuck::{bytes_of, pod_read_unaligned};
use zippy::device::Operator;
use zippy::element::Element;
use zippy::error::{CallSite, Result};

use super::check;
use crate::scan::operation::ScanOperation;
use crate::scan::over_ranks::Segments;
use crate::vectors::{IntoVector, Vector, Vectors};

impl Vectors<'_> {
    /// Transforms each cell by a WGSL expression of `x` and combines the results from first to
    /// last, on every rank; `None` without cells. Collective; see
    /// [`OnRank::transform_reduce`](crate::OnRank::transform_reduce).
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce), and an error in the expression, by its own line and column.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let x = world.array::<f32, 1>("x", &Layout::new([5]).split([Split::Auto]))?;
    /// x.fill_with(|[i]| i as f32)?;
    /// let squares = world.vectors().transform_reduce::<f32, f32>(&x, "x * x", &Operator::Add)?;
    /// assert_eq!(squares, Some(30.0));
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(3), program).unwrap();
    /// ```
    #[track_caller]
    pub fn transform_reduce<I: Element, T: Element>(
        &self,
        input: impl IntoVector<I>,
        expression: &str,
        operator: &Operator,
    ) -> Result<Option<T>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("transform_reduce");
        let all = self.transformed::<I, T>("transform_reduce", &input.into(), expression, None, None, operator)?;
        Ok(all.map(|bytes| pod_read_unaligned(&bytes)))
    }

    /// [`inclusive_scan`](Self::inclusive_scan) of cells transformed by a WGSL expression of `x`.
    /// Collective.
    ///
    /// # Errors
    /// As [`inclusive_scan`](Self::inclusive_scan), and an error in the expression.
    #[track_caller]
    pub fn transform_inclusive_scan<I: Element, T: Element>(
        &self,
        input: impl IntoVector<I>,
        expression: &str,
        output: impl IntoVector<T>,
        operator: &Operator,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("transform_inclusive_scan");
        let (input, output) = (input.into(), output.into());
        self.transformed("transform_inclusive_scan", &input, expression, Some(&output), None, operator).map(drop)
    }

    /// [`exclusive_scan`](Self::exclusive_scan) of cells transformed by a WGSL expression of `x`.
    /// Collective.
    ///
    /// # Errors
    /// As [`inclusive_scan`](Self::inclusive_scan), and an error in the expression.
    #[track_caller]
    pub fn transform_exclusive_scan<I: Element, T: Element>(
        &self,
        input: impl IntoVector<I>,
        expression: &str,
        output: impl IntoVector<T>,
        first: T,
        operator: &Operator,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("transform_exclusive_scan");
        let (input, output) = (input.into(), output.into());
        let all =
            self.transformed("transform_exclusive_scan", &input, expression, Some(&output), Some(&first), operator);
        all.map(drop)
    }

    fn transformed<I: Element, T: Element>(
        &self,
        verb: &'static str,
        input: &Vector<I>,
        expression: &str,
        output: Option<&Vector<T>>,
        first: Option<&T>,
        operator: &Operator,
    ) -> Result<Option<Vec<u8>>> {
        check(self.world(), &I::INFO, expression, &T::INFO)?;
        let transform = Some((&I::INFO, expression));
        let operation =
            ScanOperation { transform, first: first.map(bytes_of), ..ScanOperation::inclusive(operator, &T::INFO) };
        self.scanned(verb, &operation, input, output, Segments::<u32>::None)
    }
}
