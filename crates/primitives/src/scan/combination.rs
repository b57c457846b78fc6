//! [`Combination`]: a scan or reduction of cells of one rank, before its result is requested.

use std::marker::PhantomData;

use bytemuck::{bytes_of, pod_read_unaligned};
use zippy::World;
use zippy::array::IntoSequence;
use zippy::collective::{CellSequence, CollectiveWorld};
use zippy::device::Operator;
use zippy::element::{Element, ElementInfo};
use zippy::error::{CallSite, Result};

use super::operation::{Carry, ScanOperation};
use super::segmentation::{ByFlag, ByKey, Segmentation, Whole};
use super::{run, transform};
use crate::heads::Heads;
use crate::on_rank::OnRank;

impl<'w> OnRank<'w> {
    /// Starts a scan or reduction that combines cells from left to right with an operator. A method
    /// of the [`Combination`] runs it, on the cells that the input has now: cells that a growable
    /// array gets in between are not combined.
    ///
    /// The operator must be associative, and need not be commutative: it is called as
    /// `operator(left, right)`. For exact sums over all ranks, see
    /// [`World::sum`](zippy::World::sum).
    ///
    /// ```
    /// # use zippy::{Layout, Operator, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let cells = world.local_array::<u32, 1>("cells", &Layout::new([5]))?;
    /// cells.all().write(&[3, 1, 4, 1, 5])?;
    /// assert_eq!(world.on_rank().combine(&cells, &Operator::Add).reduce()?, Some(14));
    /// // Two by two matrices, as an operator that does not commute: the text is WGSL.
    /// let product = Operator::custom("product", "fn combine(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    ///     return vec4(a.x * b.x + a.y * b.z, a.x * b.y + a.y * b.w, a.z * b.x + a.w * b.z, a.z * b.y + a.w * b.w);
    /// }");
    /// let steps = world.local_array::<[u32; 4], 1>("steps", &Layout::new([10]))?;
    /// steps.all().fill([1, 1, 1, 0])?;
    /// let power = world.on_rank().combine(&steps, &product).reduce()?;
    /// assert_eq!(power, Some([89, 55, 55, 34]), "numbers of Fibonacci");
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(1), program).unwrap();
    /// ```
    #[track_caller]
    pub fn combine<'a, T: Element>(&self, input: impl IntoSequence<T>, operator: &'a Operator) -> Combination<'a, T>
    where
        'w: 'a,
    {
        let _call = CallSite::enter();
        Combination::new(self.world(), input, None, operator)
    }

    /// Starts a scan or reduction as [`combine`](Self::combine) does, of the values of a WGSL
    /// expression of the cell `x`, without a separate pass. Runs as a kernel, also on software
    /// adapters.
    ///
    /// Cells of 8 and 16 bits are `u32` or `i32` in the expression. An error in the expression is
    /// returned with its own line and column by the method that runs the combination.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let bytes = world.local_array::<u8, 1>("bytes", &Layout::new([4]))?;
    /// bytes.all().write(&[3, 200, 7, 250])?;
    /// let squares = world.on_rank().combine_mapped(&bytes, "x * x", &Operator::Add);
    /// assert_eq!(squares.reduce()?, Some(9_u32 + 40_000 + 49 + 62_500));
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(1), program).unwrap();
    /// ```
    #[track_caller]
    pub fn combine_mapped<'a, I: Element, T: Element>(
        &self,
        input: impl IntoSequence<I>,
        expression: &'a str,
        operator: &'a Operator,
    ) -> Combination<'a, T>
    where
        'w: 'a,
    {
        let _call = CallSite::enter();
        Combination::new::<I>(self.world(), input, Some((&I::INFO, expression)), operator)
    }
}

/// A scan or reduction of cells of this rank to values of type `T`. Created by [`OnRank::combine`].
///
/// [`by_flag`](Self::by_flag) and [`by_key`](Self::by_key) cut the cells into segments, which are
/// combined separately. One of these methods then runs the combination, which is local:
///
/// * [`inclusive_scan`](Self::inclusive_scan) and [`exclusive_scan`](Self::exclusive_scan) write a
///   value for each cell.
/// * [`reduce`](Self::reduce) returns the combination of all cells.
/// * [`reduce_segments`](Self::reduce_segments) and [`reduce_runs`](Self::reduce_runs) write a
///   value for each segment.
#[must_use = "a combination runs when its scan or reduction is called"]
#[derive(Clone)]
pub struct Combination<'a, T, S = Whole> {
    world: &'a World,
    input: Result<CellSequence>,
    transform: Option<(&'static ElementInfo, &'a str)>,
    operator: &'a Operator,
    heads: Segmentation<Result<CellSequence>>,
    types: PhantomData<(T, S)>,
}

impl<'a, T: Element> Combination<'a, T> {
    fn new<I: Element>(
        world: &'a World,
        input: impl IntoSequence<I>,
        transform: Option<(&'static ElementInfo, &'a str)>,
        operator: &'a Operator,
    ) -> Self {
        let input = input.into().cells().cloned();
        Self { world, input, transform, operator, heads: Segmentation::Whole, types: PhantomData }
    }

    /// Cuts the cells into segments: one begins at each flag that is not 0, and at the first cell.
    #[track_caller]
    pub fn by_flag(self, flags: impl IntoSequence<u32>) -> Combination<'a, T, ByFlag> {
        let _call = CallSite::enter();
        self.cut(Segmentation::Flags(flags.into().cells().cloned()))
    }

    /// Cuts the cells into segments of equal consecutive keys. Keys are equal if all their bits
    /// are.
    #[track_caller]
    pub fn by_key<K: Element>(self, keys: impl IntoSequence<K>) -> Combination<'a, T, ByKey<K>> {
        let _call = CallSite::enter();
        self.cut(Segmentation::Keys(keys.into().cells().cloned()))
    }

    fn cut<S>(self, heads: Segmentation<Result<CellSequence>>) -> Combination<'a, T, S> {
        let Self { world, input, transform, operator, .. } = self;
        Combination { world, input, transform, operator, heads, types: PhantomData }
    }

    /// Reduces all cells from left to right: `operator(operator(a, b), c)`; `None` without cells.
    /// Local; waits for the device.
    ///
    /// # Errors
    /// An operator that the element type does not support, an error in its WGSL, an invalid
    /// section, a device failure.
    #[track_caller]
    pub fn reduce(self) -> Result<Option<T>> {
        let _call = CallSite::enter();
        let _operation = self.world.enter_operation("reduce");
        let all = self.run(None, None)?;
        Ok(all.item.map(|item| pod_read_unaligned(&item.value)))
    }
}

impl<T: Element, S> Combination<'_, T, S> {
    /// Inclusive scan: sets cell *i* of the output to the combination of cells 0 to *i* of the
    /// input, or of those in the same segment, from left to right. Local; returns when the work is
    /// queued or done.
    ///
    /// The output is the input itself or does not overlap it.
    ///
    /// # Errors
    /// As [`reduce`](Combination::reduce), and different lengths.
    #[track_caller]
    pub fn inclusive_scan(self, output: impl IntoSequence<T>) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world.enter_operation(self.heads.scan_verb(false));
        self.run(None, Some(output.into().cells()?)).map(drop)
    }

    /// Exclusive scan: sets cell *i* of the output to the combination of `first` and the cells
    /// before *i* of the input, or of those in the same segment, from left to right. Local, as
    /// [`inclusive_scan`](Self::inclusive_scan).
    ///
    /// # Errors
    /// As [`inclusive_scan`](Self::inclusive_scan).
    ///
    /// ```
    /// # use zippy::{Layout, Operator, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let counts = world.local_array::<u32, 1>("counts", &Layout::new([5]))?;
    /// counts.all().write(&[3, 1, 4, 1, 5])?;
    /// let flags = world.local_array::<u32, 1>("flags", &Layout::new([5]))?;
    /// flags.all().write(&[0, 0, 1, 0, 0])?;
    /// let starts = world.local_array::<u32, 1>("starts", &Layout::new([5]))?;
    /// world.on_rank().combine(&counts, &Operator::Add).exclusive_scan(&starts, 0)?;
    /// assert_eq!(starts.all().read()?, [0, 3, 4, 8, 9]);
    /// let segments = world.on_rank().combine(&counts, &Operator::Add).by_flag(&flags);
    /// segments.exclusive_scan(&starts, 0)?;
    /// assert_eq!(starts.all().read()?, [0, 3, 0, 4, 5]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(1), program).unwrap();
    /// ```
    #[track_caller]
    pub fn exclusive_scan(self, output: impl IntoSequence<T>, first: T) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world.enter_operation(self.heads.scan_verb(true));
        self.run(Some(&first), Some(output.into().cells()?)).map(drop)
    }

    fn run(&self, first: Option<&T>, output: Option<&CellSequence>) -> Result<Carry> {
        let input = self.input()?;
        output.map_or(Ok(()), |output| input.check_length(output, "the output"))?;
        let operation = self.operation(first)?;
        run(self.world, &operation, input, self.heads()?, output)
    }

    pub(crate) fn world(&self) -> &World {
        self.world
    }

    pub(crate) fn input(&self) -> Result<&CellSequence> {
        self.input.as_ref().map_err(Clone::clone)
    }

    /// Returns the scan without its static types, after a check of the transform.
    pub(crate) fn operation<'s>(&'s self, first: Option<&'s T>) -> Result<ScanOperation<'s>> {
        if let Some((element, expression)) = self.transform {
            transform::check(self.world, element, expression, &T::INFO)?;
        }
        let first = first.map(bytes_of);
        Ok(ScanOperation { operator: self.operator, element: &T::INFO, first, transform: self.transform })
    }

    /// Returns the flags or keys that define the segments.
    ///
    /// # Panics
    /// The cells are not cut into segments.
    pub(crate) fn segment_cells(&self) -> Result<&CellSequence> {
        let cells = self.heads.cells().expect("flags or keys");
        cells.as_ref().map_err(Clone::clone)
    }

    fn heads(&self) -> Result<Heads<'_>> {
        Ok(match self.heads.valid()? {
            Segmentation::Whole => Heads::None,
            Segmentation::Flags(flags) => Heads::Flags(flags),
            Segmentation::Keys(keys) => Heads::Keys(keys),
        })
    }
}
