//! Ghost updates: owner → ghost, and the reverse, ghost → owner.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::panic::Location;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use super::execute::Job;
use super::plans::{Plan, Planned};
use super::transfer::Meeting;
use super::{Moved, Named, Operator, Pending, World, hash};
use crate::array::{ArrayCore, GlobalArray};
use crate::element::Element;
use crate::error::{Error, PlanError, Result};
use crate::extents::Index;
use crate::plan::{Components, GhostSpec, Neighbours};
use crate::trace;

/// What a ghost update covers: which arrays, which neighbours, which components, which way.
///
/// ```
/// # use zippy::{World, Layout, world::GhostUpdate};
/// # fn program(world: &World) -> zippy::Result<()> {
/// let layout = Layout::new([16, 12]).ghost([1, 1]).periodic([true, false]);
/// let (density, flux) = (world.array::<f32, 2>("density", &layout)?, world.array::<f32, 2>("flux", &layout)?);
/// let moved = world.update_ghosts(GhostUpdate::of(&density).and(&flux).faces_only())?;
/// # Ok(()) }
/// # zippy::run(program).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct GhostUpdate {
    arrays: Vec<Rc<ArrayCore>>,
    /// One entry an array.
    components: Vec<Option<Components>>,
    neighbours: Neighbours,
    reverse: bool,
    meeting: Meeting,
    /// A mistake in the description, reported by the update.
    mistake: Option<Error>,
}

impl GhostUpdate {
    /// An update of one array: faces, edges and corners, all components, owner → ghost.
    pub fn of<T: Element, const D: usize>(array: &GlobalArray<T, D>) -> Self {
        Self {
            arrays: vec![array.core().clone()],
            components: vec![None],
            neighbours: Neighbours::All,
            reverse: false,
            meeting: Meeting::Replace,
            mistake: None,
        }
    }

    /// Another array in the same exchange; it may have other ghost widths, shape and element type.
    /// Naming one twice, be it by two handles, is a mistake.
    pub fn and<T: Element, const D: usize>(mut self, array: &GlobalArray<T, D>) -> Self {
        let core = array.core();
        let ghosts = |widths: Index| widths.iter().any(|&width| width > 0);
        let has_ghosts = ghosts(core.chunks().ghost_lo()) || ghosts(core.chunks().ghost_hi());
        if let Some(first) = self.arrays.iter().find(|first| has_ghosts && first.is_alias_of(core)) {
            let (first, again) = (first.name().to_string(), core.name().to_string());
            self.mistake = self.mistake.or(Some(PlanError::GhostsTwice { first, again }.into()));
        }
        self.arrays.push(array.core().clone());
        self.components.push(None);
        self
    }

    /// Only across faces: edge and corner ghost cells keep what they have. Holds for all arrays.
    pub fn faces_only(mut self) -> Self {
        self.neighbours = Neighbours::Faces;
        self
    }

    /// Of the array named last, only some components take part: those that `list` names for a direction, as positions
    /// along `axis`, which has no ghosts.
    ///
    /// A direction has −1, 0 or 1 an axis and names the side of the chunk *whose ghost cells take part*: `[1, 0, 0, 0]`
    /// are the ghost cells past the end of axis 0, and a lattice Boltzmann step lists there what streams towards −x. Lists
    /// may change from call to call, as with the parity of an in-place step.
    pub fn components(mut self, axis: usize, list: impl Fn(&[i8]) -> Vec<usize>) -> Self {
        let last = self.arrays.len() - 1;
        match Components::new(axis, self.arrays[last].chunks().axes(), list) {
            Ok(components) => self.components[last] = Some(components),
            Err(mistake) => self.mistake = self.mistake.or(Some(mistake.into())),
        }
        self
    }

    /// The reverse way: what lies in ghost cells replaces the owner's cells. Holds for all arrays.
    pub fn reverse(mut self) -> Self {
        self.reverse = true;
        self.meeting = Meeting::Replace;
        self
    }

    /// The reverse way: what lies in ghost cells is combined with the owner's cells, in a fixed order. Holds for all arrays.
    pub fn reverse_with(mut self, operator: Operator) -> Self {
        self.reverse = true;
        self.meeting = Meeting::Combine(operator);
        self
    }

    /// What is done with each array.
    fn specs(&self) -> Vec<GhostSpec> {
        let spec = |components: &Option<Components>| GhostSpec {
            neighbours: self.neighbours,
            components: components.clone(),
            reverse: self.reverse,
        };
        self.components.iter().map(spec).collect()
    }
}

/// A ghost update as messages and comparisons name it.
#[derive(Debug, Clone, Hash)]
struct Ghosts {
    arrays: Rc<[Named]>,
    specs: Rc<[GhostSpec]>,
    meeting: Meeting,
}

impl Display for Ghosts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("ghosts(")?;
        for (place, (array, spec)) in self.arrays.iter().zip(&*self.specs).enumerate() {
            f.write_str(if place > 0 { ", " } else { "" })?;
            array.fmt(f)?;
            spec.components.iter().try_for_each(|lists| write!(f, " by components #{:04x}", hash(lists) as u16))?;
        }
        let all = self.specs.first();
        if all.is_some_and(|spec| spec.neighbours == Neighbours::Faces) {
            f.write_str(", faces only")?;
        }
        match &self.meeting {
            Meeting::Combine(operator) => write!(f, ", reverse with {operator}")?,
            Meeting::Replace if all.is_some_and(|spec| spec.reverse) => f.write_str(", reverse")?,
            Meeting::Replace => {}
        }
        f.write_str(")")
    }
}

impl World {
    /// Brings the ghost cells of an array up to date: faces, edges and corners. Collective; on return this rank's ghost
    /// cells are valid. Those beyond an end that is not periodic keep what they have.
    ///
    /// Costs one message to each rank that owns a neighbouring chunk, whatever the number of ranks. An array that has no
    /// ghost cells is left as it is; people are warned of that, once for each place in the program.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    ///
    /// ```
    /// # use zippy::{Layout, Operator, Split, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let layout = Layout::new([8]).split([Split::Even(2)]).ghost([1]).periodic([true]);
    /// let ring = world.array::<i32, 1>("ring", &layout)?;
    /// ring.fill_with(|[x]| x as i32)?;
    /// world.ghosts(&ring)?;
    /// let expected = if world.rank() == 0 { [7, 0, 1, 2, 3, 4] } else { [3, 4, 5, 6, 7, 0] };
    /// assert_eq!(ring.local()?.with_ghosts().read()?, expected);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
    /// ```
    #[track_caller]
    pub fn ghosts<T: Element, const D: usize>(&self, array: &GlobalArray<T, D>) -> Result<Moved> {
        self.update_ghosts(GhostUpdate::of(array))
    }

    /// Starts bringing the ghost cells of an array up to date: on return the owners' cells have been read; the ghost
    /// cells must not be touched before `wait`. Compute the [`interior`](crate::array::ChunkRef::interior) meanwhile.
    /// Collective.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    #[track_caller]
    pub fn start_ghosts<T: Element, const D: usize>(&self, array: &GlobalArray<T, D>) -> Result<Pending<'_>> {
        self.start_update_ghosts(GhostUpdate::of(array))
    }

    /// A ghost update as described. Collective; on return this rank's part is done.
    ///
    /// Costs what this rank's neighbours hold, whatever the number of ranks.
    ///
    /// # Errors
    /// A component list or an operator that does not fit the arrays, or a failure of this or of another rank.
    #[track_caller]
    pub fn update_ghosts(&self, update: GhostUpdate) -> Result<Moved> {
        let (job, operation) = self.ghosts_job(update)?;
        self.collective(operation.clone(), hash(&operation), || self.execute(vec![job]))
    }

    /// Starts a ghost update as described. Collective.
    ///
    /// # Errors
    /// As [`update_ghosts`](Self::update_ghosts).
    #[track_caller]
    pub fn start_update_ghosts(&self, update: GhostUpdate) -> Result<Pending<'_>> {
        let (job, operation) = self.ghosts_job(update)?;
        let moved = job.transfer.moved;
        let in_flight = self.collective(operation.clone(), hash(&operation), || self.start(job))?;
        Ok(Pending::new(self, operation, moved, move || self.finish_started(&in_flight)))
    }

    /// What a ghost update will do on this rank, for `explain()`. Local: looks at metadata only.
    ///
    /// # Errors
    /// A component list that does not fit the arrays.
    pub fn plan_ghosts(&self, update: &GhostUpdate) -> Result<Plan> {
        Ok(Plan::new(self.planned_update(update)?, &update.arrays))
    }

    fn planned_update(&self, update: &GhostUpdate) -> Result<Planned> {
        match &update.mistake {
            Some(mistake) => Err(mistake.clone()),
            None => self.planned_ghosts(&update.arrays, &update.specs()),
        }
    }

    #[track_caller]
    fn ghosts_job(&self, update: GhostUpdate) -> Result<(Job, Ghosts)> {
        self.alive()?;
        if self.rank() == 0 {
            warn_of_none(&update.arrays, Location::caller());
        }
        for array in &update.arrays {
            if let Meeting::Combine(operator) = &update.meeting {
                operator.check(array.element())?;
            }
        }
        let Planned { transfer, .. } = self.planned_update(&update)?;
        let arrays = update.arrays.iter().map(|array| Named::of(array)).collect();
        let operation = Ghosts { arrays, specs: update.specs().into(), meeting: update.meeting.clone() };
        Ok((Job { transfer, operands: update.arrays, meeting: update.meeting }, operation))
    }
}

/// Tells people of arrays in a ghost update that have no ghost cells, once for each place in the program.
fn warn_of_none(arrays: &[Rc<ArrayCore>], at: &'static Location<'static>) {
    static TOLD: Mutex<BTreeSet<(&str, u32, u32)>> = Mutex::new(BTreeSet::new());
    let Some(array) = arrays.iter().find(|array| !array.chunks().has_ghosts()) else { return };
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert((at.file(), at.line(), at.column())) {
        let name = array.name();
        trace::warn(&format!(
            "{at}: the ghost update does nothing for array {name:?}, which has no ghost cells; give its layout some with \
             Layout::ghost"
        ));
    }
}
