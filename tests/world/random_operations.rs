//! Programs of random operations on random arrays, compared with a model after every step. In the
//! model, each rank has all cells of all arrays in a map, and applies the definition of the
//! operation.

mod model;

use std::sync::Arc;

use proptest::prelude::*;
use zippy::Exchange;
use zippy::chunks::Chunks;
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{Config, Result, World, run_with};
use zippy_testing::oracle::truth::{self, Cells};
use zippy_testing::oracle::{Request, Verb};
use zippy_testing::plans as random;

use crate::support;
use model::{Model, OPERATORS, operator, replace};

zippy_testing::in_place_too!();

/// Chunks, and their owners modulo the number of ranks; `None` for the default owners.
type Cut = (Arc<Chunks>, Option<Vec<usize>>);

#[derive(Debug, Clone)]
enum Step {
    Copy {
        ends: Ends,
        order: Option<Vec<usize>>,
        started: bool,
    },
    Composite {
        ends: Ends,
        operator: usize,
        started: bool,
    },
    Ghosts {
        arrays: Vec<usize>,
        faces: bool,
        lists: Option<usize>,
        started: bool,
    },
    Reverse {
        arrays: Vec<usize>,
        faces: bool,
        lists: Option<usize>,
        operator: Option<usize>,
    },
    /// Ghost update of some components, and reverse ghost update of others, in one exchange.
    BothWays {
        arrays: Vec<usize>,
        faces: bool,
        lists: [Option<usize>; 2],
        operator: usize,
        started: bool,
    },
    Fence(Vec<Request<u32>>),
}

/// Arrays and regions of source and destination.
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
    let lists = || prop::option::of(0_usize..1000);
    let reverse = (some.clone(), any::<bool>(), lists(), prop::option::of(0..OPERATORS))
        .prop_map(|(arrays, faces, lists, operator)| Step::Reverse { arrays, faces, lists, operator });
    let both = (some, any::<bool>(), [lists(), lists()], 0..OPERATORS, any::<bool>()).prop_map(
        |(arrays, faces, lists, operator, started)| Step::BothWays { arrays, faces, lists, operator, started },
    );
    let fence = prop::collection::vec(request(cuts), 0..8).prop_map(Step::Fence);
    prop_oneof![copy, composite, ghosts, reverse, both, fence].boxed()
}

fn case(axes: usize) -> impl Strategy<Value = Case> {
    (1_usize..6, prop::collection::vec(cut(axes), 1..4)).prop_flat_map(|(ranks, cuts)| {
        let steps = prop::collection::vec(step(&cuts), 1..8);
        steps.prop_map(move |steps| Case { ranks, cuts: cuts.clone(), steps })
    })
}

fn select_components(seed: usize, extent: i64, direction: &[i8]) -> Vec<usize> {
    let code = direction.iter().fold(seed, |code, &side| code * 5 + (side + 1) as usize);
    (0..extent as usize).filter(|component| !(code / 3 + component * (code % 4 + 1)).is_multiple_of(3)).collect()
}

/// Adds a ghost update of each array to an exchange. `way` sets the direction of an update.
fn add_ghost_updates<const D: usize>(
    with: Exchange,
    models: &[Model<D>],
    arrays: &[usize],
    faces: bool,
    lists: Option<usize>,
    way: impl Fn(Exchange) -> Exchange,
) -> Exchange {
    let with_lists = |update: Exchange, model: &Model<D>| match (lists, model.component_axis()) {
        (Some(seed), Some(axis)) => {
            let extent = model.chunks().shape()[axis];
            update.components(axis, move |direction| select_components(seed, extent, direction))
        }
        _ => update,
    };
    arrays.iter().map(|&array| &models[array]).fold(with, |update, model| {
        let update = way(with_lists(update.ghosts(&model.array), model));
        if faces { update.faces_only() } else { update }
    })
}

fn takes_part_in_update<const D: usize>(
    model: &Model<D>,
    faces: bool,
    lists: Option<usize>,
) -> impl Fn(&[i8], &[i64]) -> bool + use<D> {
    let lists = lists.zip(model.component_axis()).map(|(seed, axis)| (seed, axis, model.chunks().shape()[axis]));
    move |direction: &[i8], cell: &[i64]| {
        let near = !faces || direction.iter().filter(|&&side| side != 0).count() == 1;
        near && lists.is_none_or(|(seed, axis, extent)| {
            select_components(seed, extent, direction).contains(&(cell[axis] as usize))
        })
    }
}

fn perform_step<const D: usize>(world: &World, models: &mut [Model<D>], step: &Step) -> Result<()> {
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
            if *started {
                world.start(Exchange::new().composite(from, to, operator))?.wait()?
            } else {
                world.composite(from, to, operator)?
            };
            models[ends.to.0].cells = after;
        }
        Step::Ghosts { arrays, faces, lists, started } => {
            let update = add_ghost_updates(Exchange::new(), models, arrays, *faces, *lists, |update| update);
            if *started {
                world.start(update)?.wait()?
            } else {
                world.exchange(update)?
            };
            for &array in arrays {
                let takes = takes_part_in_update(&models[array], *faces, *lists);
                models[array].cells = truth::ghosts(models[array].chunks(), &models[array].cells, &takes);
            }
        }
        Step::Reverse { arrays, faces, lists, operator: which } => {
            let combine = which.map_or(replace as fn(&u32, &u32) -> u32, |which| operator(which).1);
            world.exchange(add_ghost_updates(
                Exchange::new(),
                models,
                arrays,
                *faces,
                *lists,
                |update| match which {
                    Some(which) => update.reverse_with(operator(*which).0),
                    None => update.reverse(),
                },
            ))?;
            for &array in arrays {
                let (model, takes) = (&models[array], takes_part_in_update(&models[array], *faces, *lists));
                models[array].cells = truth::reverse_ghosts(model.chunks(), &model.cells, &takes, &combine);
            }
        }
        Step::BothWays { arrays, faces, lists: [there, back], operator: which, started } => {
            let (operator, combine) = operator(*which);
            let forward = add_ghost_updates(Exchange::new(), models, arrays, *faces, *there, |update| update);
            let both = add_ghost_updates(forward, models, arrays, *faces, *back, |update| {
                update.reverse_with(operator.clone())
            });
            if *started {
                world.start(both)?.wait()?
            } else {
                world.exchange(both)?
            };
            for &array in arrays {
                let model = &models[array];
                let (takes, returns) =
                    (takes_part_in_update(model, *faces, *there), takes_part_in_update(model, *faces, *back));
                let ghosts = truth::ghosts(model.chunks(), &model.cells, &takes);
                let mut own = truth::reverse_ghosts(model.chunks(), &model.cells, &returns, &combine);
                own.0.retain(|(chunk, cell), _| model.chunks().region(*chunk).contains(&Index::new(cell)));
                models[array].cells = Cells(ghosts.0.into_iter().chain(own.0).collect());
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
    let observed = truth::fence(&requests, &mut cells, &combine);
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
        assert_eq!(fetched.redeem(ticket)?, observed[number], "{:?}", requests[number]);
    }
    let cells: Vec<_> = cells.into_iter().map(|(_, cells)| cells).collect();
    models.iter_mut().zip(cells).for_each(|(model, cells)| model.cells = cells);
    Ok(())
}

fn check_program_against_model<const D: usize>(case: &Case) -> std::result::Result<(), TestCaseError> {
    let ranks = support::launcher::size().unwrap_or(case.ranks);
    let result = run_with(Config::threads(ranks), |world| {
        let models = case.cuts.iter().enumerate().map(|(number, cut)| Model::<D>::new(world, number, cut));
        let mut models = models.collect::<Result<Vec<_>>>()?;
        for step in &case.steps {
            perform_step(world, &mut models, step)?;
            models.iter().try_for_each(|model| model.check(world, step))?;
        }
        Ok(())
    });
    result.map(drop).map_err(|error| TestCaseError::fail(error.to_string()))
}

fn proptest_config() -> ProptestConfig {
    ProptestConfig { cases: 20, rng_seed: support::seed(), max_shrink_iters: 200, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(proptest_config())]

    #[test]
    fn on_lines(case in case(1)) {
        check_program_against_model::<1>(&case)?;
    }

    #[test]
    fn on_planes(case in case(2)) {
        check_program_against_model::<2>(&case)?;
    }

    #[test]
    fn in_space(case in case(3)) {
        check_program_against_model::<3>(&case)?;
    }

    #[test]
    fn on_four_axes(case in case(4)) {
        check_program_against_model::<4>(&case)?;
    }

    #[test]
    fn on_seven_axes(case in case(7)) {
        check_program_against_model::<7>(&case)?;
    }
}
