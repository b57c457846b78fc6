//! Creation and rearrangement of vectors: redistribution, shift, transpose, ends, and vectors of
//! numbers.

use bytemuck::{bytes_of, pod_read_unaligned};
use zippy::array::GlobalArray;
use zippy::collective::CollectiveWorld;
use zippy::element::Element;
use zippy::error::{ArrayError, CallSite, Result};
use zippy::layout::{Layout, Split};
use zippy::transport::{Payload, copied};

use super::{IntoVector, Vector, Vectors, evenly_distributed_spans, local_cells, spans};

impl Vectors<'_> {
    /// Creates an evenly distributed vector of the same cells, with one part per rank in rank
    /// order. Collective; costs a copy.
    ///
    /// # Errors
    /// An invalid section, a name that is in use, too little memory, a failure of any rank.
    #[track_caller]
    pub fn rebalanced<T: Element>(&self, name: &str, input: impl IntoVector<T>) -> Result<GlobalArray<T, 1>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("rebalanced");
        let input = input.into();
        let parts = evenly_distributed_spans(input.cells()?, self.world().size());
        self.cut_into(name, &input, &parts)
    }

    /// Creates a vector of the same cells as the input, with the cuts and owners of another vector.
    /// Collective; costs a copy.
    ///
    /// # Errors
    /// As [`rebalanced`](Self::rebalanced), and different lengths.
    #[track_caller]
    pub fn cut_like<T: Element, U: Element>(
        &self,
        name: &str,
        input: impl IntoVector<T>,
        other: impl IntoVector<U>,
    ) -> Result<GlobalArray<T, 1>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("cut_like");
        let (input, other) = (input.into(), other.into());
        input.check_length(&other, "the other vector")?;
        self.cut_into(name, &input, &spans(&other)?)
    }

    /// Sets cell *i* of the output to cell *i* − `by` of the input, or to `fill` if there is no
    /// such cell. Collective; the output may be the input.
    ///
    /// # Errors
    /// Different lengths, an invalid section, a failure of any rank.
    ///
    /// ```
    /// # use zippy::{Layout, Split, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let x = world.array::<u32, 1>("x", &Layout::new([6]).split([Split::Auto]))?;
    /// x.fill_with(|[i]| i as u32)?;
    /// world.vectors().shift(&x, &x, 2, 9)?;
    /// let ticket = world.get(x.at(..))?;
    /// assert_eq!(world.fence()?.redeem(ticket)?, [9, 9, 0, 1, 2, 3]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(3), program).unwrap();
    /// ```
    #[track_caller]
    pub fn shift<T: Element>(
        &self,
        input: impl IntoVector<T>,
        output: impl IntoVector<T>,
        by: i64,
        fill: T,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("shift");
        let (input, output) = (input.into(), output.into());
        input.check_length(&output, "the output")?;
        let cells = input.cells()? as i64;
        let by = by.clamp(-cells, cells);
        let named = vec![input.named()?, output.named()?];
        self.collective("shift", named, (by, bytemuck::bytes_of(&fill)), || Ok(()))?;
        let (from, to) = (input.region()?.start[0], output.region()?.start[0]);
        let [from, to_of] = [(from, 0.max(-by)), (to, 0.max(by))].map(|(start, skipped)| {
            let first = start + skipped;
            first..first + cells - by.abs()
        });
        self.world().copy(input.section().array().at(from), output.section().array().at(to_of))?;
        let empty = if by > 0 { to..to + by } else { to + cells + by..to + cells };
        self.world().failing("shift", || output.section().array().at(empty).fill(fill))
    }

    /// Transposes the input, rows of `columns` cells: cell *c* · rows + *r* of the output is cell
    /// *r* · `columns` + *c* of the input. With 2 columns, pairs become all first numbers followed
    /// by all second numbers; half of the cells as columns is the inverse. Collective; the output
    /// may be the input.
    ///
    /// Costs an index for each cell and a [`scatter`](Self::scatter).
    ///
    /// # Errors
    /// A length that is not a multiple of `columns`, different lengths, more than 4,294,967,295
    /// cells, an invalid section, a failure of any rank.
    ///
    /// ```
    /// # use zippy::{Layout, Split, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let x = world.array::<u32, 1>("x", &Layout::new([6]).split([Split::Auto]))?;
    /// x.fill_with(|[i]| [10, 20, 11, 21, 12, 22][i as usize])?;
    /// world.vectors().transpose(&x, &x, 2)?;
    /// let ticket = world.get(x.at(..))?;
    /// assert_eq!(world.fence()?.redeem(ticket)?, [10, 11, 12, 20, 21, 22]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(3), program).unwrap();
    /// ```
    #[track_caller]
    pub fn transpose<T: Element>(
        &self,
        input: impl IntoVector<T>,
        output: impl IntoVector<T>,
        columns: u64,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("transpose");
        let (input, output) = (input.into(), output.into());
        input.check_length(&output, "the output")?;
        input.check_numbers()?;
        let cells = input.cells()?;
        if columns == 0 || !cells.is_multiple_of(columns) {
            let text = format!("{} has {cells} cells, which is not a multiple of {columns}", input.label()?);
            return Err(ArrayError::Other(text).into());
        }
        self.collective("transpose", vec![input.named()?, output.named()?], columns, || Ok(()))?;
        let indices = super::spans::array::<u32>(self.world(), "zippy: places of a transpose", cells, &spans(&input)?)?;
        let places = self.world().elementwise("bitcast<u32>(p) % columns * rows + bitcast<u32>(p) / columns");
        let call = places.call().param("columns", columns as u32).param("rows", (cells / columns) as u32);
        self.world().failing("transpose", || call.write("places", indices.at(..)))?;
        self.scatter(&input, &indices, &output)
    }

    /// Returns the first cell, on every rank; `None` without cells. Collective.
    ///
    /// # Errors
    /// An invalid section, a failure of any rank.
    #[track_caller]
    pub fn first<T: Element>(&self, input: impl IntoVector<T>) -> Result<Option<T>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("first");
        self.end("first", &input.into(), false)
    }

    /// Returns the last cell, on every rank; `None` without cells. Collective.
    ///
    /// # Errors
    /// An invalid section, a failure of any rank.
    #[track_caller]
    pub fn last<T: Element>(&self, input: impl IntoVector<T>) -> Result<Option<T>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("last");
        self.end("last", &input.into(), true)
    }

    /// Creates an evenly distributed vector of `cells` numbers `first`, `first + step`, and so on;
    /// `u32` sums wrap. Collective, as the creation of the array.
    ///
    /// # Errors
    /// A name that is in use, too little memory, a device failure.
    #[track_caller]
    pub fn counting(&self, name: &str, cells: u64, first: u32, step: u32) -> Result<GlobalArray<u32, 1>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("counting");
        let extent = i64::try_from(cells).map_err(|_| ArrayError::Other(format!("{cells} cells are too many")))?;
        let array = self.world().array::<u32, 1>(name, &Layout::new([extent]).split([Split::Auto]))?;
        let numbers = self.world().elementwise("first + step * bitcast<u32>(p)");
        numbers.call().param("first", first).param("step", step).write("numbers", array.at(..))?;
        Ok(array)
    }

    fn cut_into<T: Element>(&self, name: &str, input: &Vector<T>, parts: &[super::Span]) -> Result<GlobalArray<T, 1>> {
        let array = super::spans::array(self.world(), name, input.cells()?, parts)?;
        self.world().copy(input.section(), array.at(..))?;
        Ok(array)
    }

    fn end<T: Element>(&self, verb: &'static str, input: &Vector<T>, last: bool) -> Result<Option<T>> {
        let all = spans(input)?;
        let world = self.world();
        self.collective(verb, vec![input.named()?], (), || {
            let Some(span) = (if last { all.last() } else { all.first() }) else { return Ok(None) };
            let mut mine: Option<Payload> = None;
            if span.owner == world.rank() {
                let cells = local_cells(input)?;
                let at = if last { cells.len() - 1 } else { 0 };
                let mut value = T::zeroed();
                cells.read(at..at + 1, bytemuck::bytes_of_mut(&mut value))?;
                mine = Some(copied(bytes_of(&value)));
            }
            let value = world.inner_group().broadcast(span.owner, mine)?;
            Ok(Some(pod_read_unaligned((*value).as_ref())))
        })
    }
}
