//! The force field of a flow.

use zippy::array::ChunkRef;
use zippy::{GlobalArray, Result};

use super::running_flow::Flow;
use crate::cell_kind::CellKind;
use crate::problem::Problem;

impl Flow<'_> {
    /// Force field of a problem on each of this rank's chunks; zero in cells without fluid. Empty
    /// without a force field. Local.
    pub(super) fn evaluate_force_field(&self, problem: &Problem) -> Result<Vec<Vec<f32>>> {
        let Some(force_field) = &problem.force_field else { return Ok(Vec::new()) };
        let evaluate_chunk = |chunk: ChunkRef<u8, 3>| {
            let kinds = chunk.all().read()?;
            let mut values = vec![0.0_f32; 3 * kinds.len()];
            let points = chunk.region().points().enumerate();
            for (index, at) in points.filter(|&(index, _)| CellKind::is_fluid_number(kinds[index])) {
                let cell = self.problem.box_cell([at[0], at[1], at[2]]);
                let force = force_field(cell);
                problem.check_force(cell, force)?;
                (0..3).for_each(|axis| values[axis * kinds.len() + index] = force[axis] as f32);
            }
            Ok(values)
        };
        self.kinds.chunks().map(evaluate_chunk).collect()
    }

    pub(super) fn write_force_field(&self, array: &GlobalArray<f32, 4>, values: &[Vec<f32>]) -> Result<()> {
        let written = array.chunks().zip(values).try_for_each(|(chunk, values)| chunk.all().write(values));
        self.world.agree("writing the force field", written)
    }

    pub(super) fn create_force_field(&self) -> Result<Option<GlobalArray<f32, 4>>> {
        if self.problem.force_field.is_none() {
            return Ok(None);
        }
        let values = self.world.agree("computing the force field", self.evaluate_force_field(&self.problem))?;
        let layout = self.vector_layout_of_cells().ghost([0; 4]);
        let array: GlobalArray<f32, 4> = self.create_array(&self.problem.array_name("force field"), &layout)?;
        self.write_force_field(&array, &values)?;
        Ok(Some(array))
    }
}
