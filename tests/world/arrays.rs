//! Arrays: creation, ownership, names, filling and reading; growable arrays; re-arranged handles;
//! many chunks per rank.

use zippy::error::{ArrayError, ErrorKind, LayoutError};
use zippy::region::Region;
use zippy::wgpu::BufferUsages;
use zippy::{ArrayOptions, KernelSource, Layout, Ownership, Result, Split, World};

use crate::support::cells::{Value, boxed, code, cuts, expect, expect_whole, fill, position, same};
use crate::support::{RANKS, ranks};

#[test]
fn new_array_has_its_shape_and_zero_cells() {
    ranks(RANKS, |world| {
        for cut in cuts([9, 6, 4], world.size()) {
            let array = cut.with(|layout| layout.ghost([1, 0, 2])).array::<u16, 3>(world, "array")?;
            assert_eq!((array.shape(), array.name()), ([9, 6, 4], "array"));
            let mut owned = [0_u64];
            for chunk in array.chunks() {
                let all = chunk.with_ghosts();
                assert!(all.read()?.into_iter().all(|cell| cell == 0));
                assert_eq!(chunk.all().read()?.len() as i64, chunk.extents().iter().product::<i64>());
                owned[0] += chunk.region().cells();
            }
            world.group().all_reduce(&mut owned, |a, b| *a += b)?;
            assert_eq!(owned, [9 * 6 * 4]);
        }
        Ok(())
    });
}

#[test]
fn name_is_free_after_array_is_dropped() {
    ranks(RANKS, |world| {
        let layout = Layout::new([8]);
        let array = world.array::<f32, 1>("name", &layout)?;
        let taken = world.array::<i32, 1>("name", &layout).map(drop);
        assert_eq!(taken, Err(ArrayError::NameTaken { name: "name".into() }.into()));
        let copy = array.clone();
        drop(array);
        assert!(world.array::<f32, 1>("name", &layout).is_err(), "a handle is alive");
        drop(copy);
        world.array::<f32, 1>("name", &layout).map(drop)
    });
}

#[test]
fn array_has_given_owners_or_is_refused() {
    ranks(RANKS, |world| {
        let size = world.size();
        let layout = Layout::new([12]).split([Split::Even(6)]);
        let table: Vec<usize> = (0..6).map(|chunk| (chunk * chunk + 1) % size).collect();
        let array = world
            .array::<i32, 1>("array", ArrayOptions::new(&layout).owned_by(Ownership::table(table.clone(), size)?))?;
        let mine: Vec<usize> = (0..6).filter(|&chunk| table[chunk] == world.rank()).collect();
        assert!(array.chunks().map(|chunk| chunk.id()).eq(mine.iter().copied()));
        match array.local() {
            Ok(chunk) => assert_eq!(mine, [chunk.id()]),
            Err(error) => {
                let (rank, count) = (world.rank(), mine.len());
                assert_eq!(error, ArrayError::NotOneChunk { array: "array".into(), rank, count }.into());
            }
        }
        let with = |owners| world.array::<i32, 1>("other", ArrayOptions::new(&layout).owned_by(owners)).map(drop);
        let (given, expected) = (size + 1, size);
        let ranks = ArrayError::Ranks { array: "other".into(), given, expected };
        assert_eq!(with(Ownership::balanced(6, size + 1)), Err(ranks.into()));
        assert!(matches!(
            with(Ownership::balanced(7, size)).unwrap_err().kind(),
            ErrorKind::Array(ArrayError::Layout { source: LayoutError::ChunkCount { .. }, .. })
        ));
        Ok(())
    });
}

#[test]
fn section_written_by_host_is_read_back() {
    fn check<T: Value>(world: &World) -> Result<()> {
        for cut in cuts([11, 7], world.size()) {
            let cut = cut.with(|layout| layout.ghost_sides([(1, 2), (3, 0)]));
            let array = cut.array::<T, 2>(world, "array")?;
            array.fill(T::of(1))?;
            for chunk in array.chunks() {
                let own = chunk.region();
                if own.is_empty() {
                    assert!(chunk.with_ghosts().read()?.is_empty());
                    continue;
                }
                // A box from the first ghost cells to the middle in chunk coordinates, and its
                // corner in global coordinates.
                let [x, y] = chunk.extents().map(|extent| (extent + 1) / 2);
                let part = chunk.at((-1..x, -3..y));
                let region = part.region()?;
                let values: Vec<T> = region.points().map(|at| T::of(code(2, position::<2>(&at)))).collect();
                part.write(&values)?;
                assert!(part.write(&values[1..]).is_err());
                let corner = chunk.at_global((region.start[0], region.start[1]));
                same(corner.region()?.points().zip(corner.read()?), &"corner", &|at: [i64; 2]| T::of(code(2, at)));
                let all = chunk.with_ghosts();
                same(all.region()?.points().zip(all.read()?), &cut.name, &|at: [i64; 2]| {
                    T::of(if region.contains(&at.into()) { code(2, at) } else { 1 })
                });
            }
        }
        Ok(())
    }
    ranks(RANKS, |world| {
        check::<f32>(world)?;
        check::<u8>(world)?;
        check::<i16>(world)?;
        check::<[f32; 2]>(world)
    });
}

#[test]
fn local_arrays_may_differ_between_ranks() {
    ranks(RANKS, |world| {
        let rank = world.rank() as i64;
        // Rank 0 has an array without cells, and only even ranks have the second array.
        let first = world.local_array::<u32, 2>("first", &Layout::new([rank, 3]).ghost([1, 1]))?;
        assert_eq!(first.shape(), [rank, 3]);
        let second = (rank % 2 == 0).then(|| world.local_array::<u8, 1>("first", &Layout::new([5]))).transpose()?;
        let values: Vec<u32> = (0..3 * rank as u32).collect();
        first.all().write(&values)?;
        assert_eq!(first.all().read()?, values);
        assert!(first.at((0..rank + 2, ..)).read().is_err());
        if let Some(second) = second {
            second.at(1..4).write(&[7, 8, 9])?;
            assert_eq!(second.all().read()?, [0, 7, 8, 9, 0]);
        }
        world.barrier()
    });
}

#[test]
fn array_of_lengths_has_one_chunk_of_each_length() {
    ranks(RANKS, |world| {
        let lengths: Vec<u64> = (0..world.size() as u64).map(|rank| rank * 7 % 4 * 10).collect();
        let array = world.array::<i16, 1>("array", ArrayOptions::of_length(lengths[world.rank()]))?;
        assert_eq!(array.shape(), [lengths.iter().sum::<u64>() as i64]);
        let start: u64 = lengths[..world.rank()].iter().sum();
        let own = array.local()?;
        assert_eq!(own.region(), boxed([start as i64], [lengths[world.rank()] as i64]));
        fill(&array, 3)?;
        expect_whole(world, &array, &"lengths", |at| i16::of(code(3, at)))
    });
}

#[test]
fn local_array_with_owners_is_refused() {
    ranks(RANKS, |world| {
        let (layout, owners) = (Layout::new([5]), Ownership::balanced(1, world.size()));
        let options = ArrayOptions::new(&layout).owned_by(owners);
        let error = world.local_array::<u8, 1>("own", options).unwrap_err();
        let expected = "local array \"own\" belongs to this rank: create it without owners";
        assert_eq!(error.kind().to_string(), expected);
        Ok(())
    });
}

#[test]
fn additional_buffer_usages_apply_to_global_and_growable_arrays() {
    let usages = BufferUsages::VERTEX | BufferUsages::INDEX;
    ranks(RANKS, |world| {
        let layout = Layout::new([10]).split([Split::Even(world.size())]);
        let array = world.array::<u32, 1>("corners", ArrayOptions::new(&layout).with_usages(usages))?;
        fill(&array, 5)?;
        expect_whole(world, &array, &"corners", |at| u32::of(code(5, at)))?;
        for chunk in array.chunks() {
            assert!(chunk.lease()?.expect("it has cells").raw().usage().contains(usages));
        }
        let mut list = world.growable::<u32>("list")?;
        list.append(&[3, 5, 8])?;
        let list = list.with_usages(usages)?;
        assert!(list.lease()?.expect("it has cells").raw().usage().contains(usages));
        assert_eq!(list.all().read()?, [3, 5, 8]);
        let odd = ArrayOptions::new(&layout).with_usages(BufferUsages::UNIFORM);
        assert!(world.array::<u32, 1>("odd", odd).is_err());
        Ok(())
    });
}

#[test]
fn growable_array_keeps_its_cells_and_is_published() {
    ranks(RANKS, |world| {
        let (rank, size) = (world.rank() as i64, world.size() as i64);
        let (mut list, mut other) = (world.growable::<u8>("list")?, world.growable::<u8>("other")?);
        assert!(list.is_empty() && world.publish(&list)?.shape() == [0]);
        let cell = |rank: i64, at: i64| u8::of(code(4, [rank, at]));
        // Ten thousand cells, appended in odd lengths. The ranks have different lengths.
        let wanted = 10_000 * (rank + 1) / size;
        while (list.len() as i64) < wanted {
            let start = list.len() as i64;
            let piece: Vec<u8> = (start..wanted.min(start + 777 + 2 * rank)).map(|at| cell(rank, at)).collect();
            list.append(&piece)?;
        }
        assert!(list.capacity() >= list.len());
        let starts: Vec<i64> = (0..=size).map(|rank| (0..rank).map(|r| 10_000 * (r + 1) / size).sum()).collect();
        let place = |at: i64| {
            let owner = starts.partition_point(|start| *start <= at) - 1;
            (owner as i64, at - starts[owner])
        };
        let published = world.publish(&list)?;
        assert_eq!(published.shape(), [*starts.last().unwrap()]);
        expect_whole(world, &published, &"published", |[at]| cell(place(at).0, place(at).1))?;
        // The published array shares the memory of the growable array, so this copy changes both.
        world.copy(published.at(0..500), published.at(250..750))?;
        let shifted = |at: i64| if (250..750).contains(&at) { at - 250 } else { at };
        let own = (0..wanted).map(|at| place(shifted(starts[rank as usize] + at))).map(|(rank, at)| cell(rank, at));
        assert!(list.all().read()?.into_iter().eq(own));
        // Copy to another growable array with equal lengths on all ranks.
        other.set_len(100)?;
        let target = world.publish(&other)?;
        world.copy(published.at(..100 * size), target.at(..))?;
        expect(&target, &"from one to the other", |[at]| {
            let (rank, at) = place(shifted(at));
            cell(rank, at)
        })?;
        assert!(other.at(99..101).read().is_err(), "past the cells in use");
        let error = other.set_len(u64::MAX).unwrap_err();
        assert!(error.to_string().contains("\"other\""), "{error}");
        Ok(())
    });
}

#[test]
fn rearranged_handle_shares_memory_of_array() {
    ranks(RANKS, |world| {
        let chunks = 2 * world.size() + 1;
        let layout = Layout::new([3, 2 * chunks as i64])
            .split([Split::Whole, Split::Even(chunks)])
            .ghost([0, 1])
            .periodic([false, true]);
        let array = world.array::<f32, 2>("array", &layout)?;
        fill(&array, 5)?;
        let order: Vec<usize> = (0..chunks).map(|chunk| (2 * chunk + 1) % chunks).collect();
        let (before, counters) = (world.gpu().counters(), world.stats().plan_counters());
        let other = array.reassigned(&order)?;
        assert_eq!(world.gpu().counters().buffers_made, before.buffers_made, "no data moves");
        assert_eq!(world.stats().plan_counters(), counters);
        let moved = |y: i64| 2 * order[(y / 2) as usize] as i64 + y % 2;
        expect(&other, &"re-arranged", |[x, y]| f32::of(code(5, [x, moved(y)])))?;
        // Ghost updates use the neighbours of the new order.
        world.ghosts(&other)?;
        for chunk in other.chunks() {
            let cells = chunk.with_ghosts();
            same(cells.region()?.points().zip(cells.read()?), &"ghosts", &|[x, y]: [i64; 2]| {
                f32::of(code(5, [x, moved(y.rem_euclid(2 * chunks as i64))]))
            });
        }
        // Inverse order: order[i] is the previous index of chunk i.
        let mut back = vec![0; chunks];
        order.iter().enumerate().for_each(|(at, &chunk)| back[chunk] = at);
        let again = other.reassigned(&back)?;
        fill(&other, 6)?;
        expect(&array, &"written through the other", |[x, y]| {
            let at = 2 * back[(y / 2) as usize] as i64 + y % 2;
            f32::of(code(6, [x, at]))
        })?;
        assert_eq!(again.core().ownership(), &std::sync::Arc::new(Ownership::table(owners(&array), world.size())?));
        Ok(())
    });
}

fn owners(array: &zippy::GlobalArray<f32, 2>) -> Vec<usize> {
    let ownership = array.core().ownership();
    (0..ownership.chunks()).map(|chunk| ownership.owner(chunk).rank).collect()
}

#[test]
fn rearrangement_of_chunks_of_different_extents_is_refused() {
    ranks(RANKS, |world| {
        let array = world.array::<u8, 1>("array", &Layout::new([8]).split([[3, 2, 3].into()]))?;
        fill(&array, 7)?;
        let refused = |order: &[usize]| array.reassigned(order).map(drop).unwrap_err().kind().to_string();
        let messages = [refused(&[1, 0, 2]), refused(&[0, 1]), refused(&[0, 1, 3]), refused(&[0, 0, 2])];
        insta::allow_duplicates! {
            insta::assert_snapshot!(messages.join("\n"), @r#"
            array "array": chunk 0 (3) cannot take the place of chunk 1 (2): only chunks of equal shape can be re-arranged without moving data
            array "array": the re-arrangement lists 2 chunks, but the layout has 3
            array "array": entry 2 of the re-arrangement is chunk 3, which does not exist; each of the 3 chunks must occur once
            array "array": entry 1 of the re-arrangement is chunk 0, which was named before; each of the 3 chunks must occur once
            "#);
        }
        let swapped = array.reassigned(&[2, 1, 0])?;
        expect(&swapped, &"swapped", |[x]| u8::of(code(7, [if (3..5).contains(&x) { x } else { (x + 5) % 10 }])))
    });
}

/// Doubles a cell and adds its neighbours along axis 1.
const KERNEL: &str = "
@group(0) @binding(0) var<storage, read> old: array<u32>;
@group(0) @binding(1) var<storage, read_write> fresh: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = fresh_position(id);
    if !fresh_inside(p) { return; }
    fresh_store(p, 2u * old_load(p) + 3u * old_load(p - vec2(0, 1)) + 5u * old_load(p + vec2(0, 1)));
}";

fn check_all_operations(world: &World, layout: &Layout, chunks: impl Fn(usize) -> bool) -> Result<()> {
    let shape = [301, 211];
    let layout = layout.clone().ghost([0, 1]).periodic([false, true]);
    let (old, fresh) = (world.array::<u32, 2>("old", &layout)?, world.array::<u32, 2>("fresh", &layout)?);
    assert!(chunks(old.core().chunks().count()), "{} chunks", old.core().chunks().count());
    fill(&old, 8)?;
    world.ghosts(&old)?;
    let kernel = world.kernel(KernelSource::text("kernel.wgsl", KERNEL))?;
    for (old, fresh) in zippy::zip_chunks((&old, &fresh))? {
        kernel.call().read("old", old.all()).write("fresh", fresh.all()).run()?;
    }
    let computed = |x: i64, y: i64| {
        let at = |y: i64| u32::of(code(8, [x, y.rem_euclid(shape[1])]));
        (2 * u64::from(at(y)) + 3 * u64::from(at(y - 1)) + 5 * u64::from(at(y + 1))) as u32
    };
    expect(&fresh, &"computed", |[x, y]| computed(x, y))?;
    world.copy(fresh.at((0..300, 0..200)), fresh.at((1..301, 11..211)))?;
    let shifted = |x: i64, y: i64| if x >= 1 && y >= 11 { computed(x - 1, y - 11) } else { computed(x, y) };
    world.composite(old.at(..), fresh.at(..), zippy::Operator::Max)?;
    let ticket = world.get(fresh.at((17..290, 3..208)))?;
    let observed = world.fence()?.redeem(ticket)?;
    let part = boxed([17, 3], [273, 205]);
    same(part.points().zip(observed), &"got", &|[x, y]: [i64; 2]| shifted(x, y).max(u32::of(code(8, [x, y]))));
    let whole = world.local_array::<u32, 2>("whole", &Layout::new(shape))?;
    world.copy(fresh.at(..), whole.all())?;
    let cells = Region::whole(shape.into()).points().zip(whole.all().read()?);
    same(cells, &"to local", &|[x, y]: [i64; 2]| shifted(x, y).max(u32::of(code(8, [x, y]))));
    Ok(())
}

#[test]
fn operations_work_with_many_chunks_per_rank() {
    ranks(&[1, 3], |world| {
        check_all_operations(world, &Layout::new([301, 211]).split([Split::Even(3), Split::Even(7)]), |chunks| {
            chunks == 21
        })
    });
}

zippy_testing::with_variables! {
    /// Arrays of 248 KiB: automatic cuts give chunks within a binding; larger chunks are bound as
    /// windows.
    arrays_beyond_a_binding, [("ZIPPY_BINDING_LIMIT", "65536")], || {
        ranks(&[1, 3], |world| {
            assert_eq!(world.gpu().limits().binding_bytes, 65_536);
            check_all_operations(world, &Layout::new([301, 211]), |chunks| chunks > 3)?;
            check_all_operations(world, &Layout::new([301, 211]).split_all(Split::Whole), |chunks| chunks == 1)?;
            let halves = Layout::new([301, 211]).split([Split::Whole, Split::Even(2)]);
            check_all_operations(world, &halves, |chunks| chunks == 2)
        });
    }
}

zippy_testing::with_variables! {
    everything_by_driver_without_mapping_chunks, [("ZIPPY_HOST_MAP", "0")], || {
        ranks(&[1, 3], |world| {
            assert!(!world.gpu().host_mapped());
            let sixths = Layout::new([301, 211]).split([Split::Even(2), Split::Even(3)]);
            check_all_operations(world, &sixths, |chunks| chunks == 6)
        });
    }
}
