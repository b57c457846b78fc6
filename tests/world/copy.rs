//! Copies between any two layouts, within one array, with permuted axes, with local sections, and
//! of every element type.

use zippy::region::Region;
use zippy::{Element, Exchange, Layout, Result, Split, World};

use crate::support::cells::{Value, boxed, code, cuts, expect, fill, position, same};
use crate::support::{self, RANKS, ranks};

zippy_testing::in_place_too!();

/// Expected cells of the destination after a copy of the box at `from` to the box at `onto`.
fn expected_cells<T: Value, const D: usize>(
    (source, from): (u64, [i64; D]),
    (own, onto): (u64, [i64; D]),
    extents: [i64; D],
) -> impl Fn([i64; D]) -> T {
    move |at| {
        let inside = (0..D).all(|axis| (onto[axis]..onto[axis] + extents[axis]).contains(&at[axis]));
        let origin: [i64; D] = std::array::from_fn(|axis| at[axis] - onto[axis] + from[axis]);
        T::of(if inside { code(source, origin) } else { code(own, at) })
    }
}

#[test]
fn copy_between_any_two_layouts_moves_box() {
    ranks(RANKS, |world| {
        let (shape, other) = ([9, 7, 6], [8, 9, 5]);
        let (from, onto, extents) = ([1, 0, 2], [0, 2, 1], [7, 6, 4]);
        for from_cut in cuts(shape, world.size()) {
            let source = from_cut.array::<u32, 3>(world, "source")?;
            fill(&source, 1)?;
            for onto_cut in cuts(other, world.size()) {
                let destination = onto_cut.array::<u32, 3>(world, "destination")?;
                fill(&destination, 2)?;
                let moved_bytes = world.copy(source.at(boxed(from, extents)), destination.at(boxed(onto, extents)))?;
                let label = format!("{} to {} on {} ranks", from_cut.name, onto_cut.name, world.size());
                expect(&destination, &label, expected_cells((1, from), (2, onto), extents))?;
                expect(&source, &label, |at| u32::of(code(1, at)))?;
                let mut sum = [moved_bytes.bytes_local + moved_bytes.bytes_network];
                world.group().all_reduce(&mut sum, |a, b| *a += b)?;
                assert_eq!(sum, [7 * 6 * 4 * 4], "{label}");
            }
        }
        Ok(())
    });
}

fn check_overlapping_copies<const D: usize>(world: &World, shape: [i64; D], shift: [i64; D]) -> Result<()> {
    let extents = std::array::from_fn(|axis| (shape[axis] - shift[axis].abs()).max(0));
    let from = shift.map(|by| (-by).max(0));
    let onto = shift.map(|by| by.max(0));
    for cut in cuts(shape, world.size()) {
        let array = cut.array::<i32, D>(world, "array")?;
        fill(&array, 3)?;
        world.copy(array.at(boxed(from, extents)), array.at(boxed(onto, extents)))?;
        let label = format!("{} by {shift:?} on {} ranks", cut.name, world.size());
        expect(&array, &label, expected_cells((3, from), (3, onto), extents))?;
    }
    Ok(())
}

#[test]
fn overlapping_copy_within_array_reads_all_sources_first() {
    ranks(RANKS, |world| {
        let shifts = [[1, 0], [0, 1], [-1, 0], [0, -2], [3, 2], [-3, 2], [4, -5], [0, 0], [-9, -7]];
        shifts.into_iter().try_for_each(|shift| check_overlapping_copies(world, [12, 11], shift))
    });
}

#[test]
fn copy_moves_boxes_of_one_to_seven_axes() {
    ranks(RANKS, |world| {
        check_overlapping_copies(world, [37], [5])?;
        check_overlapping_copies(world, [5, 4], [-1, 2])?;
        check_overlapping_copies(world, [5, 4, 3], [1, -1, 1])?;
        check_overlapping_copies(world, [5, 4, 3, 3], [2, 1, -1, 1])?;
        check_overlapping_copies(world, [3, 4, 3, 2, 2], [1, -1, 1, 0, 1])?;
        check_overlapping_copies(world, [3, 2, 3, 2, 2, 3], [-1, 1, 1, 0, 1, -1])?;
        check_overlapping_copies(world, [3, 2, 2, 2, 2, 2, 3], [1, 0, 1, -1, 0, 1, 1])
    });
}

#[test]
fn copy_between_rearranged_handles_reads_all_sources_first() {
    ranks(RANKS, |world| {
        let chunks = 2 * world.size() as i64;
        let layout = Layout::new([4, 3 * chunks]).split([Split::Whole, Split::Even(chunks as usize)]);
        let array = world.array::<u16, 2>("array", &layout)?;
        fill(&array, 4)?;
        let order: Vec<usize> = (0..chunks as usize).rev().collect();
        let reversed = array.reassigned(&order)?;
        // Reverses the chunks through an alias: every cell is read and written.
        world.copy(reversed.at(..), array.at(..))?;
        let mirrored = |[x, y]: [i64; 2]| u16::of(code(4, [x, 3 * (chunks - 1 - y / 3) + y % 3]));
        expect(&array, &"through an alias", mirrored)?;
        expect(&reversed, &"the alias", |at| u16::of(code(4, at)))
    });
}

#[test]
fn permuted_copy_moves_axes_as_listed() {
    ranks(RANKS, |world| {
        let shape = [7, 5, 6];
        let (from, extents) = ([2, 1, 0], [4, 3, 5]);
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let along = order.map(|axis| extents[axis]);
            let onto = [1, 2, 1];
            let other: [i64; 3] = std::array::from_fn(|axis| along[axis] + onto[axis] + 1);
            for (from_cut, onto_cut) in
                cuts(shape, world.size()).into_iter().zip(cuts(other, world.size()).into_iter().rev())
            {
                let source = from_cut.array::<i16, 3>(world, "source")?;
                let destination = onto_cut.array::<i16, 3>(world, "destination")?;
                fill(&source, 5)?;
                let ends = || (source.at(boxed(from, extents)), destination.at(boxed(onto, along)));
                for started in [false, true] {
                    fill(&destination, 6)?;
                    if started {
                        let pending = world.start(Exchange::new().copy(ends().0, ends().1).permuted(order))?;
                        // The source may change after the start of the copy.
                        fill(&source, 7)?;
                        pending.wait()?;
                    } else {
                        world.exchange(Exchange::new().copy(ends().0, ends().1).permuted(order))?;
                    }
                    let label = format!("{order:?}, {} to {}, started: {started}", from_cut.name, onto_cut.name);
                    expect(&destination, &label, |at| {
                        if !boxed(onto, along).contains(&at.into()) {
                            return i16::of(code(6, at));
                        }
                        let mut origin = from;
                        (0..3).for_each(|axis| origin[order[axis]] += at[axis] - onto[axis]);
                        i16::of(code(5, origin))
                    })?;
                }
            }
        }
        Ok(())
    });
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Particle {
    position: [f32; 2],
    id: u32,
    charge: i32,
}

impl Value for Particle {
    fn of(code: u64) -> Self {
        let part = |n| support::cells::mix(code + n);
        Self { position: <[f32; 2]>::of(part(1)), id: u32::of(part(2)), charge: i32::of(part(3)) }
    }
}

fn check_every_bit<T: Value>(world: &World) -> Result<()> {
    // Odd offsets and extents, so that packed cells at both ends share words with other cells.
    let (from, onto, extents) = ([3, 1], [2, 4], [17, 9]);
    let all = cuts([23, 11], world.size()).into_iter().zip(cuts([21, 14], world.size()).into_iter().rev());
    for (from_cut, onto_cut) in all {
        let source = from_cut.array::<T, 2>(world, "source")?;
        let destination = onto_cut.array::<T, 2>(world, "destination")?;
        fill(&source, 7)?;
        fill(&destination, 8)?;
        world.copy(source.at(boxed(from, extents)), destination.at(boxed(onto, extents)))?;
        let label = format!("{}: {} to {}", T::INFO.name, from_cut.name, onto_cut.name);
        expect(&destination, &label, expected_cells((7, from), (8, onto), extents))?;
    }
    Ok(())
}

#[test]
fn copy_keeps_every_bit_of_every_element_type() {
    ranks(RANKS, |world| {
        check_every_bit::<f32>(world)?;
        check_every_bit::<i32>(world)?;
        check_every_bit::<[f32; 2]>(world)?;
        check_every_bit::<[u32; 4]>(world)?;
        check_every_bit::<u8>(world)?;
        check_every_bit::<i8>(world)?;
        check_every_bit::<u16>(world)?;
        check_every_bit::<i16>(world)?;
        check_every_bit::<Particle>(world)
    });
}

#[test]
fn optional_element_type_is_copied_or_refused_by_name() {
    fn check<T: Value>(world: &World) -> Result<()> {
        let adapter = &world.gpu().adapter().name;
        let Err(expected) = T::INFO.supported_by(world.gpu().features(), adapter) else {
            return check_every_bit::<T>(world);
        };
        let refused = world.array::<T, 1>("refused", &Layout::new([4])).map(drop);
        assert!(expected.to_string().contains(adapter.as_str()), "{expected}");
        assert_eq!(refused, Err(expected.into()));
        world.barrier()
    }
    ranks(RANKS, |world| {
        check::<half::f16>(world)?;
        check::<[half::f16; 4]>(world)?;
        check::<f64>(world)?;
        check::<i64>(world)?;
        check::<u64>(world)
    });
}

#[test]
fn copy_keeps_payloads_of_nans() {
    ranks(RANKS, |world| {
        // Quiet and signalling NaNs of both signs with payloads; negative zero; subnormals;
        // infinities.
        let patterns =
            [0x7fc0_0000_u32, 0x7f80_0001, 0xffff_ffff, 0xff80_0001, 0x7fbf_ffff, 0x8000_0000, 1, 0xff80_0000];
        let value = |[x, y]: [i64; 2]| {
            let pattern = patterns[(x + 3 * y) as usize % 8];
            let quiet = pattern ^ ((x as u32 + 16 * y as u32) << 2);
            f32::from_bits(if pattern & 0x3f_ffff == 0 { pattern } else { quiet })
        };
        let layout = Layout::new([16, 13]).ghost([1, 1]).periodic([true, true]);
        let rows = world.array::<f32, 2>("rows", &layout.clone().split([Split::Whole, Split::Even(world.size())]))?;
        let columns = world.array::<f32, 2>("columns", &layout.split([Split::Even(world.size()), Split::Whole]))?;
        rows.fill_with(value)?;
        world.copy(rows.at(..), columns.at(..))?;
        expect(&columns, &"copied", value)?;
        world.copy(columns.at((0..15, ..)), columns.at((1..16, ..)))?;
        expect(&columns, &"shifted", |[x, y]| value([(x - 1).max(0), y]))?;
        world.ghosts(&rows)?;
        for chunk in rows.chunks() {
            let ghosts = chunk.with_ghosts();
            let cells = ghosts.region()?.points().zip(ghosts.read()?);
            same(cells, &"ghosts", &|[x, y]: [i64; 2]| value([x.rem_euclid(16), y.rem_euclid(13)]));
        }
        world
            .put(&rows.local().and_then(|own| own.all().read()).unwrap_or_default(), rows.at((0..0, ..)))
            .expect_err("a section without cells takes no values");
        support::cells::expect_whole(world, &rows, &"got", value)
    });
}

#[test]
fn copy_between_global_array_and_local_sections_moves_cells() {
    ranks(RANKS, |world| {
        let (rank, size) = (world.rank() as i64, world.size() as i64);
        for cut in cuts([11, 3 * size], world.size()) {
            let global = cut.array::<f32, 2>(world, "global")?;
            fill(&global, 9)?;
            // Rank r copies r + 1 columns from x = r (fewer at the end) of all rows to (1, 2) of
            // its local array.
            let (start, end) = (rank.min(10), (2 * rank + 1).min(11));
            let mine = world.local_array::<f32, 2>("mine", &Layout::new([14, 3 * size + 3]))?;
            mine.at(..).write(&vec![-1.0; (14 * (3 * size + 3)) as usize])?;
            let own = mine.at(boxed([1, 2], [end - start, 3 * size]));
            world.copy(global.at((start..end, ..)), &own)?;
            let cells = mine.all().region()?.points().zip(mine.all().read()?);
            same(cells, &format!("{} to local", cut.name), &|[x, y]: [i64; 2]| {
                let taken = (1..1 + end - start).contains(&x) && (2..2 + 3 * size).contains(&y);
                if taken { f32::of(code(9, [x - 1 + start, y - 2])) } else { -1.0 }
            });
            // Each rank except the last copies its three rows back, in the reverse order of ranks.
            let row = 3 * (size - 1 - rank);
            let rows = if rank == size - 1 { 0 } else { 3 };
            let out = world.local_array::<f32, 2>("out", &Layout::new([11, 3]))?;
            let values: Vec<f32> =
                Region::whole([11, 3].into()).points().map(|p| f32::of(code(rank as u64, position::<2>(&p)))).collect();
            out.all().write(&values)?;
            world.copy(out.at((.., 0..rows)), global.at((.., row..row + rows)))?;
            expect(&global, &format!("{} from local", cut.name), |[x, y]| {
                let from = size - 1 - y / 3;
                if from == size - 1 { f32::of(code(9, [x, y])) } else { f32::of(code(from as u64, [x, y % 3])) }
            })?;
        }
        Ok(())
    });
}

#[test]
fn highest_rank_wins_where_local_sections_overlap() {
    ranks(RANKS, |world| {
        let global = world.array::<u8, 1>("global", &Layout::new([10]).split([Split::Even(3)]))?;
        let mine = world.local_array::<u8, 1>("mine", &Layout::new([10]))?;
        mine.all().write(&[world.rank() as u8 + 1; 10])?;
        // Rank r writes [r, 10 − r): a cell has the value of the highest rank whose section
        // contains it.
        let (start, end) = (world.rank().min(5) as i64, 10 - world.rank().min(5) as i64);
        world.copy(mine.at(start..end), global.at(start..end))?;
        let last = world.size() as i64 - 1;
        expect(&global, &"nested", |[x]| (x.min(9 - x).min(last) + 1) as u8)
    });
}

#[test]
fn chunk_with_ghost_cells_is_copied_as_local_section() {
    ranks(RANKS, |world| {
        let size = world.size();
        let layout = Layout::new([5, 2 * size as i64]).split([Split::Whole, Split::Even(size)]).ghost([1, 1]);
        let array = world.array::<u32, 2>("array", &layout)?;
        let other = world.array::<u32, 2>("other", &Layout::new([5, 2 * size as i64]))?;
        fill(&array, 10)?;
        fill(&other, 11)?;
        // A local copy of owned cells to ghost cells.
        let own = array.local()?;
        world.copy(own.at((.., 0)), own.at((.., -1)))?;
        world.copy(own.at((0..3, ..)), own.at((1..4, ..)))?;
        // Copies the other array's first column to the ghost column before every chunk.
        let rows = own.region();
        world.copy(other.at((0, rows.start[1]..rows.end[1])), own.at((-1, 0..2)))?;
        let storage = own.with_ghosts();
        let cells = storage.region()?.points().zip(storage.read()?);
        same(cells, &"chunk sections", &|[x, y]: [i64; 2]| {
            let inside = (rows.start[1]..rows.end[1]).contains(&y);
            u32::of(match x {
                -1 if inside => code(11, [0, y]),
                0..5 if y == rows.start[1] - 1 => code(10, [x, rows.start[1]]),
                1..4 if inside => code(10, [x - 1, y]),
                0 | 4 if inside => code(10, [x, y]),
                _ => return 0,
            })
        });
        world.barrier()
    });
}

#[test]
fn source_may_change_after_copy_has_started() {
    ranks(RANKS, |world| {
        let mut ways = cuts([12, 10], world.size()).into_iter().zip(cuts([12, 10], world.size()).into_iter().rev());
        ways.try_for_each(|(from_cut, onto_cut)| {
            let (a, b) = (from_cut.array::<u32, 2>(world, "a")?, onto_cut.array::<u32, 2>(world, "b")?);
            let c = onto_cut.array::<u32, 2>(world, "c")?;
            fill(&a, 12)?;
            fill(&b, 13)?;
            let first = world.start_copy(a.at((..6, ..)), b.at((6.., ..)))?;
            // The source may change at once, and other operations may run before the wait.
            fill(&a, 14)?;
            let second = world.start_copy(a.at(..), c.at(..))?;
            fill(&a, 15)?;
            world.barrier()?;
            let (second, first) = (second.wait()?, first.wait()?);
            assert!(second.bytes_local + second.bytes_network >= first.bytes_local + first.bytes_network);
            let label = format!("{} to {}", from_cut.name, onto_cut.name);
            expect(&b, &label, |[x, y]| u32::of(if x < 6 { code(13, [x, y]) } else { code(12, [x - 6, y]) }))?;
            expect(&c, &label, |at| u32::of(code(14, at)))?;
            // A copy that is dropped without a wait is also completed.
            drop(world.start_copy(a.at(..), c.at(..))?);
            expect(&c, &label, |at| u32::of(code(15, at)))
        })
    });
}

#[test]
fn copy_without_cells_moves_nothing() {
    ranks(RANKS, |world| {
        let array = world.array::<f32, 2>("array", &Layout::new([6, 5]))?;
        let none = world.array::<f32, 2>("none", &Layout::new([0, 5]).ghost([1, 1]))?;
        fill(&array, 16)?;
        let nothing = zippy::Moved::default();
        assert_eq!(world.copy(array.at((2..2, ..)), array.at((6.., ..)))?, nothing);
        assert_eq!(world.copy(none.at(..), none.at(..))?, nothing);
        assert_eq!(world.copy(none.at(..), array.at((0..0, ..)))?, nothing);
        world.start_copy(none.at(..), array.at((3..3, ..)))?.wait()?;
        let local = world.local_array::<f32, 2>("local", &Layout::new([0, 3]))?;
        world.copy(local.all(), array.at((0..0, 0..3)))?;
        world.copy(array.at((0..0, 0..3)), local.all())?;
        expect(&array, &"nothing moved", |at| f32::of(code(16, at)))
    });
}

#[test]
fn repeated_copy_builds_no_plan_and_allocates_nothing() {
    ranks(RANKS, |world| {
        let cuts = cuts([24, 20], world.size());
        let (a, b) = (cuts[1].array::<f32, 2>(world, "a")?, cuts[4].array::<f32, 2>(world, "b")?);
        fill(&a, 17)?;
        let step = || world.copy(a.at((0..20, ..)), b.at((4..24, ..)));
        (0..4).try_for_each(|_| step().and_then(|_| world.barrier()))?;
        let (plans, device) = (world.stats().plan_counters(), world.gpu().counters());
        (0..5).try_for_each(|_| step().and_then(|_| world.barrier()))?;
        assert_eq!(world.stats().plan_counters().built, plans.built);
        assert_eq!(world.stats().plan_counters().reused, plans.reused + 5);
        let after = world.gpu().counters();
        assert_eq!((after.buffers_made, after.pipelines_made), (device.buffers_made, device.pipelines_made));
        // Other arrays with the same layout use the same plan.
        let c = cuts[1].array::<f32, 2>(world, "c")?;
        world.copy(c.at((0..20, ..)), b.at((4..24, ..)))?;
        assert_eq!(world.stats().plan_counters().built, plans.built);
        Ok(())
    });
}
