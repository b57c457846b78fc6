//! Stream amplification over distributed vectors.

use zippy::ArrayOptions;
use zippy::array::GlobalArray;
use zippy::collective::CollectiveWorld;
use zippy::error::{CallSite, Result};

use super::{amplify, count_pairs};
use crate::vectors::{IntoVector, Vectors, fitted, local_cells, ordered, spans};

impl Vectors<'_> {
    /// Creates a vector with `count` pairs `[item, copy]` for each item, in ascending order of
    /// items; items are global indices. Collective; see
    /// [`OnRank::amplify`](crate::OnRank::amplify).
    ///
    /// Pairs stay on the ranks of their items: each rank owns one chunk with the pairs of its
    /// items, possibly empty. [`rebalanced`](Self::rebalanced) distributes them evenly. If the
    /// chunks of the ranks are not in rank order, the counts are copied first.
    ///
    /// # Errors
    /// More than 4,294,967,295 counts, or pairs on one rank; a name that is in use, too little
    /// memory, an invalid section, a failure of any rank.
    ///
    /// ```
    /// # use zippy::{Layout, Split, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let counts = world.array::<u32, 1>("triangles of cells", &Layout::new([4]).split([Split::Auto]))?;
    /// counts.fill_with(|[i]| [2, 0, 3, 0][i as usize])?;
    /// let triangles = world.vectors().amplify("triangles", &counts)?;
    /// let ticket = world.get(triangles.at(..))?;
    /// assert_eq!(world.fence()?.redeem(ticket)?, [[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(3), program).unwrap();
    /// ```
    #[track_caller]
    pub fn amplify(&self, name: &str, counts: impl IntoVector<u32>) -> Result<GlobalArray<[u32; 2], 1>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("amplify");
        let (world, counts) = (self.world(), counts.into());
        counts.check_numbers()?;
        self.collective("amplify", vec![counts.named()?], name, || Ok(()))?;
        let cut = ordered(world, &spans(&counts)?);
        let counts = fitted(world, "counts of copies", &counts, &cut, true)?;
        let (local_counts, pairs) = world.failing("amplify", || {
            let local_counts = local_cells(&counts.vector)?;
            let pairs = count_pairs(world, &local_counts);
            world.agree_within("amplify", pairs.map(|pairs| (local_counts, pairs)))
        })??;
        let first = cut.iter().find(|span| span.owner == world.rank()).map_or(0, |span| span.cells.start);
        let output = world.array::<[u32; 2], 1>(name, ArrayOptions::of_length(pairs))?;
        world.failing("amplify", || amplify(world, &local_counts, first as u32, &local_cells(&(&output).into())?))?;
        Ok(output)
    }
}
