//! Prefix copies, whose lengths only the owner of the source knows.

use zippy::array::GlobalSection;
use zippy::{Config, Exchange, Layout, Split, World, run_with};

use crate::support;

const SLOT: i64 = 10;

/// Number of cells that rank `from` sends to rank `to`, from none to all.
fn length(from: i64, to: i64) -> i64 {
    (from * 5 + to * 3) % (SLOT + 1)
}

fn value(at: i64) -> [u32; 2] {
    [at as u32 + 1, 77]
}

fn prefixes<T: zippy::Element>(pairs: &[(GlobalSection<T, 1>, GlobalSection<T, 1>)], lengths: &[u64]) -> Exchange {
    let all = pairs.iter().zip(lengths);
    all.fold(Exchange::new(), |all, ((from, to), &length)| all.prefix(from.clone(), to.clone(), length))
}

#[test]
fn prefixes_move_between_all_pairs_of_ranks() {
    support::ranks(support::RANKS, |world: &World| {
        let ranks = world.size() as i64;
        let layout = Layout::new([ranks * ranks * SLOT]).split([Split::Even(world.size())]);
        let (out, back) = (world.array::<[u32; 2], 1>("out", &layout)?, world.array::<[u32; 2], 1>("back", &layout)?);
        out.fill_with(|[x]| value(x))?;
        let slot = |from: i64, to: i64| (from * ranks + to) * SLOT;
        let all = || (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
        let pairs: Vec<_> = all()
            .map(|(from, to)| {
                let [source, target] = [slot(from, to), slot(to, from)];
                (out.at(source..source + SLOT), back.at(target..target + SLOT))
            })
            .collect();
        // The lengths for sources of other ranks are ignored.
        let rank = world.rank() as i64;
        let known = |(from, to)| if from == rank { length(from, to) as u64 } else { u64::MAX };
        let lengths: Vec<u64> = all().map(known).collect();
        for _ in 0..2 {
            let moved = world.exchange(prefixes(&pairs, &lengths))?;
            let sent =
                |apart: bool| (0..ranks).filter(move |&to| (to != rank) == apart).map(|to| 8 * length(rank, to) as u64);
            assert_eq!((moved.bytes_network, moved.bytes_local), (sent(true).sum(), sent(false).sum()));
            assert_eq!(moved.messages, ranks as u64 - 1);
        }
        let ticket = world.get(back.at(..))?;
        let observed = world.fence()?.redeem(ticket)?;
        for (from, to) in all() {
            for i in 0..SLOT {
                let expected = if i < length(from, to) { value(slot(from, to) + i) } else { [0, 0] };
                assert_eq!(observed[(slot(to, from) + i) as usize], expected, "{from} to {to}, cell {i}");
            }
        }
        Ok(())
    });
}

#[test]
fn invalid_prefix_returns_error_on_all_ranks() {
    support::ranks(&[2], |world| {
        let array = world.array::<u32, 1>("array", &Layout::new([8]).split([Split::Even(2)]))?;
        let bytes = world.array::<u8, 1>("bytes", &Layout::new([8]).split([Split::Even(2)]))?;
        let fails = |result: zippy::Result<zippy::Moved>, expected: &str| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        let one = |from, to, length| world.exchange(Exchange::new().prefix(array.at(from), array.at(to), length));
        fails(one(0..4, 2..6, 1), "all of them in one chunk");
        fails(one(0..0, 4..6, 1), "all of them in one chunk");
        fails(world.exchange(Exchange::new().prefix(bytes.at(0..2), bytes.at(4..6), 1)), "whole words");
        one(0..2, 4..6, 2)?;
        Ok(())
    });
}

/// Any entry may be the source of the last write.
#[test]
fn prefixes_to_the_same_cells_apply_in_order() {
    support::ranks(support::RANKS, |world: &World| {
        let layout = Layout::new([8]).split([Split::Even(2)]);
        let (a, b) = (world.array::<u32, 1>("a", &layout)?, world.array::<u32, 1>("b", &layout)?);
        a.fill_with(|[x]| 1 + x as u32)?;
        for [first, then] in [[4, 0], [0, 4]] {
            b.fill(0)?;
            let prefix = |all: Exchange, from: i64, length| all.prefix(a.at(from..from + 4), b.at(0..4), length);
            world.exchange(prefix(prefix(Exchange::new(), first, 4), then, 3))?;
            let expected = |x: i64| if x < 3 { 1 + then + x } else { 1 + first + x };
            crate::support::cells::expect(&b, &"in order", |[x]| if x < 4 { expected(x) as u32 } else { 0 })?;
        }
        Ok(())
    });
}

#[test]
fn prefix_longer_than_destination_ends_the_run_on_all_ranks() {
    for ranks in support::launcher::counts(&[2]) {
        let result = run_with(Config::threads(ranks), |world| {
            let array = world.array::<u32, 1>("array", &Layout::new([8]).split([Split::Even(2)]))?;
            world.exchange(Exchange::new().prefix(array.at(0..3), array.at(4..6), 3))
        });
        let error = result.unwrap_err().to_string();
        assert!(error.contains("3 cells do not fit section [4..6] of array \"array\""), "{error}");
    }
}

/// Cell of 12 bytes.
#[derive(Debug, Clone, Copy, PartialEq, zippy::Element)]
#[repr(C)]
struct Three {
    a: u32,
    b: u32,
    c: u32,
}

/// Message limit in bytes, which is not a multiple of the cell size.
const MESSAGE_BYTES: u64 = 12_004;

/// Checks messages that are divided at offsets unknown to the receiver: at the limit, one cell
/// before and after it, and at the end of the destination.
fn check_divided_messages() {
    const FULL: u64 = MESSAGE_BYTES / 12;
    support::ranks(&[2], |world| {
        let room = FULL as i64 + 3;
        let layout = Layout::new([2 * room]).split([Split::Even(2)]);
        let array = world.array::<Three, 1>("array", &layout)?;
        let cell = |x: i64| Three { a: x as u32, b: 5, c: !x as u32 };
        let none = Three { a: 0, b: 0, c: 0 };
        for (room, length, messages) in
            [(room, FULL - 1, 1), (room, FULL, 2), (room, FULL + 1, 2), (FULL as i64, FULL, 1), (room, 0, 1)]
        {
            array.fill(none)?;
            array.at(0..room).fill_with(|[x]| cell(x))?;
            let to = array.shape()[0] / 2;
            let moved = world.exchange(Exchange::new().prefix(array.at(0..room), array.at(to..to + room), length))?;
            let sent = if world.rank() == 0 { (12 * length, messages) } else { (0, 0) };
            assert_eq!((moved.bytes_network, moved.messages), sent);
            for chunk in array.chunks().filter(|_| world.rank() == 1) {
                let at = |x: i64| if x < length as i64 { cell(x) } else { none };
                assert!(
                    chunk.all().read()?.into_iter().zip(0..).all(|(found, x)| found == at(x)),
                    "{length} of {room}"
                );
            }
        }
        Ok(())
    });
}

zippy_testing::with_variables! {
    long_ones_come_in_pieces, [("ZIPPY_MESSAGE", "12004")], check_divided_messages
}
