//! Ghost updates: filled cells and their values, component lists, several arrays, and overlap with
//! computation.

use zippy::Exchange;
use zippy::error::{DeviceError, ErrorKind, PlanError};
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{GlobalArray, KernelSource, Layout, Operator, Result, Split, World};

use crate::support::cells::{Value, code, cuts, expect, fill, same};
use crate::support::ghosts::{STALE, direction, image, outside};
use crate::support::{RANKS, ranks};

/// Checks all stored cells of this rank: owned cells are unchanged; ghost cells are filled where
/// `crosses` is true, else stale.
fn check_stored_cells<T: Value, const D: usize>(
    array: &GlobalArray<T, D>,
    label: &str,
    (of, periodic): (u64, [bool; D]),
    crosses: impl Fn([i8; D], [i64; D]) -> bool,
) -> Result<()> {
    for chunk in array.chunks() {
        let (own, all) = (chunk.region(), chunk.with_ghosts());
        let label = format!("{label}, chunk {}", chunk.id());
        same(all.region()?.points().zip(all.read()?), &label, &|at: [i64; D]| {
            let side = direction(at, &own);
            match image(at, array.shape(), periodic) {
                _ if outside(side) == 0 => T::of(code(of, at)),
                Some(from) if crosses(side, at) => T::of(code(of, from)),
                _ => T::of(STALE),
            }
        });
    }
    Ok(())
}

fn prepare<T: Value, const D: usize>(array: &GlobalArray<T, D>, of: u64) -> Result<()> {
    array.fill(T::of(STALE))?;
    fill(array, of)
}

fn check_faces_and_all_ghost_cells<T: Value, const D: usize>(
    world: &World,
    shape: [i64; D],
    widths: [(i64, i64); D],
    periodic: [bool; D],
) -> Result<()> {
    for cut in cuts(shape, world.size()) {
        let cut = cut.with(|layout| layout.ghost_sides(widths).periodic(periodic));
        let label = format!("{} {widths:?} {periodic:?} on {} ranks", cut.name, world.size());
        let array = cut.array::<T, D>(world, "array")?;
        prepare(&array, 1)?;
        world.exchange(Exchange::new().ghosts(&array).faces_only())?;
        check_stored_cells(&array, &format!("faces of {label}"), (1, periodic), |side, _| outside(side) == 1)?;
        world.ghosts(&array)?;
        check_stored_cells(&array, &format!("all of {label}"), (1, periodic), |_, _| true)?;
    }
    Ok(())
}

#[test]
fn ghost_update_fills_faces_edges_and_corners() {
    ranks(RANKS, |world| {
        check_faces_and_all_ghost_cells::<f32, 3>(world, [7, 6, 5], [(1, 1); 3], [false; 3])?;
        check_faces_and_all_ghost_cells::<f32, 3>(world, [7, 6, 5], [(1, 1); 3], [true; 3])?;
        // A different width on every side, some wider than chunks and some zero.
        check_faces_and_all_ghost_cells::<u32, 3>(world, [7, 6, 5], [(2, 0), (3, 1), (0, 2)], [true, false, true])?;
        check_faces_and_all_ghost_cells::<u8, 3>(world, [7, 6, 5], [(0, 3), (0, 0), (4, 1)], [false, false, true])
    });
}

/// A prime number of ranks forms no grid.
#[test]
fn ghost_update_works_with_one_chunk_on_each_of_13_ranks() {
    ranks(&[13], |world| {
        let layout = Layout::new([12, 10, 9]).ghost([1, 2, 1]).periodic([true, false, true]);
        let array = world.array::<f32, 3>("array", &layout)?;
        let count = array.core().chunks().count();
        assert!(count == world.size() && array.local().is_ok(), "{count} chunks on {} ranks", world.size());
        prepare(&array, 1)?;
        world.ghosts(&array)?;
        check_stored_cells(&array, "boxes", (1, [true, false, true]), |_, _| true)
    });
}

#[test]
fn ghost_update_fills_ghost_cells_wider_than_axis() {
    ranks(RANKS, |world| {
        check_faces_and_all_ghost_cells::<u32, 2>(world, [2, 3], [(5, 4), (7, 7)], [true, true])?;
        check_faces_and_all_ghost_cells::<u16, 2>(world, [1, 4], [(3, 3), (2, 9)], [true, false])?;
        check_faces_and_all_ghost_cells::<f32, 1>(world, [3], [(8, 2)], [true])?;
        check_faces_and_all_ghost_cells::<f32, 2>(world, [0, 4], [(2, 2), (1, 1)], [true, true])
    });
}

#[test]
fn ghost_update_works_in_one_to_seven_axes() {
    ranks(RANKS, |world| {
        check_faces_and_all_ghost_cells::<i32, 1>(world, [23], [(2, 3)], [true])?;
        check_faces_and_all_ghost_cells::<i8, 2>(world, [9, 7], [(2, 1), (0, 3)], [true, false])?;
        check_faces_and_all_ghost_cells::<i32, 4>(
            world,
            [4, 3, 3, 4],
            [(1, 1), (0, 1), (1, 0), (1, 1)],
            [true, false, true, true],
        )?;
        check_faces_and_all_ghost_cells::<i32, 5>(
            world,
            [3, 2, 3, 2, 3],
            [(1, 1), (0, 1), (1, 0), (0, 0), (1, 1)],
            [true; 5],
        )?;
        check_faces_and_all_ghost_cells::<i32, 6>(world, [3, 2, 2, 2, 2, 3], [(1, 0); 6], [false; 6])?;
        check_faces_and_all_ghost_cells::<i32, 7>(world, [3, 2, 2, 1, 2, 2, 2], [(0, 1); 7], [true; 7])
    });
}

/// Components of a 9-velocity lattice that stream towards a side; every second component at odd
/// parity.
fn streaming(side: &[i8], parity: usize) -> Vec<usize> {
    let velocity = |c: usize| [c as i8 % 3 - 1, c as i8 / 3 - 1];
    let towards = |c: &usize| (0..2).all(|axis| side[axis] == 0 || velocity(*c)[axis] == -side[axis]);
    (0..9).filter(towards).filter(|c| parity == 0 || c % 2 == 1).collect()
}

#[test]
fn listed_components_are_updated_by_direction_and_parity() {
    ranks(RANKS, |world| {
        let (shape, periodic) = ([8, 7, 9], [true, true, false]);
        for cut in cuts([8, 7], world.size()) {
            // Layouts of a plane in which every chunk has all nine components.
            let chunks = cut.layout.resolve(world.size(), 4, 1 << 20)?;
            let columns = (0..chunks.count()).map(|chunk| {
                let plane = chunks.region(chunk);
                let corner = |at: &Index, c| Index::from([at[0], at[1], c]);
                Region { start: corner(&plane.start, 0), end: corner(&plane.end, 9) }
            });
            let layout = Layout::new(shape).boxes(columns.collect()).ghost([1, 1, 0]).periodic(periodic);
            for parity in [0, 1] {
                let array = world.array::<f32, 3>("populations", &layout)?;
                prepare(&array, 2)?;
                let moved =
                    world.exchange(Exchange::new().ghosts(&array).components(2, |side| streaming(side, parity)))?;
                let label = format!("{} with parity {parity} on {} ranks", cut.name, world.size());
                check_stored_cells(&array, &label, (2, periodic), |side, at| {
                    streaming(&side[..2], parity).contains(&(at[2] as usize))
                })?;
                let whole = world.ghosts(&array)?;
                let bytes = |moved: zippy::Moved| moved.bytes_local + moved.bytes_network;
                assert!(bytes(moved) < bytes(whole) || bytes(whole) == 0, "{label}");
            }
        }
        Ok(())
    });
}

#[test]
fn component_axis_may_be_axis_0() {
    ranks(RANKS, |world| {
        let layout = Layout::new([3, 12]).split([Split::Whole, Split::Even(4)]).ghost([0, 2]).periodic([false, true]);
        let array = world.array::<u8, 2>("array", &layout)?;
        prepare(&array, 3)?;
        world.exchange(
            Exchange::new().ghosts(&array).components(0, |side| if side[1] < 0 { vec![2, 0] } else { vec![1] }),
        )?;
        check_stored_cells(&array, "components", (3, [false, true]), |side, at| (side[1] < 0) == (at[0] != 1))
    });
}

#[test]
fn several_arrays_are_updated_in_one_exchange() {
    ranks(RANKS, |world| {
        let size = world.size();
        let plane = Layout::new([9, 8]).split([Split::Even(2), Split::Even(size)]).ghost([1, 1]).periodic([true, true]);
        let (a, b) = (world.array::<f32, 2>("a", &plane)?, world.array::<f32, 2>("b", &plane)?);
        let c = world.array::<u8, 1>("c", &Layout::new([11]).split([Split::Even(3)]).ghost([2]).periodic([true]))?;
        prepare(&a, 5)?;
        prepare(&b, 6)?;
        prepare(&c, 7)?;
        let alone = world.ghosts(&a)?;
        let pair = world.exchange(Exchange::new().ghosts(&a).ghosts(&b))?;
        assert_eq!(pair.messages, alone.messages, "one message a neighbour, for both arrays");
        assert_eq!(pair.bytes_network + pair.bytes_local, 2 * (alone.bytes_network + alone.bytes_local));
        prepare(&a, 8)?;
        prepare(&b, 9)?;
        world.exchange(Exchange::new().ghosts(&a).ghosts(&c).ghosts(&b))?;
        check_stored_cells(&a, "a", (8, [true, true]), |_, _| true)?;
        check_stored_cells(&b, "b", (9, [true, true]), |_, _| true)?;
        check_stored_cells(&c, "c", (7, [true]), |_, _| true)
    });
}

#[test]
fn second_update_of_array_in_exchange_is_refused() {
    ranks(RANKS, |world| {
        let count = world.size() + 1;
        let layout = Layout::new([3, count as i64]).split([Split::Whole, Split::Even(count)]).ghost([1, 0]);
        let a = world.array::<f32, 2>("a", &layout)?;
        let order: Vec<usize> = (0..count).rev().collect();
        for again in [a.clone(), a.reassigned(&order)?] {
            let update = Exchange::new().ghosts(&a).ghosts(&again);
            assert!(world.plan(&update).is_err());
            let error = world.exchange(update).unwrap_err().kind().to_string();
            assert_eq!(
                error,
                "the ghost update names array \"a\" and again \"a\", which are the same chunks; each may take part once"
            );
        }
        world.ghosts(&a).map(drop)
    });
}

/// Kernel that sums a cell and its four neighbours.
const STENCIL: &str = "
@group(0) @binding(0) var<storage, read> now: array<u32>;
@group(0) @binding(1) var<storage, read_write> next: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = next_position(id);
    if !next_inside(p) { return; }
    next_store(p, now_load(p) + now_load(p + vec2(1, 0)) + 3u * now_load(p - vec2(1, 0))
        + 5u * now_load(p + vec2(0, 1)) + 7u * now_load(p - vec2(0, 1)));
}";

#[test]
fn interior_is_computed_during_ghost_update() {
    ranks(RANKS, |world| {
        let kernel = world.kernel(KernelSource::text("stencil.wgsl", STENCIL))?;
        for cut in cuts([13, 11], world.size()) {
            let cut = cut.with(|layout| layout.ghost([1, 1]).periodic([true, true]));
            let (now, next) = (cut.array::<u32, 2>(world, "now")?, cut.array::<u32, 2>(world, "next")?);
            prepare(&now, 10)?;
            let halo = world.start_ghosts(&now)?;
            for (a, b) in zippy::zip_chunks((&now, &next))? {
                kernel.call().read("now", a.all()).write("next", b.all()).over(b.interior()).run()?;
            }
            halo.wait()?;
            for (a, b) in zippy::zip_chunks((&now, &next))? {
                kernel.call().read("now", a.all()).write("next", b.all()).over(b.boundary()).run()?;
            }
            expect(&next, &cut.name, |[x, y]| {
                let at = |x: i64, y: i64| u32::of(code(10, [x.rem_euclid(13), y.rem_euclid(11)]));
                let neighbours =
                    [(1, at(x, y)), (1, at(x + 1, y)), (3, at(x - 1, y)), (5, at(x, y + 1)), (7, at(x, y - 1))];
                neighbours.iter().fold(0_u32, |sum, (weight, value)| sum.wrapping_add(value.wrapping_mul(*weight)))
            })?;
        }
        Ok(())
    });
}

#[test]
fn owned_cells_may_change_after_ghost_update_has_started() {
    ranks(RANKS, |world| {
        for cut in cuts([10, 9], world.size()) {
            let cut = cut.with(|layout| layout.ghost([2, 1]).periodic([true, false]));
            let array = cut.array::<i16, 2>(world, "array")?;
            prepare(&array, 11)?;
            let halo = world.start_ghosts(&array)?;
            fill(&array, 12)?;
            halo.wait()?;
            for chunk in array.chunks() {
                let (own, all) = (chunk.region(), chunk.with_ghosts());
                same(all.region()?.points().zip(all.read()?), &cut.name, &|at: [i64; 2]| {
                    let inside = own.contains(&at.into());
                    let old = image(at, [10, 9], [true, false]).map_or(STALE, |from| code(11, from));
                    i16::of(if inside { code(12, at) } else { old })
                });
            }
        }
        Ok(())
    });
}

#[test]
fn invalid_ghost_update_returns_same_error_and_changes_nothing() {
    ranks(RANKS, |world| {
        let layout = Layout::new([6, 4]).split([Split::Even(3), Split::Whole]).ghost([1, 0]).periodic([true, false]);
        let array = world.array::<f32, 2>("array", &layout)?;
        prepare(&array, 13)?;
        let update = || Exchange::new().ghosts(&array);
        let failed = |update| world.exchange(update).unwrap_err().into_kind();
        assert!(matches!(
            failed(update().components(0, |_| vec![])),
            ErrorKind::Plan(PlanError::ComponentGhosts { .. })
        ));
        assert!(matches!(failed(update().components(2, |_| vec![])), ErrorKind::Plan(PlanError::ComponentAxis { .. })));
        assert!(matches!(failed(update().components(1, |_| vec![4])), ErrorKind::Plan(PlanError::Component { .. })));
        assert!(matches!(
            failed(update().reverse_with(Operator::Over)),
            ErrorKind::Device(DeviceError::Operator { .. })
        ));
        let wrong = Operator::custom("wrong", "fn combine(src: T, dst: T) -> T {\n    return src + nothing;\n}");
        let error = failed(update().reverse_with(wrong)).to_string();
        assert!(error.contains("line 2, column 18") && error.contains("nothing"), "{error}");
        world.ghosts(&array)?;
        check_stored_cells(&array, "after mistakes", (13, [true, false]), |_, _| true)
    });
}

/// The exchanges outnumber the tags of MPI: none of them may receive the messages of the open
/// update.
#[test]
fn started_update_keeps_its_messages_during_other_exchanges() {
    ranks(&[1, 2, 3, 5], |world| {
        let layout = Layout::new([12]).split([Split::Even(world.size())]).ghost([1]).periodic([true]);
        let array = world.array::<f32, 1>("array", &layout)?;
        prepare(&array, 1)?;
        let update = world.start_ghosts(&array)?;
        // Uses up the sequence numbers without sending messages.
        for _ in 0..(1 << 20) - 12 {
            world.group().next_sequence();
        }
        for step in 0..20 {
            let mut sum = [step + world.rank() as u64];
            world.group().all_reduce(&mut sum, |sum, more| *sum += more)?;
            let size = world.size() as u64;
            assert_eq!(sum, [size * step + size * (size - 1) / 2]);
            world.group().barrier()?;
        }
        update.wait()?;
        check_stored_cells(&array, "under an open update", (1, [true]), |_, _| true)
    });
}
