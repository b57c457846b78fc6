//! Programs of random operations on random arrays, held against the truth after every step: each rank keeps all cells of
//! all arrays in a map and changes them by the meaning of the operation, while the world changes the chunks.

#[path = "../../crates/plan/tests/plans/random.rs"]
mod random;

use std::sync::Arc;

use proptest::prelude::*;
use zippy::Exchange;
use zippy::chunks::Chunks;
use zippy::oracle::truth::{self, Cells};
use zippy::oracle::{Memory, Request, Verb};
use zippy::region::Region;
use zippy::{Config, GlobalArray, Layout, Operator, Ownership, Result, World, run_with};

use crate::support;
use crate::support::cells::mix;

crate::in_place_too!();

/// Cuts, and the ranks of the chunks, to be taken modulo the number of ranks; none is the default.
type Cut = (Arc<Chunks>, Option<Vec<usize>>);

#[derive(Debug, Clone)]
enum Step {
    Copy { ends: Ends, order: Option<Vec<usize>>, started: bool },
    Composite { ends: Ends, operator: usize, started: bool },
    Ghosts { arrays: Vec<usize>, faces: bool, lists: Option<usize>, started: bool },
    Reverse { arrays: Vec<usize>, faces: bool, operator: Option<usize> },
    Fence(Vec<Request<u32>>),
}

/// Source and destination: array and region.
#[derive(Debug, Clone)]
struct Ends {
    from: (usize, Region),
    to: (usize, Region),
}

#[derive(Debug, Clone)]
struct Case {
    ranks: usize,
    cuts: Vec<Cut>,
    steps: Vec<Step>,
}

fn cut(axes: usize) -> impl Strategy<Value = Cut> {
    let chunks = random::shape(axes).prop_flat_map(|shape| random::chunks(shape, None));
    chunks.prop_flat_map(|chunks| {
        let owners = prop::option::of(prop::collection::vec(0_usize..60, chunks.count()));
        owners.prop_map(move |owners| (chunks.clone(), owners))
    })
}

fn ends(cuts: &[Cut], order: &[usize]) -> BoxedStrategy<Ends> {
    let shapes: Vec<Vec<i64>> = cuts.iter().map(|(chunks, _)| chunks.shape().to_vec()).collect();
    let order = order.to_vec();
    (0..shapes.len(), 0..shapes.len())
        .prop_flat_map(move |(from, to)| {
            let (src, dst) = (shapes[from].clone(), shapes[to].clone());
            let order = order.clone();
            let limit = (0..dst.len()).map(|axis| dst[axis].min(src[order[axis]])).collect();
            random::extents(limit).prop_flat_map(move |extents| {
                let mut permuted = extents.clone();
                (0..extents.len()).for_each(|axis| permuted[order[axis]] = extents[axis]);
                let regions = (random::region_of(&src, &permuted), random::region_of(&dst, &extents));
                regions.prop_map(move |(src, dst)| Ends { from: (from, src), to: (to, dst) })
            })
        })
        .boxed()
}

fn request(cuts: &[Cut]) -> BoxedStrategy<Request<u32>> {
    let shapes: Vec<Vec<i64>> = cuts.iter().map(|(chunks, _)| chunks.shape().to_vec()).collect();
    let section = (0..shapes.len()).prop_flat_map(move |array| (Just(array), random::region(shapes[array].clone())));
    (0_usize..60, section, 0..3, any::<u32>())
        .prop_map(|(rank, (array, region), verb, seed)| {
            let values = || (0..region.cells() as u32).map(|place| seed.wrapping_add(place)).collect::<Vec<_>>();
            let verb = match verb {
                0 => Verb::Get,
                1 => Verb::Put(values()),
                _ => Verb::Accumulate(values()),
            };
            Request { rank, array, region, verb }
        })
        .boxed()
}

fn step(cuts: &[Cut]) -> BoxedStrategy<Step> {
    let axes: Vec<usize> = (0..cuts[0].0.axes()).collect();
    let some = prop::sample::subsequence((0..cuts.len()).collect::<Vec<_>>(), 1..=cuts.len());
    let again = cuts.to_vec();
    let copy = (prop::option::of(Just(axes.clone()).prop_shuffle()), any::<bool>()).prop_flat_map({
        let (cuts, axes) = (again.clone(), axes.clone());
        move |(order, started)| {
            ends(&cuts, order.as_ref().unwrap_or(&axes)).prop_map(move |ends| {
                let started = started && order.is_none();
                Step::Copy { ends, order: order.clone(), started }
            })
        }
    });
    let composite = (ends(cuts, &axes), 0..OPERATORS, any::<bool>())
        .prop_map(|(ends, operator, started)| Step::Composite { ends, operator, started });
    let ghosts = (some.clone(), any::<bool>(), prop::option::of(0_usize..1000), any::<bool>())
        .prop_map(|(arrays, faces, lists, started)| Step::Ghosts { arrays, faces, lists, started });
    let reverse = (some, any::<bool>(), prop::option::of(0..OPERATORS))
        .prop_map(|(arrays, faces, operator)| Step::Reverse { arrays, faces, operator });
    let fence = prop::collection::vec(request(cuts), 0..8).prop_map(Step::Fence);
    prop_oneof![copy, composite, ghosts, reverse, fence].boxed()
}

fn case(axes: usize) -> impl Strategy<Value = Case> {
    (1_usize..6, prop::collection::vec(cut(axes), 1..4)).prop_flat_map(|(ranks, cuts)| {
        let steps = prop::collection::vec(step(&cuts), 1..8);
        steps.prop_map(move |steps| Case { ranks, cuts: cuts.clone(), steps })
    })
}

const OPERATORS: usize = 3;

/// An operator, and what it means. The last one tells orders apart.
fn operator(which: usize) -> (Operator, fn(&u32, &u32) -> u32) {
    match which {
        0 => (Operator::Add, |new, there| new.wrapping_add(*there)),
        1 => (Operator::Max, |new, there| *new.max(there)),
        _ => {
            let wgsl = "fn combine(src: T, dst: T) -> T { return 3u * dst + src; }";
            (Operator::custom("shifted", wgsl), |new, there| there.wrapping_mul(3).wrapping_add(*new))
        }
    }
}

fn replace(new: &u32, _: &u32) -> u32 {
    *new
}

/// One array of the program, and all its cells as they should be.
struct Model<const D: usize> {
    array: GlobalArray<u32, D>,
    cells: Cells<u32>,
}

impl<const D: usize> Model<D> {
    fn new(world: &World, number: usize, (chunks, owners): &Cut) -> Result<Self> {
        let boxes = (0..chunks.count()).map(|chunk| chunks.region(chunk)).collect();
        let layout = Layout::from_shape(&chunks.shape()).boxes(boxes);
        let layout = layout.ghost_lists(&chunks.ghost_lo(), &chunks.ghost_hi()).periodic_list(chunks.periodic());
        let name = format!("array {number}");
        let array: GlobalArray<u32, D> = match owners {
            None => world.array(&name, &layout)?,
            Some(table) => {
                let table = table.iter().map(|rank| rank % world.size()).collect();
                world.array_owned(&name, &layout, Ownership::table(table, world.size())?)?
            }
        };
        let value = |chunk: usize, cell: &[i64]| {
            let place = cell.iter().fold(number as u64, |code, &x| code * 103 + (x + 51) as u64);
            mix(place << 12 | chunk as u64) as u32
        };
        let memory = Memory::new(array.placement(), |chunk, cell| value(chunk, &cell));
        let cells = Cells::of(&memory, array.placement());
        for chunk in array.chunks() {
            chunk.with_ghosts().write(memory.chunk(array.placement(), chunk.id()))?;
        }
        Ok(Self { array, cells })
    }

    fn chunks(&self) -> &Chunks {
        self.array.placement().chunks()
    }

    /// An axis without ghosts, for lists of components.
    fn component_axis(&self) -> Option<usize> {
        (0..D).rev().find(|&axis| self.chunks().ghost_lo()[axis] == 0 && self.chunks().ghost_hi()[axis] == 0)
    }

    /// This rank's chunks are as they should be, ghost cells included.
    fn check(&self, what: &dyn std::fmt::Debug) -> Result<()> {
        for chunk in self.array.chunks() {
            let section = chunk.with_ghosts();
            for (cell, found) in section.region()?.points().zip(section.read()?) {
                let expected = self.cells.0[&(chunk.id(), cell.to_vec())];
                assert_eq!(
                    found,
                    expected,
                    "cell {cell} of chunk {} of {} after {what:?}",
                    chunk.id(),
                    self.array.name()
                );
            }
        }
        Ok(())
    }
}

/// Some components for each direction.
fn listed(seed: usize, extent: i64, direction: &[i8]) -> Vec<usize> {
    let code = direction.iter().fold(seed, |code, &side| code * 5 + (side + 1) as usize);
    (0..extent as usize).filter(|component| !(code / 3 + component * (code % 4 + 1)).is_multiple_of(3)).collect()
}

/// A ghost update of arrays, each of which `way` says the way of.
fn update<const D: usize>(
    models: &[Model<D>],
    arrays: &[usize],
    faces: bool,
    lists: Option<usize>,
    way: impl Fn(Exchange) -> Exchange,
) -> Exchange {
    let with_lists = |update: Exchange, model: &Model<D>| match (lists, model.component_axis()) {
        (Some(seed), Some(axis)) => {
            let extent = model.chunks().shape()[axis];
            update.components(axis, move |direction| listed(seed, extent, direction))
        }
        _ => update,
    };
    arrays.iter().map(|&array| &models[array]).fold(Exchange::new(), |update, model| {
        let update = way(with_lists(update.ghosts(&model.array), model));
        if faces { update.faces_only() } else { update }
    })
}

fn takes<const D: usize>(
    model: &Model<D>,
    faces: bool,
    lists: Option<usize>,
) -> impl Fn(&[i8], &[i64]) -> bool + use<D> {
    let lists = lists.zip(model.component_axis()).map(|(seed, axis)| (seed, axis, model.chunks().shape()[axis]));
    move |direction: &[i8], cell: &[i64]| {
        let near = !faces || direction.iter().filter(|&&side| side != 0).count() == 1;
        near && lists
            .is_none_or(|(seed, axis, extent)| listed(seed, extent, direction).contains(&(cell[axis] as usize)))
    }
}

/// The step as the world does it, and as it is meant.
fn perform<const D: usize>(world: &World, models: &mut [Model<D>], step: &Step) -> Result<()> {
    let meant = |models: &[Model<D>], ends: &Ends, order: &[usize], combine: fn(&u32, &u32) -> u32| {
        let end = |(array, region): &(usize, Region)| (models[*array].chunks(), &models[*array].cells, *region);
        let ((src, before, from), (dst, there, to)) = (end(&ends.from), end(&ends.to));
        truth::copy((src, before, &from), (dst, there, &to), order, &combine)
    };
    let straight: Vec<usize> = (0..D).collect();
    match step {
        Step::Copy { ends, order, started } => {
            let after = meant(models, ends, order.as_ref().unwrap_or(&straight), replace);
            let (from, to) = (models[ends.from.0].array.at(ends.from.1), models[ends.to.0].array.at(ends.to.1));
            match order {
                Some(order) => world.exchange(Exchange::new().copy(from, to).permuted(order))?,
                None if *started => world.start_copy(from, to)?.wait()?,
                None => world.copy(from, to)?,
            };
            models[ends.to.0].cells = after;
        }
        Step::Composite { ends, operator: which, started } => {
            let (operator, combine) = operator(*which);
            let after = meant(models, ends, &straight, combine);
            let (from, to) = (models[ends.from.0].array.at(ends.from.1), models[ends.to.0].array.at(ends.to.1));
            match started {
                true => world.start(Exchange::new().composite(from, to, operator))?.wait()?,
                false => world.composite(from, to, operator)?,
            };
            models[ends.to.0].cells = after;
        }
        Step::Ghosts { arrays, faces, lists, started } => {
            let update = update(models, arrays, *faces, *lists, |update| update);
            if *started {
                world.start(update)?.wait()?
            } else {
                world.exchange(update)?
            };
            for &array in arrays {
                let takes = takes(&models[array], *faces, *lists);
                models[array].cells = truth::ghosts(models[array].chunks(), &models[array].cells, &takes);
            }
        }
        Step::Reverse { arrays, faces, operator: which } => {
            let combine = which.map_or(replace as fn(&u32, &u32) -> u32, |which| operator(which).1);
            world.exchange(update(models, arrays, *faces, None, |update| match which {
                Some(which) => update.reverse_with(operator(*which).0),
                None => update.reverse(),
            }))?;
            for &array in arrays {
                let (model, takes) = (&models[array], takes(&models[array], *faces, None));
                models[array].cells = truth::reverse_ghosts(model.chunks(), &model.cells, &takes, &combine);
            }
        }
        Step::Fence(requests) => fence(world, models, requests)?,
    }
    Ok(())
}

fn fence<const D: usize>(world: &World, models: &mut [Model<D>], requests: &[Request<u32>]) -> Result<()> {
    let (own, combine) = operator(OPERATORS - 1);
    let placed: Vec<_> = models.iter().map(|model| model.array.placement().clone()).collect();
    let mut cells: Vec<_> =
        placed.iter().zip(&*models).map(|(at, model)| (&**at.chunks(), model.cells.clone())).collect();
    let requests: Vec<_> =
        requests.iter().map(|request| Request { rank: request.rank % world.size(), ..request.clone() }).collect();
    let seen = truth::fence(&requests, &mut cells, &combine);
    let mut tickets = Vec::new();
    for (number, request) in requests.iter().enumerate().filter(|(_, request)| request.rank == world.rank()) {
        let section = models[request.array].array.at(request.region);
        match &request.verb {
            Verb::Get => tickets.push((number, world.get(section)?)),
            Verb::Put(values) => world.put(values, section)?,
            Verb::Accumulate(values) => world.accumulate(values, section, own.clone())?,
        }
    }
    let mut fetched = world.fence()?;
    for (number, ticket) in tickets {
        assert_eq!(fetched.redeem(ticket)?, seen[number], "{:?}", requests[number]);
    }
    let cells: Vec<_> = cells.into_iter().map(|(_, cells)| cells).collect();
    models.iter_mut().zip(cells).for_each(|(model, cells)| model.cells = cells);
    Ok(())
}

fn same_as_truth<const D: usize>(case: &Case) -> std::result::Result<(), TestCaseError> {
    let ranks = support::launcher::size().unwrap_or(case.ranks);
    let result = run_with(Config::threads(ranks), |world| {
        let models = case.cuts.iter().enumerate().map(|(number, cut)| Model::<D>::new(world, number, cut));
        let mut models = models.collect::<Result<Vec<_>>>()?;
        for step in &case.steps {
            perform(world, &mut models, step)?;
            models.iter().try_for_each(|model| model.check(step))?;
        }
        Ok(())
    });
    result.map(drop).map_err(|error| TestCaseError::fail(error.to_string()))
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 20, rng_seed: support::seed(), max_shrink_iters: 200, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn on_lines(case in case(1)) {
        same_as_truth::<1>(&case)?;
    }

    #[test]
    fn on_planes(case in case(2)) {
        same_as_truth::<2>(&case)?;
    }

    #[test]
    fn in_space(case in case(3)) {
        same_as_truth::<3>(&case)?;
    }

    #[test]
    fn on_four_axes(case in case(4)) {
        same_as_truth::<4>(&case)?;
    }

    #[test]
    fn on_seven_axes(case in case(7)) {
        same_as_truth::<7>(&case)?;
    }
}
