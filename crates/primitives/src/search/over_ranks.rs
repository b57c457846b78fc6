//! Lower and upper bounds in sorted distributed vectors.

use zippy::collective::CollectiveWorld;
use zippy::element::Element;
use zippy::error::{CallSite, Result};
use zippy::transport::{copied, values};

use super::{BoundSide, check_count, find};
use crate::query_ranks::query_ranks;
use crate::sort_key::SortKey;
use crate::vectors::{IntoVector, Vector, Vectors, fitted, local_cells, ordered, spans};

impl Vectors<'_> {
    /// Lower bound: for each needle, the number of sorted keys that are smaller, which is the first
    /// index where the needle could be inserted. Collective.
    ///
    /// Each needle is sent to the rank that owns the neighbouring keys. See
    /// [`OnRank::lower_bound`](crate::OnRank::lower_bound).
    ///
    /// # Errors
    /// Different lengths of needles and bounds, an invalid section, a failure of any rank.
    #[track_caller]
    pub fn lower_bound<K: SortKey>(
        &self,
        keys: impl IntoVector<K>,
        needles: impl IntoVector<K>,
        bounds: impl IntoVector<u32>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("lower_bound");
        self.bounds("lower_bound", &keys.into(), &needles.into(), &bounds.into(), BoundSide::Lower)
    }

    /// Upper bound: for each needle, the number of sorted keys that are not larger, which is the
    /// last index where the needle could be inserted. Collective, as
    /// [`lower_bound`](Self::lower_bound).
    ///
    /// # Errors
    /// As [`lower_bound`](Self::lower_bound).
    #[track_caller]
    pub fn upper_bound<K: SortKey>(
        &self,
        keys: impl IntoVector<K>,
        needles: impl IntoVector<K>,
        bounds: impl IntoVector<u32>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("upper_bound");
        self.bounds("upper_bound", &keys.into(), &needles.into(), &bounds.into(), BoundSide::Upper)
    }

    fn bounds<K: SortKey>(
        &self,
        verb: &'static str,
        keys: &Vector<K>,
        needles: &Vector<K>,
        bounds: &Vector<u32>,
        side: BoundSide,
    ) -> Result<()> {
        let world = self.world();
        needles.check_length(bounds, "the vector of bounds")?;
        let label = keys.label()?;
        check_count(keys.cells()?, || label.clone())?;
        self.collective(verb, vec![keys.named()?, needles.named()?, bounds.named()?], (), || Ok(()))?;
        let cut = ordered(world, &spans(keys)?);
        let keys = fitted(world, "keys of a search", keys, &cut, true)?;
        // The first key of each rank with keys. Needles not above the second rank's first key go to
        // the first rank, and so on.
        let (own, ranks) = world.failing(verb, || {
            let (own, needles) = (local_cells(&keys.vector)?, local_cells(needles)?);
            let mut first = vec![0_u32; if own.is_empty() { 0 } else { K::ORDER.words }];
            if !own.is_empty() {
                own.read(0..1, bytemuck::cast_slice_mut(&mut first))?;
            }
            let all = world.inner_group().all_gather_v(copied(&first))?;
            let mut first_keys = Vec::new();
            for (rank, key) in all.iter().enumerate() {
                let key = values::<u32>(key)?;
                if !key.is_empty() {
                    first_keys.push((rank, K::ORDER.number(&key)));
                }
            }
            let comes_before = |first: u64, needle: u64| first < needle || first == needle && side == BoundSide::Upper;
            let ranks = super::bounds_on_host(world, K::ORDER, &needles, |needle| {
                let number = first_keys.partition_point(|(_, first)| comes_before(*first, needle));
                first_keys.get(number.saturating_sub(1)).map_or(0, |(rank, _)| *rank as u32)
            })?;
            Ok((own, ranks))
        })?;
        let before = cut.iter().filter(|span| span.owner < world.rank()).map(|span| span.cells.end).max().unwrap_or(0);
        let questions = world.failing(verb, || local_cells(needles))?;
        let found = query_ranks(world, &questions, &ranks, &u32::INFO, |needles| {
            let answers = world.scratch_cells("bounds", &u32::INFO, needles.len())?;
            answers.fill(&(before as u32).to_ne_bytes())?;
            find(world, K::ORDER, &own, needles, &answers, side, false)?;
            Ok(answers)
        })?;
        let like = fitted(world, "bounds", bounds, &spans(needles)?, false)?;
        world.failing(verb, || found.copy_to(&local_cells(&like.vector)?))?;
        like.copy_back(world)
    }
}
