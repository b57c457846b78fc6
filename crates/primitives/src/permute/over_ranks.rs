//! Gather and scatter by global index.

use zippy::World;
use zippy::array::Sequence;
use zippy::collective::{CellSequence, CollectiveWorld, Column, DeliveryTarget};
use zippy::element::Element;
use zippy::error::{ArrayError, CallSite, Result};
use zippy::world::Destinations;

use super::cell_indices::{CellIndices, LocalPositions};
use super::remote_indices::{self, RemoteIndices};
use super::{gather, gather_cells, scatter, scatter_cells};
use crate::query_ranks::query_ranks;
use crate::vectors::{IntoVector, Vector, Vectors, fitted, local_cells, spans};

impl Vectors<'_> {
    /// Gather: sets cell *i* of the output to cell `indices[i]` of the input, across ranks.
    /// Collective.
    ///
    /// Each index of another rank's cell is sent to its owner, which returns the cell: two messages
    /// per pair of communicating ranks. Input and output may have any cuts and owners.
    ///
    /// # Errors
    /// * An index beyond the input: the same error on all ranks, and nothing is written.
    /// * Different lengths of indices and output.
    /// * An invalid section, a failure of any rank.
    #[track_caller]
    pub fn gather<T: Element>(
        &self,
        input: impl IntoVector<T>,
        indices: impl IntoVector<u32>,
        output: impl IntoVector<T>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("gather");
        let (world, input, indices, output) = (self.world(), input.into(), indices.into(), output.into());
        indices.check_length(&output, "the output")?;
        let named = vec![input.named()?, indices.named()?, output.named()?];
        let (of_indices, of_input, cells) = (spans(&indices)?, spans(&input)?, input.cells()?);
        let local_positions = LocalPositions::new(&of_input, world.rank());
        let (own, indices, remote) = self.collective("gather", named, (), || {
            let (own, indices) = (local_cells(&input)?, local_cells(&indices)?);
            Ok(survey(world, &indices, &local_positions, cells, &input)?.map(|remote| (own, indices, remote)))
        })??;
        // With the cuts of the indices; the output may have other cuts.
        let like = fitted(world, "gathered", &output, &of_indices, false)?;
        let mut answers = None;
        if remote.of_any_rank {
            let RemoteIndices { indices, ranks, positions } =
                world.failing("gather", || RemoteIndices::new(world, &indices, &local_positions, remote.count))?;
            let found = query_ranks(world, &indices, &ranks, &T::INFO, |questions| {
                let answers = world.scratch_cells("gathered", &T::INFO, questions.len())?;
                gather_cells(world, &own, CellIndices::of_vector(questions, &local_positions), &answers)?;
                Ok(answers)
            })?;
            answers = Some((found, positions));
        }
        // All answers to other ranks are sent at this point.
        world.failing("gather", || {
            let output = local_cells(&like.vector)?;
            if remote.count < indices.len() {
                let indices = indices.clone().apart_from(Some(&output), false)?;
                gather_cells(world, &own, CellIndices::of_vector(&indices, &local_positions), &output)?;
            }
            answers.map_or(Ok(()), |(found, positions)| scatter(world, &found, &positions, &output))
        })?;
        like.copy_back(world)
    }

    /// Scatter: sets cell `indices[i]` of the output to cell *i* of the input, across ranks; other
    /// cells of the output keep their values. If an index occurs several times, any one of its
    /// cells is written. Collective; one message per pair of communicating ranks.
    ///
    /// # Errors
    /// * An index beyond the output: the same error on all ranks, and nothing is written.
    /// * Different lengths of indices and input.
    /// * An invalid section, a failure of any rank.
    #[track_caller]
    pub fn scatter<T: Element>(
        &self,
        input: impl IntoVector<T>,
        indices: impl IntoVector<u32>,
        output: impl IntoVector<T>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("scatter");
        let (world, input, indices, output) = (self.world(), input.into(), indices.into(), output.into());
        indices.check_length(&input, "the input")?;
        let named = vec![input.named()?, indices.named()?, output.named()?];
        let (of_output, cells) = (spans(&output)?, output.cells()?);
        let like = fitted(world, "to be scattered", &input, &spans(&indices)?, true)?;
        let local_positions = LocalPositions::new(&of_output, world.rank());
        let (values, indices, remote) = self.collective("scatter", named, (), || {
            let (values, indices) = (local_cells(&like.vector)?, local_cells(&indices)?);
            Ok(survey(world, &indices, &local_positions, cells, &output)?.map(|remote| (values, indices, remote)))
        })??;
        let mut landed = None;
        if remote.of_any_rank {
            let (moved, ranks) = world.failing("scatter", || {
                let RemoteIndices { indices, ranks, positions } =
                    RemoteIndices::new(world, &indices, &local_positions, remote.count)?;
                let moved = world.scratch_cells("to be scattered", &T::INFO, indices.len())?;
                gather(world, &values, &positions, &moved)?;
                Ok((vec![moved, indices], ranks))
            })?;
            let column = |name, element| Column { name, element };
            let columns = [column("scattered", &T::INFO), column("indices", &u32::INFO)];
            let to = Destinations::Each(Sequence::from_cells(ranks));
            landed = Some(world.deliver_columns(&columns, Ok(moved), &to, DeliveryTarget::Memory)?.cells);
        }
        world.failing("scatter", || {
            let output = local_cells(&output)?;
            if remote.count < indices.len() {
                let indices = indices.clone().apart_from(Some(&output), false)?;
                scatter_cells(world, &values, CellIndices::of_vector(&indices, &local_positions), &output)?;
            }
            let Some([values, indices]) = landed.as_deref() else { return Ok(()) };
            scatter_cells(world, values, CellIndices::of_vector(indices, &local_positions), &output)
        })
    }
}

/// Numbers of indices that refer to other ranks' cells.
struct RemoteCount {
    /// Number of such indices on this rank.
    count: u64,
    /// True if any rank has such indices.
    of_any_rank: bool,
}

/// Counts the indices of other ranks' cells. If an index of any rank is invalid, returns an error
/// that is the same on every rank and leaves the world usable.
fn survey<T: Element>(
    world: &World,
    indices: &CellSequence,
    local_positions: &LocalPositions<'_>,
    cells: u64,
    vector: &Vector<T>,
) -> Result<Result<RemoteCount>> {
    let [end, count] = remote_indices::survey(world, indices, local_positions)?;
    let mut most = [end, count];
    world.inner_group().all_reduce(&mut most, |most, other| *most = (*most).max(*other))?;
    let [end, of_any_rank] = [most[0], most[1]];
    Ok(if end <= cells {
        Ok(RemoteCount { count, of_any_rank: of_any_rank > 0 })
    } else {
        let text = format!("index {} is beyond the {cells} cells of {}", end - 1, vector.label()?);
        Err(ArrayError::Other(text).into())
    })
}
