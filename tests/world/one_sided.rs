//! Get, put, accumulate and fence: any rank and any section, in the order of (rank, sequence
//! number).

use zippy::error::{ArrayError, ErrorKind, PlanError, RegionError};
use zippy::region::Region;
use zippy::{Element, Error, Layout, Operator, Result, Split, World};

use crate::support::cells::{Value, boxed, code, cuts, expect, expect_whole, fill, mix, position, same};
use crate::support::{RANKS, ranks};

/// Pseudorandom box that may be empty, the same on every rank.
fn random_box<const D: usize>(shape: [i64; D], seed: u64) -> Region {
    let start: [i64; D] = std::array::from_fn(|axis| (mix(seed * 31 + axis as u64) % (shape[axis] as u64 + 1)) as i64);
    let extents =
        std::array::from_fn(|axis| (mix(seed * 37 + axis as u64) % ((shape[axis] - start[axis]) as u64 + 1)) as i64);
    boxed(start, extents)
}

fn values<T: Value, const D: usize>(of: u64, region: &Region) -> Vec<T> {
    region.points().map(|at| T::of(code(of, position::<D>(&at)))).collect()
}

#[test]
fn get_returns_any_section_on_every_rank() {
    ranks(RANKS, |world| {
        let shape = [9, 7, 5];
        for cut in cuts(shape, world.size()) {
            let array = cut.array::<f32, 3>(world, "array")?;
            fill(&array, 1)?;
            let boxes: Vec<Region> = (0..8).map(|n| random_box(shape, 8 * world.rank() as u64 + n)).collect();
            let tickets = boxes.iter().map(|region| world.get(array.at(region))).collect::<Result<Vec<_>>>()?;
            let mut fetched = world.fence()?;
            // Tickets may be redeemed in any order.
            for (region, ticket) in boxes.iter().zip(tickets).rev() {
                let cells = fetched.redeem(ticket)?;
                assert_eq!(cells.len() as u64, region.cells());
                same(region.points().zip(cells), &cut.name, &|at: [i64; 3]| f32::of(code(1, at)));
            }
            let requested: u64 = boxes.iter().map(|region| 4 * region.cells()).sum();
            assert_eq!(fetched.moved.bytes_local + fetched.moved.bytes_network, requested);
        }
        Ok(())
    });
}

/// Operations that a rank queues in the test of their order.
fn queued_operations(rank: usize) -> impl Iterator<Item = (u64, Region)> {
    (0..12).map(move |n| 100 * rank as u64 + n).map(|seed| (seed, random_box([8, 6], seed)))
}

#[test]
fn one_sided_operations_run_in_order_of_rank_and_sequence() {
    ranks(RANKS, |world| {
        let own = Operator::custom("own", "fn combine(src: T, dst: T) -> T { return 3u * dst + src; }");
        for cut in cuts([8, 6], world.size()) {
            let array = cut.array::<u32, 2>(world, "array")?;
            fill(&array, 2)?;
            world.barrier()?;
            let mut tickets = Vec::new();
            for (seed, region) in queued_operations(world.rank()) {
                let cells = values::<u32, 2>(seed, &region);
                match seed % 4 {
                    0 => world.put(&cells, array.at(region))?,
                    1 => world.accumulate(&cells, array.at(region), Operator::Add)?,
                    2 => world.accumulate(&cells, array.at(region), own.clone())?,
                    _ => tickets.push(world.get(array.at(region))?),
                }
            }
            let mut fetched = world.fence()?;
            // Applies the operations in order to plain cells.
            let mut state = values::<u32, 2>(2, &boxed([0, 0], [8, 6]));
            let mut tickets = tickets.into_iter();
            for rank in 0..world.size() {
                for (seed, region) in queued_operations(rank) {
                    let cells = values::<u32, 2>(seed, &region);
                    let places = region.points().map(|at| (at[0] + 8 * at[1]) as usize);
                    if seed % 4 == 3 {
                        if rank == world.rank() {
                            let observed = fetched.redeem(tickets.next().unwrap())?;
                            let expected: Vec<u32> = places.map(|place| state[place]).collect();
                            assert_eq!(observed, expected, "{}: get {seed} of rank {rank}", cut.name);
                        }
                        continue;
                    }
                    for (place, value) in places.zip(cells) {
                        state[place] = match seed % 4 {
                            0 => value,
                            1 => state[place].wrapping_add(value),
                            _ => state[place].wrapping_mul(3).wrapping_add(value),
                        };
                    }
                }
            }
            expect(&array, &cut.name, |[x, y]| state[(x + 8 * y) as usize])?;
        }
        Ok(())
    });
}

fn check_put_and_get<T: Value>(world: &World) -> Result<()> {
    for cut in cuts([13, 2 * world.size() as i64], world.size()) {
        let array = cut.array::<T, 2>(world, "array")?;
        fill(&array, 3)?;
        world.barrier()?;
        // Every rank writes an odd box to its two rows; neighbouring ranks share words of packed
        // cells.
        let rows = 2 * world.rank() as i64;
        let region = boxed([1 + rows % 3, rows], [9, 2]);
        world.put(&values::<T, 2>(4, &region), array.at(region))?;
        let ticket = world.get(array.at((.., rows..rows + 2)))?;
        let observed = world.fence()?.redeem(ticket)?;
        let expected = |[x, y]: [i64; 2]| {
            let start = 1 + y / 2 * 2 % 3;
            T::of(code(if (start..start + 9).contains(&x) { 4 } else { 3 }, [x, y]))
        };
        let what = format!("{} on {}", T::INFO.name, cut.name);
        same(boxed([0, rows], [13, 2]).points().zip(observed), &what, &expected);
        expect(&array, &what, expected)?;
    }
    Ok(())
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Sample {
    place: [f32; 2],
    weight: u32,
    label: i32,
}

impl Value for Sample {
    fn of(code: u64) -> Self {
        Self { place: <[f32; 2]>::of(code), weight: u32::of(mix(code)), label: i32::of(!code) }
    }
}

#[test]
fn put_and_get_keep_every_bit_of_every_element_type() {
    ranks(RANKS, |world| {
        check_put_and_get::<f32>(world)?;
        check_put_and_get::<u8>(world)?;
        check_put_and_get::<i16>(world)?;
        check_put_and_get::<[u32; 4]>(world)?;
        check_put_and_get::<[f32; 2]>(world)?;
        check_put_and_get::<Sample>(world)
    });
}

#[test]
fn puts_and_gets_accept_local_sections() {
    ranks(RANKS, |world| {
        let (rank, size) = (world.rank() as i64, world.size() as i64);
        for cut in cuts([7, 3 * size], world.size()) {
            let array = cut.array::<i32, 2>(world, "array")?;
            fill(&array, 5)?;
            world.barrier()?;
            let window = world.local_array::<i32, 2>("window", &Layout::new([9, 5]).ghost([1, 0]))?;
            window.all().write(&values::<i32, 2>(6 + rank as u64, &boxed([0, 0], [9, 5])))?;
            let rows = 3 * rank..3 * rank + 3;
            world.put(window.at((1..8, 1..4)), array.at((.., rows.clone())))?;
            world.accumulate(window.at((0..7, 0..1)), array.at((.., rows.end - 1)), Operator::Max)?;
            // The source was read at the call.
            window.all().write(&[-7; 45])?;
            world.fence()?;
            let expected = |[x, y]: [i64; 2]| {
                let of = 6 + (y / 3) as u64;
                let put = i32::of(code(of, [x + 1, y % 3 + 1]));
                if y % 3 == 2 { put.max(i32::of(code(of, [x, 0]))) } else { put }
            };
            expect(&array, &cut.name, expected)?;
            // Ghost cells of a local array are also possible.
            let next = 3 * ((rank + 1) % size);
            world.get_into(array.at((0..4, next..next + 3)), window.at((-1..3, 2..5)))?;
            world.fence()?;
            let cells = window.with_ghosts();
            same(cells.region()?.points().zip(cells.read()?), &cut.name, &|[x, y]: [i64; 2]| match (x, y) {
                (-1..3, 2..5) => expected([x + 1, next + y - 2]),
                (0..9, _) => -7,
                _ => 0,
            });
        }
        Ok(())
    });
}

#[test]
fn program_without_final_fence_fails() {
    let config = zippy::Config::apart(2);
    let outcome = zippy::run_with(config, |world| {
        let array = world.array::<u32, 1>("array", &Layout::new([9]).split([Split::Even(2)]))?;
        array.fill(7)?;
        if world.rank() == 1 {
            world.put(&[1], array.at(2..3))?;
            world.put(&[5, 6], array.at(4..6))?;
        }
        Ok(())
    });
    let expected = ArrayError::Unfenced { count: 2, first: "section [2..3] of array \"array\"".to_owned() };
    assert_eq!(outcome.unwrap_err(), Error::from(expected));
}

#[test]
fn ticket_is_redeemed_only_at_its_fence() {
    ranks(RANKS, |world| {
        let array = world.array::<u16, 1>("array", &Layout::new([30]).split([Split::Even(4)]))?;
        fill(&array, 7)?;
        let early = world.get(array.at(3..5))?;
        let mut first = world.fence()?;
        let late = world.get(array.at(20..29))?;
        let of_first = world.get(array.at(0..1))?;
        let mut second = world.fence()?;
        assert!(matches!(first.redeem(of_first).unwrap_err().kind(), ErrorKind::Array(ArrayError::Ticket { .. })));
        let message = second.redeem(early).unwrap_err().to_string();
        let expected = concat!("the ticket of section [3..5] of array \"array\", from the get at ", file!(), ":");
        assert!(message.contains(expected), "{message}");
        assert_eq!(second.redeem(late)?, values::<u16, 1>(7, &boxed([20], [9])));
        // A ticket that is not redeemed, and a fence without operations, are no errors.
        assert_eq!(world.fence()?.moved.bytes_network, 0);
        Ok(())
    });
}

#[test]
fn one_sided_operations_on_rearranged_handles_change_same_cells() {
    ranks(RANKS, |world| {
        let chunks = world.size() + 2;
        let layout = Layout::new([4, chunks as i64]).split([Split::Whole, Split::Even(chunks)]);
        let array = world.array::<i32, 2>("array", &layout)?;
        let order: Vec<usize> = (0..chunks).map(|chunk| (chunk + 1) % chunks).collect();
        let rotated = array.reassigned(&order)?;
        // Row y of the rotated handle is row y + 1 of the array: both operations modify one cell,
        // in rank order.
        let ten = Operator::custom("ten", "fn combine(src: T, dst: T) -> T { return 10 * dst + src; }");
        let digit = world.rank() as i32 + 1;
        if world.rank() % 2 == 0 {
            world.accumulate(&[digit; 4], array.at((.., 1)), ten.clone())?;
        } else {
            world.accumulate(&[digit; 4], rotated.at((.., 0)), ten.clone())?;
        }
        world.fence()?;
        let digits = (1..=world.size() as i32).fold(0, |sum, digit| 10 * sum + digit);
        expect_whole(world, &array, &"both handles", |[_, y]| if y == 1 { digits } else { 0 })?;
        expect_whole(world, &rotated, &"both handles", |[_, y]| if y == 0 { digits } else { 0 })
    });
}

#[test]
fn empty_regions_send_no_requests() {
    ranks(RANKS, |world| {
        let array = world.array::<f32, 2>("array", &Layout::new([6, 4]).split([Split::Even(8), Split::Whole]))?;
        let none = world.array::<f32, 2>("none", &Layout::new([0, 4]))?;
        fill(&array, 8)?;
        let tickets = [world.get(array.at((6.., ..)))?, world.get(array.at((2..5, 4..4)))?, world.get(none.at(..))?];
        world.put(&[], array.at((3..3, ..)))?;
        world.accumulate(&Vec::new(), none.at(..), Operator::Add)?;
        let local = world.local_array::<f32, 2>("local", &Layout::new([0, 4]))?;
        world.get_into(none.at(..), local.all())?;
        world.put(local.all(), none.at(..))?;
        let mut fetched = world.fence()?;
        for ticket in tickets {
            assert!(fetched.redeem(ticket)?.is_empty());
        }
        assert_eq!((fetched.moved.bytes_local, fetched.moved.bytes_network, fetched.moved.messages), (0, 0, 0));
        expect(&array, &"untouched", |at| f32::of(code(8, at)))
    });
}

#[test]
fn fence_runs_many_small_requests() {
    ranks(RANKS, |world| {
        let (many, size) = (3000, world.size());
        let array = world.array::<u32, 1>("array", &Layout::new([many]).split([Split::Even(3 * size)]))?;
        let own = |rank: usize, n: i64| (mix(rank as u64 * 1_000_003 + n as u64) % many as u64) as i64;
        let mut tickets = Vec::new();
        for n in 0..many {
            let cell = own(world.rank(), n);
            world.accumulate(&[n as u32 + 1], array.at(cell..cell + 1), Operator::Add)?;
        }
        for n in 0..50 {
            // All ranks accumulate to one cell.
            world.accumulate(&[n], array.at(17), Operator::Max)?;
            world.accumulate(&[1], array.at(17), Operator::Add)?;
        }
        world.fence()?;
        for n in (0..many).step_by(3) {
            tickets.push(world.get(array.at(n))?);
        }
        let mut fetched = world.fence()?;
        let mut sums = vec![0_u32; many as usize];
        for rank in 0..size {
            (0..many).for_each(|n| sums[own(rank, n) as usize] += n as u32 + 1);
            (0..50).for_each(|n| sums[17] = sums[17].max(n) + 1);
        }
        for (ticket, sum) in tickets.into_iter().zip(sums.iter().step_by(3)) {
            assert_eq!(fetched.redeem(ticket)?, [*sum]);
        }
        expect(&array, &"sums", |[n]| sums[n as usize])
    });
}

#[test]
fn invalid_one_sided_call_returns_error_at_once() {
    ranks(RANKS, |world| {
        let array = world.array::<f32, 1>("array", &Layout::new([10]))?;
        fill(&array, 9)?;
        let local = world.local_array::<f32, 1>("local", &Layout::new([4]))?;
        assert!(matches!(
            world.get(array.at(5..11)).unwrap_err().kind(),
            ErrorKind::Region(RegionError::OutOfRange { .. })
        ));
        assert!(matches!(
            world.put(&[1.0; 3], array.at(0..4)).unwrap_err().kind(),
            ErrorKind::Array(ArrayError::Length { .. })
        ));
        assert!(matches!(
            world.put(local.all(), array.at(0..3)).unwrap_err().kind(),
            ErrorKind::Plan(PlanError::Extents { .. })
        ));
        assert!(matches!(
            world.get_into(array.at(0..3), local.all()).unwrap_err().kind(),
            ErrorKind::Plan(PlanError::Extents { .. })
        ));
        assert!(world.accumulate(&[1.0], array.at(0..1), Operator::Over).is_err());
        let text = world.put(&[1.0; 3], array.at(2..6)).unwrap_err().kind().to_string();
        assert_eq!(text, "the slice to put has 3 elements, but section [2..6] of array \"array\" has 4 cells");
        // A mistake in a call affects only its rank, because no operation was queued.
        assert_eq!(world.fence()?.moved.messages, 0);
        expect(&array, &"untouched", |at| f32::of(code(9, at)))
    });
}
