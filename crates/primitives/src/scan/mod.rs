//! Scans and reductions with any associative operator, on one rank.
//!
//! Cells are combined in order. If the result depends on the association (floating-point numbers,
//! custom operators), the association depends only on the positions of the cells: the sequence is
//! cut into blocks of 2,048 cells and these into runs of 16; runs are combined from the left, the
//! runs of a block by a binary tree, and blocks from the left.

mod association;
mod host;
mod kernels;
mod operation;
mod over_ranks;
mod steps;
mod transform;

use bytemuck::{bytes_of, pod_read_unaligned};
use zippy::World;
use zippy::array::{IntoSequence, Sequence};
use zippy::collective::CellSequence;
use zippy::device::Operator;
use zippy::element::Element;
use zippy::error::{CallSite, Result};

pub(super) use self::association::BLOCK;
pub(super) use self::host::scan as scan_on_host;
use self::kernels::Blocks;
pub(super) use self::operation::{Carry, ScanOperation};
use super::heads::Heads;
use super::on_rank::OnRank;

impl OnRank<'_> {
    /// Combines all cells from left to right: `operator(operator(a, b), c)`; `None` without cells.
    /// Local; waits for the device.
    ///
    /// The operator must be associative, and need not be commutative; it is called as
    /// `operator(left, right)`. For exact sums over all ranks, see
    /// [`World::sum`](zippy::World::sum).
    ///
    /// # Errors
    /// An operator that the element type does not support, an error in its WGSL, an invalid
    /// section, a device failure.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let cells = world.local_array::<u32, 1>("cells", &Layout::new([5]))?;
    /// cells.all().write(&[3, 1, 4, 1, 5])?;
    /// assert_eq!(world.on_rank().reduce(&cells, &Operator::Add)?, Some(14));
    /// // Two by two matrices, as an operator that does not commute: the text is WGSL.
    /// let product = Operator::custom("product", "fn combine(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    ///     return vec4(a.x * b.x + a.y * b.z, a.x * b.y + a.y * b.w, a.z * b.x + a.w * b.z, a.z * b.y + a.w * b.w);
    /// }");
    /// let steps = world.local_array::<[u32; 4], 1>("steps", &Layout::new([10]))?;
    /// steps.all().fill([1, 1, 1, 0])?;
    /// assert_eq!(world.on_rank().reduce(&steps, &product)?, Some([89, 55, 55, 34]), "numbers of Fibonacci");
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(1), program).unwrap();
    /// ```
    #[track_caller]
    pub fn reduce<T: Element>(&self, input: impl IntoSequence<T>, operator: &Operator) -> Result<Option<T>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("reduce");
        let operation = ScanOperation::inclusive(operator, &T::INFO);
        let all = run(self.world(), &operation, input.into().cells()?, Heads::None, None)?;
        Ok(all.item.map(|item| pod_read_unaligned(&item.value)))
    }

    /// Inclusive scan: sets cell *i* of the output to the combination of cells 0 to *i* of the
    /// input, from left to right. Local; returns when the work is queued or done.
    ///
    /// The output is the input itself or does not overlap it. See [`reduce`](Self::reduce) for
    /// operators.
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce), and different lengths.
    #[track_caller]
    pub fn inclusive_scan<T: Element>(
        &self,
        input: impl IntoSequence<T>,
        output: impl IntoSequence<T>,
        operator: &Operator,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("inclusive_scan");
        self.scanned(operator, None, (&input.into(), &output.into()), Heads::None)
    }

    /// Exclusive scan: sets cell *i* of the output to the combination of `first` and the cells
    /// before *i* of the input, from left to right. Local, as
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
    /// world.on_rank().exclusive_scan(&counts, &counts, 0, &Operator::Add)?;
    /// assert_eq!(counts.all().read()?, [0, 3, 4, 8, 9]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(1), program).unwrap();
    /// ```
    #[track_caller]
    pub fn exclusive_scan<T: Element>(
        &self,
        input: impl IntoSequence<T>,
        output: impl IntoSequence<T>,
        first: T,
        operator: &Operator,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("exclusive_scan");
        self.scanned(operator, Some(&first), (&input.into(), &output.into()), Heads::None)
    }

    /// [`inclusive_scan`](Self::inclusive_scan) of each segment separately. A segment begins at
    /// each flag that is not 0, and at the first cell.
    ///
    /// # Errors
    /// As [`inclusive_scan`](Self::inclusive_scan).
    #[track_caller]
    pub fn inclusive_scan_by_flag<T: Element>(
        &self,
        flags: impl IntoSequence<u32>,
        input: impl IntoSequence<T>,
        output: impl IntoSequence<T>,
        operator: &Operator,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("inclusive_scan_by_flag");
        self.scanned(operator, None, (&input.into(), &output.into()), Heads::Flags(flags.into().cells()?))
    }

    /// [`exclusive_scan`](Self::exclusive_scan) of each segment separately, each from `first`. A
    /// segment begins at each flag that is not 0, and at the first cell.
    ///
    /// # Errors
    /// As [`inclusive_scan`](Self::inclusive_scan).
    #[track_caller]
    pub fn exclusive_scan_by_flag<T: Element>(
        &self,
        flags: impl IntoSequence<u32>,
        input: impl IntoSequence<T>,
        output: impl IntoSequence<T>,
        first: T,
        operator: &Operator,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("exclusive_scan_by_flag");
        self.scanned(operator, Some(&first), (&input.into(), &output.into()), Heads::Flags(flags.into().cells()?))
    }

    /// [`inclusive_scan`](Self::inclusive_scan) of each run of equal keys separately. Keys are
    /// equal if all their bits are.
    ///
    /// # Errors
    /// As [`inclusive_scan`](Self::inclusive_scan).
    #[track_caller]
    pub fn inclusive_scan_by_key<K: Element, T: Element>(
        &self,
        keys: impl IntoSequence<K>,
        input: impl IntoSequence<T>,
        output: impl IntoSequence<T>,
        operator: &Operator,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("inclusive_scan_by_key");
        self.scanned(operator, None, (&input.into(), &output.into()), Heads::Keys(keys.into().cells()?))
    }

    /// [`exclusive_scan`](Self::exclusive_scan) of each run of equal keys separately, each from
    /// `first`. Keys are equal if all their bits are.
    ///
    /// # Errors
    /// As [`inclusive_scan`](Self::inclusive_scan).
    #[track_caller]
    pub fn exclusive_scan_by_key<K: Element, T: Element>(
        &self,
        keys: impl IntoSequence<K>,
        input: impl IntoSequence<T>,
        output: impl IntoSequence<T>,
        first: T,
        operator: &Operator,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("exclusive_scan_by_key");
        self.scanned(operator, Some(&first), (&input.into(), &output.into()), Heads::Keys(keys.into().cells()?))
    }

    fn scanned<T: Element>(
        &self,
        operator: &Operator,
        first: Option<&T>,
        (input, output): (&Sequence<T>, &Sequence<T>),
        heads: Heads<'_>,
    ) -> Result<()> {
        let (input, output) = (input.cells()?, output.cells()?);
        input.check_length(output, "the output")?;
        let operation = ScanOperation { first: first.map(bytes_of), ..ScanOperation::inclusive(operator, &T::INFO) };
        run(self.world(), &operation, input, heads, Some(output)).map(drop)
    }
}

/// Scans, or only reduces if there is no output; returns the combination of all cells.
pub(super) fn run(
    world: &World,
    operation: &ScanOperation<'_>,
    input: &CellSequence,
    heads: Heads<'_>,
    output: Option<&CellSequence>,
) -> Result<Carry> {
    operation.check(world.gpu())?;
    if let Some(heads) = heads.cells() {
        input.check_length(heads, "the sequence of segment heads")?;
    }
    let input = &input.clone().apart_from(output, operation.transform.is_none())?;
    let heads_copy = heads.cells().map(|heads| heads.clone().apart_from(output, false)).transpose()?;
    let heads = heads.with(heads_copy.as_ref());
    if operation.by_host(world.gpu()) {
        return host::scan(world.gpu(), operation, input, heads, output, Carry::default());
    }
    let mut key = None;
    let flags = kernels::flags(world, heads, &mut key)?;
    let blocks = Blocks::new(world, operation, input, flags.as_ref(), output)?;
    let carry = blocks.carry(Carry::default())?;
    if output.is_some() {
        blocks.write()?;
    }
    Ok(carry)
}

/// Exclusive scan of counts with kernels.
pub(super) fn scan_counts(world: &World, counts: &CellSequence) -> Result<()> {
    let operation = ScanOperation { first: Some(&[0; 4]), ..ScanOperation::inclusive(&Operator::Add, &u32::INFO) };
    let blocks = Blocks::new(world, &operation, counts, None, Some(counts))?;
    blocks.start()?;
    blocks.write()
}

/// The maximum of some numbers.
pub(super) fn largest(world: &World, numbers: &CellSequence) -> Result<Option<u32>> {
    let operation = ScanOperation::inclusive(&Operator::Max, &u32::INFO);
    Ok(run(world, &operation, numbers, Heads::None, None)?.item.map(|item| pod_read_unaligned(&item.value)))
}

/// The sum of some numbers in 64 bits.
pub(super) fn widened_sum(world: &World, numbers: &CellSequence) -> Result<u64> {
    // Two words with a carry.
    let add = Operator::custom(
        "add in 64 bits",
        "fn combine(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
            let low = a.x + b.x;
            return vec2<u32>(low, a.y + b.y + u32(low < a.x));
        }",
    );
    if world.gpu().is_host() {
        return host::widened_sum(numbers);
    }
    let transform = Some((&u32::INFO, "vec2<u32>(x, 0u)"));
    let operation = ScanOperation { transform, ..ScanOperation::inclusive(&add, &<[u32; 2]>::INFO) };
    let all = run(world, &operation, numbers, Heads::None, None)?;
    let [low, high] = all.item.map_or([0, 0], |item| pod_read_unaligned::<[u32; 2]>(&item.value));
    Ok(u64::from(high) << 32 | u64::from(low))
}

/// The numbers 0 to `cells` − 1.
pub(super) fn count(world: &World, cells: u64) -> Result<CellSequence> {
    let numbers = world.scratch_cells("numbers", &u32::INFO, cells)?;
    numbers.fill(bytes_of(&1_u32))?;
    let operation = ScanOperation { first: Some(&[0; 4]), ..ScanOperation::inclusive(&Operator::Add, &u32::INFO) };
    run(world, &operation, &numbers, Heads::None, Some(&numbers))?;
    Ok(numbers)
}
