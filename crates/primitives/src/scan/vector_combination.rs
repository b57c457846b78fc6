//! [`VectorCombination`]: a scan or reduction of a distributed vector, before its result is
//! requested.

use std::marker::PhantomData;
use std::rc::Rc;
use zippy::collective::CollectiveWorld;

use bytemuck::{bytes_of, pod_read_unaligned};
use zippy::device::Operator;
use zippy::element::{Element, ElementInfo};
use zippy::error::{CallSite, Result};

use super::operation::ScanOperation;
use super::over_ranks::VectorScan;
use super::segmentation::{ByFlag, ByKey, Segmentation, Whole};
use super::transform;
use crate::vectors::{IntoVector, Vector, VectorCells, Vectors};

impl<'w> Vectors<'w> {
    /// Starts a scan or reduction that combines cells from first to last with an operator. A method
    /// of the [`VectorCombination`] runs it; this call itself does nothing.
    ///
    /// See [`OnRank::combine`](crate::OnRank::combine) for operators, and
    /// [`World::sum`](zippy::World::sum) for exact sums.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let x = world.array::<u32, 1>("x", &Layout::new([10]).split([Split::Auto]))?;
    /// x.fill_with(|[i]| i as u32)?;
    /// let sums = world.vectors().combine(&x, &Operator::Add);
    /// assert_eq!(sums.clone().reduce()?, Some(45));
    /// sums.inclusive_scan(&x)?;
    /// let ticket = world.get(x.at(..))?;
    /// assert_eq!(world.fence()?.redeem(ticket)?, [0, 1, 3, 6, 10, 15, 21, 28, 36, 45]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(3), program).unwrap();
    /// ```
    pub fn combine<'a, T: Element>(&self, input: impl IntoVector<T>, operator: &'a Operator) -> VectorCombination<'a, T>
    where
        'w: 'a,
    {
        VectorCombination::new(*self, &input.into(), None, operator)
    }

    /// Starts a scan or reduction as [`combine`](Self::combine) does, of the values of a WGSL
    /// expression of the cell `x`; see [`OnRank::combine_mapped`](crate::OnRank::combine_mapped).
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let x = world.array::<f32, 1>("x", &Layout::new([5]).split([Split::Auto]))?;
    /// x.fill_with(|[i]| i as f32)?;
    /// let squares = world.vectors().combine_mapped(&x, "x * x", &Operator::Add).reduce()?;
    /// assert_eq!(squares, Some(30.0_f32));
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(3), program).unwrap();
    /// ```
    pub fn combine_mapped<'a, I: Element, T: Element>(
        &self,
        input: impl IntoVector<I>,
        expression: &'a str,
        operator: &'a Operator,
    ) -> VectorCombination<'a, T>
    where
        'w: 'a,
    {
        VectorCombination::new::<I>(*self, &input.into(), Some((&I::INFO, expression)), operator)
    }
}

/// A scan or reduction of a distributed vector to values of type `T`. Created by
/// [`Vectors::combine`].
///
/// The methods are those of [`Combination`](crate::scan::Combination); those that run the
/// combination are collective. Ranks whose operators, segments or first values differ fail.
///
/// All ranks combine their cells at the same time. Then one small message per pair of neighbouring
/// chunks on different ranks brings the value of the earlier cells, and a broadcast the combination
/// of all cells.
#[must_use = "a combination runs when its scan or reduction is called"]
#[derive(Clone)]
pub struct VectorCombination<'a, T, S = Whole> {
    vectors: Vectors<'a>,
    input: Rc<dyn VectorCells>,
    transform: Option<(&'static ElementInfo, &'a str)>,
    operator: &'a Operator,
    segments: Segmentation<Rc<dyn VectorCells>>,
    types: PhantomData<(T, S)>,
}

impl<'a, T: Element> VectorCombination<'a, T> {
    fn new<I: Element>(
        vectors: Vectors<'a>,
        input: &Vector<I>,
        transform: Option<(&'static ElementInfo, &'a str)>,
        operator: &'a Operator,
    ) -> Self {
        let input = Rc::new(input.clone());
        Self { vectors, input, transform, operator, segments: Segmentation::Whole, types: PhantomData }
    }

    /// Cuts the cells into segments: one begins at each flag that is not 0, and at the first cell.
    pub fn by_flag(self, flags: impl IntoVector<u32>) -> VectorCombination<'a, T, ByFlag> {
        self.cut(Segmentation::Flags(Rc::new(flags.into())))
    }

    /// Cuts the cells into segments of equal consecutive keys. Keys are equal if all their bits
    /// are.
    pub fn by_key<K: Element>(self, keys: impl IntoVector<K>) -> VectorCombination<'a, T, ByKey<K>> {
        self.cut(Segmentation::Keys(Rc::new(keys.into())))
    }

    /// Reduces all cells from first to last, with the result on every rank; `None` without cells.
    /// Collective.
    ///
    /// # Errors
    /// An operator that the element type does not support, an error in its WGSL, an invalid
    /// section, a failure of any rank.
    #[track_caller]
    pub fn reduce(self) -> Result<Option<T>> {
        let _call = CallSite::enter();
        let _operation = self.vectors.world().enter_operation("reduce");
        let all = self.run("reduce", None, None)?;
        Ok(all.map(|bytes| pod_read_unaligned(&bytes)))
    }
}

impl<'a, T: Element, S> VectorCombination<'a, T, S> {
    /// Returns the same combination with other segments.
    pub(crate) fn cut<R>(&self, segments: Segmentation<Rc<dyn VectorCells>>) -> VectorCombination<'a, T, R> {
        let Self { vectors, transform, operator, .. } = *self;
        VectorCombination { vectors, input: self.input.clone(), transform, operator, segments, types: PhantomData }
    }

    /// Inclusive scan: sets cell *i* of the output to the combination of cells 0 to *i* of the
    /// input, or of those in the same segment, in order. Collective.
    ///
    /// The vectors have the same length and any cuts and owners; the output may be the input. If
    /// the result depends on the association (floating-point numbers, custom operators), the
    /// association depends only on indices: see [`scan`](crate::scan). Such a vector
    /// should be cut at multiples of 2,048 cells; otherwise it is copied first. Outputs should be
    /// cut like inputs.
    ///
    /// # Errors
    /// As [`reduce`](VectorCombination::reduce), and different lengths.
    #[track_caller]
    pub fn inclusive_scan(self, output: impl IntoVector<T>) -> Result<()> {
        let _call = CallSite::enter();
        let verb = self.segments.scan_verb(false);
        let _operation = self.vectors.world().enter_operation(verb);
        self.run(verb, None, Some(&output.into())).map(drop)
    }

    /// Exclusive scan: sets cell *i* of the output to the combination of `first` and the cells
    /// before *i* of the input, or of those in the same segment, in order. Collective, as
    /// [`inclusive_scan`](Self::inclusive_scan).
    ///
    /// # Errors
    /// As [`inclusive_scan`](Self::inclusive_scan).
    #[track_caller]
    pub fn exclusive_scan(self, output: impl IntoVector<T>, first: T) -> Result<()> {
        let _call = CallSite::enter();
        let verb = self.segments.scan_verb(true);
        let _operation = self.vectors.world().enter_operation(verb);
        self.run(verb, Some(&first), Some(&output.into())).map(drop)
    }

    fn run(&self, verb: &'static str, first: Option<&T>, output: Option<&Vector<T>>) -> Result<Option<Vec<u8>>> {
        if let Some((element, expression)) = self.transform {
            transform::check(self.vectors.world(), element, expression, &T::INFO)?;
        }
        let (operator, transform) = (self.operator, self.transform);
        let operation = ScanOperation { operator, element: &T::INFO, first: first.map(bytes_of), transform };
        let output = output.map(|output| output as &dyn VectorCells);
        let scan = VectorScan {
            verb,
            operation: &operation,
            input: &*self.input,
            segments: self.segments.map(|cells| &**cells),
            output,
        };
        scan.run(&self.vectors)
    }

    pub(crate) fn vectors(&self) -> Vectors<'a> {
        self.vectors
    }

    pub(crate) fn input(&self) -> &dyn VectorCells {
        &*self.input
    }

    pub(crate) fn operator(&self) -> &'a Operator {
        self.operator
    }

    pub(crate) fn segment_cells(&self) -> &dyn VectorCells {
        &**self.segments.cells().expect("flags or keys")
    }
}
