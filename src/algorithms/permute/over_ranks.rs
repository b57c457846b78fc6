//! Gather and scatter by global index.

use super::{gather, scatter};
use crate::World;
use crate::algorithms::ask::{ask, mapped};
use crate::algorithms::scan::largest;
use crate::algorithms::vectors::{IntoVector, Span, Vector, Vectors, fitted, own_cells, spans};
use crate::array::{Cells, Sequence};
use crate::element::Element;
use crate::error::{ArrayError, CallSite, Result};
use crate::world::{Column, Destinations, Destined};

impl Vectors<'_> {
    /// Cell *i* of the output is cell `indices[i]` of the input, wherever that lies. Collective.
    ///
    /// Each index goes to the rank that has the cell, and the cell comes back: two messages for each pair of ranks that
    /// have to do with each other. The output may be any vector, the input too.
    ///
    /// # Errors
    /// An index beyond the input, the same error on all ranks, and nothing is written; lengths of indices and output that
    /// differ; a bad section, a failure of this or of another rank.
    #[track_caller]
    pub fn gather<T: Element>(
        &self,
        input: impl IntoVector<T>,
        indices: impl IntoVector<u32>,
        output: impl IntoVector<T>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _acting = self.world().acting("gather");
        let (world, input, indices, output) = (self.world(), input.into(), indices.into(), output.into());
        indices.check_length(&output, "the output")?;
        let named = vec![input.named()?, indices.named()?, output.named()?];
        let (of_indices, spans, cells) = (spans(&indices)?, spans(&input)?, input.cells()?);
        let (own, asked) = self.collective("gather", named, (), || {
            let (own, asked) = (own_cells(&input)?, own_cells(&indices)?);
            Ok(check(world, &asked, cells, &input)?.map(|()| (own, asked)))
        })??;
        let ranks = world.failing("gather", || mapped(world, &asked, |index| owner(&spans, index) as u32))?;
        let found = ask(world, &asked, &ranks, &T::INFO, |questions| {
            let places = mapped(world, questions, place(&spans, world.rank()))?;
            let answers = Cells::scratch(&world.home(), "gathered", &T::INFO, places.len())?;
            gather(world, &own, &places, &answers)?;
            Ok(answers)
        })?;
        // In the cut of the indices; the output's may be another one.
        let like = fitted(world, "gathered", &output, &of_indices, false)?;
        world.failing("gather", || found.copy_to(&own_cells(&like.vector)?))?;
        like.bring_back(world)
    }

    /// Cell *i* of the input becomes cell `indices[i]` of the output, wherever that lies; other cells of the output stay. Of
    /// cells with one index any one counts. Collective; one message for each pair of ranks that have to do with each other.
    ///
    /// # Errors
    /// An index beyond the output, the same error on all ranks, and nothing is written; lengths of indices and input that
    /// differ; a bad section, a failure of this or of another rank.
    #[track_caller]
    pub fn scatter<T: Element>(
        &self,
        input: impl IntoVector<T>,
        indices: impl IntoVector<u32>,
        output: impl IntoVector<T>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _acting = self.world().acting("scatter");
        let (world, input, indices, output) = (self.world(), input.into(), indices.into(), output.into());
        indices.check_length(&input, "the input")?;
        let named = vec![input.named()?, indices.named()?, output.named()?];
        let (of_output, cells) = (spans(&output)?, output.cells()?);
        let like = fitted(world, "to be scattered", &input, &spans(&indices)?, true)?;
        let (values, indices) = self.collective("scatter", named, (), || {
            let (values, indices) = (own_cells(&like.vector)?, own_cells(&indices)?);
            Ok(check(world, &indices, cells, &output)?.map(|()| (values, indices)))
        })??;
        let ranks = world.failing("scatter", || mapped(world, &indices, |index| owner(&of_output, index) as u32))?;
        let column = |name, element| Column { name, element };
        let columns = [column("scattered", &T::INFO), column("indices", &u32::INFO)];
        let to = Destinations::Each(Sequence::from_cells(ranks));
        let landed = world.deliver_columns(&columns, Ok(vec![values, indices]), &to, Destined::Memory)?;
        world.failing("scatter", || {
            let places = mapped(world, &landed.cells[1], place(&of_output, world.rank()))?;
            scatter(world, &landed.cells[0], &places, &own_cells(&output)?)
        })
    }
}

/// That all indices of all ranks are of cells: the same answer on every rank, which ends nothing.
fn check<T: Element>(world: &World, indices: &Cells, cells: u64, of: &Vector<T>) -> Result<Result<()>> {
    let mut most = [largest(world, indices)?.map_or(0, |index| u64::from(index) + 1)];
    world.inner().all_reduce(&mut most, |most, other| *most = (*most).max(*other))?;
    Ok(if most[0] <= cells {
        Ok(())
    } else {
        let text = format!("index {} is beyond the {cells} cells of {}", most[0] - 1, of.label()?);
        Err(ArrayError::Other(text).into())
    })
}

/// The rank that has a cell of a vector.
fn owner(spans: &[Span], index: u32) -> usize {
    spans[spans.partition_point(|span| span.cells.end <= index.into())].owner
}

/// The place of a cell of a rank among its cells.
fn place(spans: &[Span], rank: usize) -> impl Fn(u32) -> u32 {
    let (mut starts, mut before) = (Vec::new(), 0);
    for span in spans.iter().filter(|span| span.owner == rank) {
        starts.push((span.cells.start, before));
        before += span.cells.end - span.cells.start;
    }
    move |index| {
        let (start, before) = starts[starts.partition_point(|(start, _)| *start <= index.into()) - 1];
        (before + u64::from(index) - start) as u32
    }
}
