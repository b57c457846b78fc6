//! [`MessagePart`]: message of bounded size with boxes of a plan. [`Wave`]: moves in order of
//! application.

use std::collections::HashMap;

use crate::device::StridedBox;
use crate::plan::{Arrival, Message, Move, RankPlan};

#[derive(Debug, Clone)]
pub(super) struct ChunkBox {
    /// Index in [`Transfer::chunks`](super::transfer::Transfer).
    pub chunk: usize,
    pub view: StridedBox,
}

/// Box and its byte offset in a message.
#[derive(Debug, Clone)]
pub(super) struct MessageBox {
    pub chunk_box: ChunkBox,
    pub offset: u64,
    /// Index of the move in the plan message.
    move_index: usize,
}

/// Message of bounded size: a part of a plan message.
#[derive(Debug)]
pub(super) struct MessagePart {
    pub peer: usize,
    pub bytes: u64,
    pub boxes: Vec<MessageBox>,
    /// True for a message that consists of a single box, contiguous in the chunk of the sender and
    /// in an array other than the destination.
    pub is_sent_in_place: bool,
    /// Index of the plan message.
    pub message_index: usize,
    /// Round of the plan message, and index of the part in it. The same on both ranks.
    pub send_order: (usize, usize),
}

/// Moves of a typed transfer with disjoint destinations; waves are applied one after another.
#[derive(Debug, Default)]
pub(super) struct Wave {
    /// Indices of local moves.
    pub local: Vec<usize>,
    /// Indices of message part and box, in ascending order.
    pub received: Vec<(usize, usize)>,
}

/// Restricts the waves of a plan to the moves of a typed transfer.
///
/// A wave of the result has indices of local moves of the typed transfer, and of boxes in its
/// messages. A large move consists of several boxes.
pub(super) fn waves(plan: &RankPlan, is_included: &dyn Fn(&Move) -> bool, receives: &[MessagePart]) -> Vec<Wave> {
    if plan.waves.is_empty() {
        return Vec::new();
    }
    let mut indices = 0..;
    let local: Vec<_> = plan.local.iter().map(|m| is_included(m).then(|| indices.next()).flatten()).collect();
    let mut received: HashMap<(usize, usize), Vec<(usize, usize)>> = HashMap::new();
    for (part, MessagePart { message_index, boxes, .. }) in receives.iter().enumerate() {
        for (packed, MessageBox { move_index, .. }) in boxes.iter().enumerate() {
            received.entry((*message_index, *move_index)).or_default().push((part, packed));
        }
    }
    let restrict = |wave: &Vec<Arrival>| {
        let mut restricted = Wave::default();
        for arrival in wave {
            match *arrival {
                Arrival::Local(index) => restricted.local.extend(local[index]),
                Arrival::Received { message, index } => {
                    restricted.received.extend(received.get(&(message, index)).into_iter().flatten());
                }
            }
        }
        restricted.received.sort_unstable();
        restricted
    };
    plan.waves.iter().map(restrict).collect()
}

/// Box that is not yet assigned to a message.
#[derive(Debug, Clone)]
pub(super) struct Outbound {
    pub chunk_box: ChunkBox,
    /// True if the box is sent in place, as a separate message.
    pub is_sent_in_place: bool,
    /// Index of the move in the plan message.
    pub move_index: usize,
}

/// Packs boxes into messages of at most `limit` bytes, and splits larger boxes along their slowest
/// axes.
///
/// Sender and receiver compute the same parts, because the extents are the same on both ranks.
pub(super) fn split_message(
    message_index: usize,
    message: &Message,
    moves: impl Iterator<Item = Outbound>,
    element_bytes: u64,
    limit: u64,
) -> Vec<MessagePart> {
    let (mut parts, peer): (Vec<MessagePart>, _) = (Vec::new(), message.peer);
    for Outbound { chunk_box: ChunkBox { chunk, view }, is_sent_in_place, move_index } in moves {
        for (view, _) in view.cut(limit / element_bytes) {
            let chunk_box = ChunkBox { chunk, view };
            let bytes = (view.cells() * element_bytes).next_multiple_of(4);
            match parts.last_mut() {
                Some(last)
                    if !is_sent_in_place && !last.is_sent_in_place && last.bytes.saturating_add(bytes) <= limit =>
                {
                    last.boxes.push(MessageBox { chunk_box, offset: last.bytes, move_index });
                    last.bytes += bytes;
                }
                _ => {
                    let send_order = (message.round, parts.len());
                    let boxes = vec![MessageBox { chunk_box, offset: 0, move_index }];
                    parts.push(MessagePart { peer, bytes, boxes, is_sent_in_place, message_index, send_order });
                }
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Arrival;

    fn chunk_box(offset: u64, extents: [i64; 3], strides: [i64; 3]) -> ChunkBox {
        ChunkBox { chunk: 0, view: StridedBox { offset, extents: extents.into(), strides: strides.into() } }
    }

    fn cells(view: &StridedBox) -> Vec<u64> {
        let StridedBox { offset, extents: n, strides: s } = view;
        let rows = (0..n[2]).flat_map(|z| (0..n[1]).map(move |y| y * s[1] + z * s[2]));
        rows.flat_map(|row| (0..n[0]).map(move |x| x * s[0] + row)).map(|at| offset + at as u64).collect()
    }

    /// Boxes that fit into a message, fill it, or exceed it many times.
    fn boxes_of_all_sizes() -> Vec<ChunkBox> {
        vec![
            chunk_box(3, [2, 3, 1], [1, 10, 100]),
            chunk_box(1000, [5, 9, 7], [1, 6, 60]),
            chunk_box(5000, [1, 1, 1], [1, 1, 1]),
            chunk_box(7000, [8, 2, 1], [1, 8, 16]),
            chunk_box(9000, [33, 1, 1], [2, 1, 1]),
        ]
    }

    fn empty_message(peer: usize) -> Message {
        Message { peer, round: 0, moves: Vec::new() }
    }

    fn outbound(list: &[ChunkBox], is_sent_in_place: impl Fn(usize) -> bool) -> impl Iterator<Item = Outbound> {
        let outbound = move |(move_index, chunk_box)| Outbound {
            chunk_box,
            is_sent_in_place: is_sent_in_place(move_index),
            move_index,
        };
        list.iter().cloned().enumerate().map(outbound)
    }

    #[test]
    fn message_parts_stay_below_limit_and_have_every_cell_once() {
        let limits = [(4, 64), (4, 20), (1, 12), (12, 12), (2, 4), (4, 1 << 20)];
        let in_place: [&[usize]; 5] = [&[], &[0], &[1, 2], &[4], &[0, 1, 2, 3, 4]];
        for ((element_bytes, limit), in_place) in
            limits.into_iter().flat_map(|limit| in_place.map(|list| (limit, list)))
        {
            let list = boxes_of_all_sizes();
            let parts = split_message(
                5,
                &empty_message(2),
                outbound(&list, |index| in_place.contains(&index)),
                element_bytes,
                limit,
            );
            let mut found: Vec<Vec<u64>> = vec![Vec::new(); list.len()];
            for MessagePart { peer, bytes, boxes, is_sent_in_place, message_index, .. } in &parts {
                let separate = boxes.iter().filter(|packed| in_place.contains(&packed.move_index)).count();
                assert_eq!(separate, usize::from(*is_sent_in_place), "in-place boxes have separate messages");
                assert!(!is_sent_in_place || boxes.len() == 1);
                assert!((*peer, *message_index) == (2, 5) && *bytes <= limit, "{bytes} bytes, {limit} allowed");
                let mut end = 0;
                for MessageBox { chunk_box: packed, offset, move_index } in boxes {
                    assert_eq!(*offset, end, "boxes are consecutive, at multiples of 4 bytes");
                    end += (packed.view.cells() * element_bytes).next_multiple_of(4);
                    found[*move_index].extend(cells(&packed.view));
                }
                assert_eq!(*bytes, end);
            }
            assert_eq!(found, list.iter().map(|end| cells(&end.view)).collect::<Vec<_>>(), "in order, every cell once");
            // At most twice the number of full messages, and a single message if all boxes fit.
            let bytes: u64 = list.iter().map(|end| end.view.cells() * element_bytes).sum();
            let max_parts = 4 * bytes / limit + 1 + 2 * in_place.len() as u64;
            assert!(parts.len() as u64 <= max_parts, "{} messages", parts.len());
        }
    }

    #[test]
    fn parts_of_large_box_are_in_wave_of_its_move() {
        let list = boxes_of_all_sizes();
        let all = split_message(0, &empty_message(1), outbound(&list, |_| false), 4, 64);
        let boxes_of_move = |move_index: usize| {
            all.iter()
                .enumerate()
                .flat_map(move |(part, MessagePart { boxes, .. })| {
                    let of_move = boxes.iter().enumerate().filter(move |(_, packed)| packed.move_index == move_index);
                    of_move.map(move |(packed, _)| (part, packed))
                })
                .collect::<Vec<_>>()
        };
        assert!(boxes_of_move(1).len() > 15, "box 1 is many times too large");
        let arrivals = |list: &[usize]| list.iter().map(|&index| Arrival::Received { message: 0, index }).collect();
        let plan =
            RankPlan { waves: vec![arrivals(&[1, 3]), arrivals(&[0, 4]), arrivals(&[2])], ..RankPlan::default() };
        let waves = waves(&plan, &|_| true, &all);
        for (wave, moves) in waves.iter().zip([&[1, 3][..], &[0, 4], &[2]]) {
            let mut expected: Vec<_> = moves.iter().flat_map(|&index| boxes_of_move(index)).collect();
            expected.sort_unstable();
            assert_eq!((&wave.received, wave.local.len()), (&expected, 0));
        }
        assert_eq!(
            waves.iter().map(|wave| wave.received.len()).sum::<usize>(),
            all.iter().map(|part| part.boxes.len()).sum::<usize>()
        );
    }
}
