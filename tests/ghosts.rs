//! Ghost updates on 1, 2, 3, 5 and 8 ranks, against the definition: a ghost cell holds what its (periodic) image holds.

mod support;

use support::RANKS;
use zippy::world::GhostUpdate;
use zippy::{GlobalArray, Layout, Operator, Result, Split, World};

fn encode<const D: usize>(p: [i64; D]) -> i32 {
    p.iter().rev().fold(0, |sum, &x| sum * 64 + x as i32 + 1)
}

/// The cell that a ghost cell stands for; `None` outside a domain that is not periodic there.
fn image<const D: usize>(p: [i64; D], shape: [i64; D], periodic: [bool; D]) -> Option<[i64; D]> {
    let mut cell = p;
    for axis in 0..D {
        if !(0..shape[axis]).contains(&cell[axis]) {
            if !periodic[axis] {
                return None;
            }
            cell[axis] = cell[axis].rem_euclid(shape[axis]);
        }
    }
    Some(cell)
}

/// Checks all cells and ghost cells of this rank; cells outside the domain keep -1.
fn check<const D: usize>(array: &GlobalArray<i32, D>, periodic: [bool; D], faces_only: bool) -> Result<()> {
    for chunk in array.chunks() {
        let own = chunk.region();
        let section = chunk.with_ghosts();
        for (p, value) in section.region()?.points().zip(section.read()?) {
            let p: [i64; D] = std::array::from_fn(|axis| p[axis]);
            let outside = (0..D).filter(|&axis| p[axis] < own.start[axis] || p[axis] >= own.end[axis]).count();
            let expected = match image(p, array.shape(), periodic) {
                Some(cell) if outside <= 1 || !faces_only => encode(cell),
                _ => -1,
            };
            assert_eq!(value, expected, "{} at {p:?}", array.name());
        }
    }
    Ok(())
}

fn updated<const D: usize>(world: &World, layout: Layout, periodic: [bool; D], faces_only: bool) -> Result<()> {
    let array = world.array::<i32, D>("array", &layout.periodic(periodic))?;
    array.fill(-1)?;
    array.fill_with(encode)?;
    let update = GhostUpdate::of(&array);
    let moved = world.update_ghosts(if faces_only { update.faces_only() } else { update })?;
    check(&array, periodic, faces_only)?;
    // Again: the same transfer, no plan built.
    let built = world.plan_counters().built;
    let update = GhostUpdate::of(&array);
    assert_eq!(world.update_ghosts(if faces_only { update.faces_only() } else { update })?, moved);
    assert_eq!(world.plan_counters().built, built);
    Ok(())
}

#[test]
fn faces_edges_and_corners_with_and_without_periodicity() {
    support::ranks(RANKS, |world: &World| {
        for faces_only in [false, true] {
            for periodic in [[false, false, false], [true, false, true], [true, true, true]] {
                let layout = || Layout::new([9, 7, 5]).ghost([1, 1, 1]);
                let split = [Split::Even(world.size()), Split::Even(2), [2, 3].into()];
                updated(world, layout().split(split), periodic, faces_only)?;
                updated(world, layout().split_all(Split::Auto), periodic, faces_only)?;
            }
        }
        Ok(())
    });
}

#[test]
fn widths_per_side_and_wider_than_the_neighbour() {
    support::ranks(RANKS, |world: &World| {
        let layout = Layout::new([12, 6]).split([[2, 1, 0, 3, 1, 5].into(), Split::Even(world.size())]);
        updated(world, layout.clone().ghost_sides([(3, 4), (2, 0)]), [true, true], false)?;
        updated(world, layout.clone().ghost_sides([(0, 4), (1, 3)]), [false, true], false)?;
        updated(world, layout.ghost_sides([(0, 0), (0, 0)]), [true, true], false)
    });
}

#[test]
fn an_axis_shorter_than_the_ghosts_has_several_images() {
    support::ranks(RANKS, |world: &World| {
        let layout = Layout::new([2, 11]).split([Split::Even(2), Split::Even(world.size())]).ghost([5, 1]);
        updated(world, layout, [true, true], false)?;
        updated(world, Layout::new([1]).ghost([3]), [true], false)
    });
}

#[test]
fn several_arrays_go_in_one_exchange() {
    support::ranks(RANKS, |world: &World| {
        let layout = Layout::new([10, 8]).split([Split::Even(world.size()), Split::Even(2)]).periodic([true, true]);
        let wide = world.array::<i32, 2>("wide", &layout.clone().ghost([2, 2]))?;
        let narrow = world.array::<i32, 2>("narrow", &layout.clone().ghost([1, 0]))?;
        let bytes = world.array::<u8, 2>("bytes", &layout.ghost([1, 1]))?;
        for array in [&wide, &narrow] {
            array.fill(-1)?;
            array.fill_with(encode)?;
        }
        bytes.fill_with(|[x, y]| (x + 16 * y) as u8)?;
        world.update_ghosts(GhostUpdate::of(&wide).and(&narrow).and(&bytes))?;
        check(&wide, [true, true], false)?;
        check(&narrow, [true, true], false)?;
        for chunk in bytes.chunks() {
            let section = chunk.with_ghosts();
            for (p, value) in section.region()?.points().zip(section.read()?) {
                assert_eq!(i64::from(value), p[0].rem_euclid(10) + 16 * p[1].rem_euclid(8), "at {p:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn components_by_direction() {
    // D2Q9: across +x only the populations that move in +x, and so on.
    const VELOCITY: [[i64; 2]; 9] =
        [[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]];
    let wanted = |direction: [i64; 2], component: usize| {
        (0..2).all(|axis| direction[axis] == 0 || VELOCITY[component][axis] == direction[axis])
    };
    support::ranks(RANKS, |world: &World| {
        let split = [Split::Even(world.size()), Split::Even(2), Split::Whole];
        let layout = Layout::new([10, 8, 9]).split(split).ghost([1, 1, 0]).periodic([true, true, false]);
        let array = world.array::<i32, 3>("f", &layout)?;
        array.fill(-1)?;
        array.fill_with(encode)?;
        let update = GhostUpdate::of(&array).components(2, |direction| {
            (0..9).filter(|&q| wanted([direction[0], direction[1]], q as usize)).collect()
        });
        let all = world.ghosts(&array)?.bytes_network;
        array.fill(-1)?;
        array.fill_with(encode)?;
        let some = world.update_ghosts(update)?.bytes_network;
        assert!(some * 2 < all || all == 0, "{some} of {all} bytes");
        for chunk in array.chunks() {
            let (own, section) = (chunk.region(), chunk.with_ghosts());
            for (p, value) in section.region()?.points().zip(section.read()?) {
                let side = |axis: usize| i64::from(p[axis] >= own.end[axis]) - i64::from(p[axis] < own.start[axis]);
                let ghost = [side(0), side(1)] != [0, 0];
                let known = !ghost || wanted([side(0), side(1)], p[2] as usize);
                let cell = [p[0].rem_euclid(10), p[1].rem_euclid(8), p[2]];
                assert_eq!(value, if known { encode(cell) } else { -1 }, "at {p:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn ghosts_return_to_their_owners() {
    support::ranks(RANKS, |world: &World| {
        let layout = Layout::new([9, 5]).split([Split::Even(world.size()), Split::Even(2)]).ghost([1, 1]).periodic([true, true]);
        let array = world.array::<i32, 2>("array", &layout)?;
        array.fill(1)?;
        world.update_ghosts(GhostUpdate::of(&array).reverse_with(Operator::Add))?;
        // A cell is counted once for itself and once for every ghost cell that stands for it.
        for chunk in array.chunks() {
            for (p, value) in chunk.region().points().zip(chunk.all().read()?) {
                let images: i32 = (0..array.core().chunks().count())
                    .map(|other| {
                        let (own, storage) = (array.core().chunks().region(other), array.core().chunks().storage(other));
                        let stands = |q: &zippy::extents::Index| {
                            !own.contains(q) && q[0].rem_euclid(9) == p[0] && q[1].rem_euclid(5) == p[1]
                        };
                        storage.points().filter(stands).count() as i32
                    })
                    .sum();
                assert_eq!(value, 1 + images, "at {p:?}");
            }
        }
        // Replace: what a neighbour wrote into its ghost cells arrives at the owner.
        array.fill(0)?;
        for chunk in array.chunks() {
            let section = chunk.with_ghosts();
            let own = chunk.region();
            let values: Vec<i32> = section
                .region()?
                .points()
                .map(|p| if own.contains(&p) { 0 } else { encode([p[0].rem_euclid(9), p[1].rem_euclid(5)]) })
                .collect();
            section.write(&values)?;
        }
        world.update_ghosts(GhostUpdate::of(&array).reverse())?;
        for chunk in array.chunks() {
            let own = chunk.region();
            for (p, value) in own.points().zip(chunk.all().read()?) {
                let interior = chunk.interior().region()?.contains(&p);
                assert_eq!(value, if interior { 0 } else { encode([p[0], p[1]]) }, "at {p:?} of {own:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn a_started_update_leaves_the_interior_free() {
    support::ranks(RANKS, |world: &World| {
        let layout = Layout::new([20]).split([Split::Even(world.size())]).ghost([1]).periodic([true]);
        let array = world.array::<i32, 1>("array", &layout)?;
        array.fill(-1)?;
        array.fill_with(encode)?;
        let halo = world.start_ghosts(&array)?;
        for chunk in array.chunks() {
            let interior = chunk.interior();
            interior.write(&vec![7; interior.region()?.cells() as usize])?;
        }
        halo.wait()?;
        for chunk in array.chunks() {
            let (own, section) = (chunk.region(), chunk.with_ghosts());
            let interior = chunk.interior().region()?;
            for (p, value) in section.region()?.points().zip(section.read()?) {
                let expected = if interior.contains(&p) { 7 } else { encode([p[0].rem_euclid(20)]) };
                assert_eq!(value, expected, "at {p:?} of {own:?}");
            }
        }
        Ok(())
    });
}

support::under_mpi!();
