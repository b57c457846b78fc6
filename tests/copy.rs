//! Copy between regions, layouts and owners: every case on 1, 2, 3, 5 and 8 ranks, against a plain array.

mod support;

use support::RANKS;
use zippy::transport::copied;
use zippy::{GlobalArray, Layout, Ownership, Result, Split, World};

/// Values that encode position.
fn encode<const D: usize>(p: [i64; D]) -> i32 {
    p.iter().rev().fold(0, |sum, &x| sum * 64 + x as i32 + 1)
}

/// The sum over all ranks.
fn sum(world: &World, value: u64) -> Result<u64> {
    let mut sum = [value];
    world.group().all_reduce(&mut sum, |total, more| *total += more)?;
    Ok(sum[0])
}

/// Checks every cell that this rank owns.
fn check<const D: usize>(array: &GlobalArray<i32, D>, expected: impl Fn([i64; D]) -> i32) -> Result<()> {
    for chunk in array.chunks() {
        for (p, value) in chunk.region().points().zip(chunk.all().read()?) {
            let p: [i64; D] = std::array::from_fn(|axis| p[axis]);
            assert_eq!(value, expected(p), "{} at {p:?}", array.name());
        }
    }
    Ok(())
}

#[test]
fn overlapping_regions_of_one_array_read_before_they_write() {
    support::ranks(RANKS, |world: &World| {
        for (dx, dy) in [(1, 0), (-1, 2), (3, -3), (0, 1)] {
            let name = format!("a{dx}{dy}");
            let layout = Layout::new([17, 13]).split([Split::Even(3), Split::Even(world.size())]).ghost([2, 1]);
            let array = world.array::<i32, 2>(&name, &layout)?;
            array.fill_with(encode)?;
            let (from, to) = (|d: i64| (0.max(-d), 0.max(d)), |n: i64, d: i64| n - d.abs());
            let ((x0, x1), (y0, y1)) = (from(dx), from(dy));
            let (w, h) = (to(17, dx), to(13, dy));
            world.copy(array.at((x0..x0 + w, y0..y0 + h)), array.at((x1..x1 + w, y1..y1 + h)))?;
            check(&array, |[x, y]| {
                let inside = (x1..x1 + w).contains(&x) && (y1..y1 + h).contains(&y);
                if inside { encode([x - dx, y - dy]) } else { encode([x, y]) }
            })?;
        }
        Ok(())
    });
}

#[test]
fn redistributes_between_any_two_layouts() {
    support::ranks(RANKS, |world: &World| {
        let n = world.size();
        let slabs = Layout::new([11, 7, 9]).split([Split::Whole, Split::Whole, Split::Even(n)]);
        let blocks = Layout::new([11, 7, 9]).split([[5, 0, 6].into(), Split::Even(2), [4, 5].into()]).ghost([1, 2, 0]);
        let source = world.array::<i32, 3>("slabs", &slabs)?;
        // Owners at random, some with nothing.
        let owners = (0..12).map(|chunk| (chunk * 7 + 3) % n.max(2) % n).collect();
        let destination = world.array_owned::<i32, 3>("blocks", &blocks, Ownership::table(owners, n)?)?;
        source.fill_with(encode)?;
        let moved = world.copy(source.at(..), destination.at(..))?;
        check(&destination, encode)?;
        let total = sum(world, moved.bytes_local + moved.bytes_network)?;
        assert_eq!(total, 11 * 7 * 9 * 4, "every cell moved once");
        world.copy_permuted(destination.at((2..9, .., ..)), source.at((0..7, .., 0..7)), [1, 2, 0]).unwrap_err();
        world.copy_permuted(destination.at((2..9, .., ..)), source.at((0..9, .., ..7)), [2, 1, 0])?;
        check(&source, |[x, y, z]| if x < 9 && z < 7 { encode([z + 2, y, x]) } else { encode([x, y, z]) })
    });
}

#[test]
fn empty_regions_and_empty_arrays_move_nothing() {
    support::ranks(RANKS, |world: &World| {
        let array = world.array::<i32, 2>("array", &Layout::new([5, 4]).split([Split::Even(9), Split::Auto]))?;
        let nothing = world.array::<i32, 2>("nothing", &Layout::new([0, 4]).split([Split::Even(3), Split::Auto]))?;
        array.fill_with(encode)?;
        assert_eq!(world.copy(array.at((2..2, ..)), array.at((5..5, ..)))?.messages, 0);
        assert_eq!(world.copy(nothing.at(..), nothing.at(..))?.bytes_local, 0);
        world.copy(nothing.at(..), array.at((3..3, ..)))?;
        check(&array, encode)
    });
}

#[test]
fn elements_of_every_size_arrive_whole() {
    fn moves<T: zippy::Element + PartialEq + std::fmt::Debug>(world: &World, value: impl Fn(i64) -> T) -> Result<()> {
        let layout = Layout::new([23, 5]).split([Split::Even(world.size()), Split::Even(2)]).ghost([1, 0]);
        let array = world.array::<T, 2>(T::INFO.name, &layout)?;
        array.fill_with(|[x, y]| value(x + 23 * y))?;
        world.copy(array.at((1..20, 0..4)), array.at((4..23, 1..5)))?;
        for chunk in array.chunks() {
            for (p, cell) in chunk.region().points().zip(chunk.all().read()?) {
                let moved = p[0] >= 4 && p[1] >= 1;
                let expected = if moved { value(p[0] - 3 + 23 * (p[1] - 1)) } else { value(p[0] + 23 * p[1]) };
                assert_eq!(cell, expected, "{} at {p:?}", T::INFO.name);
            }
        }
        Ok(())
    }
    support::ranks(RANKS, |world: &World| {
        moves(world, |n| n as u8)?;
        moves(world, |n| (n - 60) as i8)?;
        moves(world, |n| n as u16 * 500)?;
        moves(world, |n| n as i16 * -250)?;
        moves(world, |n| [n as f32, -n as f32])?;
        moves(world, |n| [n as u32, 1, 2, n as u32 + 7])
    });
}

#[test]
fn nan_payloads_move_intact() {
    support::ranks(RANKS, |world: &World| {
        let layout = Layout::new([64]).split([Split::Even(world.size())]).ghost([1]).periodic([true]);
        let array = world.array::<f32, 1>("nans", &layout)?;
        let bits = |x: i64| 0x7f80_0001 + 0x1234 * x as u32 + if x % 2 == 0 { 0x8000_0000 } else { 0 };
        array.fill_with(|[x]| f32::from_bits(bits(x)))?;
        world.ghosts(&array)?;
        world.copy(array.at([0..50]), array.at([14..64]))?;
        for chunk in array.chunks() {
            for (p, value) in chunk.region().points().zip(chunk.all().read()?) {
                let from = if p[0] >= 14 { p[0] - 14 } else { p[0] };
                assert_eq!(value.to_bits(), bits(from), "at {p:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn started_copies_finish_in_any_mix() {
    support::ranks(RANKS, |world: &World| {
        let layout = Layout::new([40, 6]).split([Split::Even(world.size()), Split::Whole]);
        let a = world.array::<i32, 2>("a", &layout)?;
        let b = world.array::<i32, 2>("b", &layout)?;
        let c = world.array::<i32, 2>("c", &layout)?;
        a.fill_with(encode)?;
        let first = world.start_copy(a.at((0..30, ..)), b.at((10..40, ..)))?;
        let second = world.start_copy(a.at((10..40, ..)), c.at((0..30, ..)))?;
        // The source has been read: it may change while the copies are under way.
        a.fill(-1)?;
        second.wait()?;
        first.wait()?;
        check(&b, |[x, y]| if x >= 10 { encode([x - 10, y]) } else { 0 })?;
        check(&c, |[x, y]| if x < 30 { encode([x + 10, y]) } else { 0 })
    });
}

#[test]
fn bad_regions_are_the_same_error_on_every_rank() {
    support::ranks(RANKS, |world: &World| {
        let array = world.array::<i32, 2>("array", &Layout::new([5, 4]).split([Split::Even(2), Split::Auto]))?;
        for wrong in [
            world.copy(array.at((0..6, ..)), array.at(..)),
            world.copy(array.at((0..2, ..)), array.at((0..3, ..))),
            world.copy(array.at((-1..2, ..)), array.at((0..3, ..))),
            world.copy(array.at((0..i64::MAX, ..)), array.at(..)),
        ] {
            let text = wrong.unwrap_err().to_string();
            let all = world.group().all_gather_v(copied(text.as_bytes()))?;
            assert!(all.iter().all(|other| (**other).as_ref() == text.as_bytes()), "{text}");
        }
        // The world goes on.
        world.copy(array.at((0..2, ..)), array.at((3..5, ..)))?;
        Ok(())
    });
}

support::under_mpi!();
