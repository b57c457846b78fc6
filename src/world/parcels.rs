//! The boxes of a plan in messages of bounded size, and the order in which they are applied.

use std::collections::HashMap;

use crate::device::Strided;
use crate::plan::{Arrival, Message, Move, RankPlan};

/// One end of a move: a box of one of the transfer's chunks.
#[derive(Debug, Clone)]
pub(super) struct End {
    pub chunk: usize,
    pub view: Strided,
}

/// A box and where it is in a message.
#[derive(Debug, Clone)]
pub(super) struct PackedBox {
    pub end: End,
    pub offset: u64,
    /// Of which move of the plan's message it is.
    of: usize,
}

/// A message of bounded size, from or to a peer.
#[derive(Debug)]
pub(super) struct Parcel {
    pub peer: usize,
    pub bytes: u64,
    pub boxes: Vec<PackedBox>,
    /// Whether it is one box that lies densely in a chunk of its sender, in an array that is not the destination.
    pub dense: bool,
    /// Of which of the plan's messages it is.
    pub of: usize,
    /// The round of that message, and the place in it: the same at both ends.
    pub turn: (usize, usize),
}

/// Moves of a lane with disjoint destinations.
#[derive(Debug, Default)]
pub(super) struct Wave {
    /// Indices of local moves.
    pub local: Vec<usize>,
    /// Message and box in it, sorted.
    pub received: Vec<(usize, usize)>,
}

/// The waves of a plan as they concern one lane: places among the lane's local moves, and in its messages, where a move
/// may have been cut into several boxes.
pub(super) fn waves(plan: &RankPlan, mine: &dyn Fn(&Move) -> bool, receives: &[Parcel]) -> Vec<Wave> {
    if plan.waves.is_empty() {
        return Vec::new();
    }
    let mut place = 0..;
    let local: Vec<_> = plan.local.iter().map(|m| mine(m).then(|| place.next()).flatten()).collect();
    let mut received: HashMap<(usize, usize), Vec<(usize, usize)>> = HashMap::new();
    for (parcel, Parcel { of: message, boxes, .. }) in receives.iter().enumerate() {
        for (part, PackedBox { of, .. }) in boxes.iter().enumerate() {
            received.entry((*message, *of)).or_default().push((parcel, part));
        }
    }
    let in_lane = |wave: &Vec<Arrival>| {
        let mut out = Wave::default();
        for arrival in wave {
            match *arrival {
                Arrival::Local(index) => out.local.extend(local[index]),
                Arrival::Received { message, index } => {
                    out.received.extend(received.get(&(message, index)).into_iter().flatten());
                }
            }
        }
        out.received.sort_unstable();
        out
    };
    plan.waves.iter().map(in_lane).collect()
}

/// A box on its way into messages.
#[derive(Debug, Clone)]
pub(super) struct Outbound {
    pub end: End,
    /// Whether it travels by itself, from where it is.
    pub dense: bool,
    /// Of which move of the plan's message it is.
    pub of: usize,
}

/// Packs boxes into messages of at most `limit` bytes, cutting boxes that are larger along their slowest axes. Both
/// ends cut alike, since extents are the same at both. `of` is the number of the plan's message.
pub(super) fn parcels(
    (of, message): (usize, &Message),
    moves: impl Iterator<Item = Outbound>,
    element_bytes: u64,
    limit: u64,
) -> Vec<Parcel> {
    let (mut parcels, peer): (Vec<Parcel>, _) = (Vec::new(), message.peer);
    for Outbound { end: End { chunk, view }, dense, of: index } in moves {
        for (view, _) in view.cut(limit / element_bytes) {
            let end = End { chunk, view };
            let bytes = (view.cells() * element_bytes).next_multiple_of(4);
            match parcels.last_mut() {
                Some(last) if !dense && !last.dense && last.bytes.saturating_add(bytes) <= limit => {
                    last.boxes.push(PackedBox { end, offset: last.bytes, of: index });
                    last.bytes += bytes;
                }
                _ => {
                    let turn = (message.round, parcels.len());
                    let boxes = vec![PackedBox { end, offset: 0, of: index }];
                    parcels.push(Parcel { peer, bytes, boxes, dense, of, turn });
                }
            }
        }
    }
    parcels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Arrival;

    fn boxed(offset: u64, extents: [i64; 3], strides: [i64; 3]) -> End {
        End { chunk: 0, view: Strided { offset, extents: extents.into(), strides: strides.into() } }
    }

    /// The cells of a box in the order in which they are packed.
    fn cells(view: &Strided) -> Vec<u64> {
        let Strided { offset, extents: n, strides: s } = view;
        let rows = (0..n[2]).flat_map(|z| (0..n[1]).map(move |y| y * s[1] + z * s[2]));
        rows.flat_map(|row| (0..n[0]).map(move |x| x * s[0] + row)).map(|at| offset + at as u64).collect()
    }

    /// Boxes of which some fit a message, some fill it and some are many times as large.
    fn moves() -> Vec<End> {
        vec![
            boxed(3, [2, 3, 1], [1, 10, 100]),
            boxed(1000, [5, 9, 7], [1, 6, 60]),
            boxed(5000, [1, 1, 1], [1, 1, 1]),
            boxed(7000, [8, 2, 1], [1, 8, 16]),
            boxed(9000, [33, 1, 1], [2, 1, 1]),
        ]
    }

    fn to(peer: usize) -> Message {
        Message { peer, round: 0, moves: Vec::new() }
    }

    /// The boxes, of which some travel by themselves.
    fn bound(list: &[End], dense: impl Fn(usize) -> bool) -> impl Iterator<Item = Outbound> {
        list.iter().cloned().enumerate().map(move |(of, end)| Outbound { end, dense: dense(of), of })
    }

    #[test]
    fn messages_keep_to_their_limit_and_lose_nothing() {
        let limits = [(4, 64), (4, 20), (1, 12), (12, 12), (2, 4), (4, 1 << 20)];
        let alone: [&[usize]; 5] = [&[], &[0], &[1, 2], &[4], &[0, 1, 2, 3, 4]];
        for ((element_bytes, limit), alone) in limits.into_iter().flat_map(|one| alone.map(|alone| (one, alone))) {
            let list = moves();
            let parcels = parcels((5, &to(2)), bound(&list, |of| alone.contains(&of)), element_bytes, limit);
            let mut seen: Vec<Vec<u64>> = vec![Vec::new(); list.len()];
            for Parcel { peer, bytes, boxes, dense, of, .. } in &parcels {
                let apart = boxes.iter().filter(|part| alone.contains(&part.of)).count();
                assert_eq!(apart, usize::from(*dense), "what travels by itself does");
                assert!(!dense || boxes.len() == 1);
                assert!((*peer, *of) == (2, 5) && *bytes <= limit, "{bytes} bytes, {limit} allowed");
                let mut end = 0;
                for PackedBox { end: part, offset, of } in boxes {
                    assert_eq!(*offset, end, "boxes lie one behind the other, from whole words on");
                    end += (part.view.cells() * element_bytes).next_multiple_of(4);
                    seen[*of].extend(cells(&part.view));
                }
                assert_eq!(*bytes, end);
            }
            assert_eq!(seen, list.iter().map(|end| cells(&end.view)).collect::<Vec<_>>(), "in order, every cell once");
            // No more messages than half-full ones would make, and one where all fits.
            let bytes: u64 = list.iter().map(|end| end.view.cells() * element_bytes).sum();
            let most = 4 * bytes / limit + 1 + 2 * alone.len() as u64;
            assert!(parcels.len() as u64 <= most, "{} messages", parcels.len());
        }
    }

    /// What arrives in several messages because it is large still waits for its turn where it meets other boxes.
    #[test]
    fn every_part_of_a_large_box_is_in_its_wave() {
        let list = moves();
        let all = parcels((0, &to(1)), bound(&list, |_| false), 4, 64);
        let place = |from: usize| {
            all.iter()
                .enumerate()
                .flat_map(move |(parcel, Parcel { boxes, .. })| {
                    let of_move = boxes.iter().enumerate().filter(move |(_, part)| part.of == from);
                    of_move.map(move |(part, _)| (parcel, part))
                })
                .collect::<Vec<_>>()
        };
        assert!(place(1).len() > 15, "box 1 is many times too large");
        let arrivals = |list: &[usize]| list.iter().map(|&index| Arrival::Received { message: 0, index }).collect();
        let plan =
            RankPlan { waves: vec![arrivals(&[1, 3]), arrivals(&[0, 4]), arrivals(&[2])], ..RankPlan::default() };
        let waves = waves(&plan, &|_| true, &all);
        for (wave, of) in waves.iter().zip([&[1, 3][..], &[0, 4], &[2]]) {
            let mut expected: Vec<_> = of.iter().flat_map(|&from| place(from)).collect();
            expected.sort_unstable();
            assert_eq!((&wave.received, wave.local.len()), (&expected, 0));
        }
        assert_eq!(
            waves.iter().map(|wave| wave.received.len()).sum::<usize>(),
            all.iter().map(|parcel| parcel.boxes.len()).sum::<usize>()
        );
    }
}
