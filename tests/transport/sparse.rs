//! Sparse exchange: receivers do not know their senders.

use zippy::transport::{Payload, copied, values};

use super::support::{RANKS, groups};

/// Number of messages from one rank to another in a round.
fn count(from: usize, to: usize, round: usize) -> usize {
    match (from * 7 + to * 3 + round * 5) % 8 {
        0 => 3,
        1 | 2 => 1,
        _ => 0,
    }
}

fn message(from: usize, to: usize, round: usize, number: usize) -> Vec<u64> {
    let length = (from + to * 2 + number * 40) % 100;
    let head = [from, to, round, number].map(|value| value as u64);
    head.into_iter().chain(0..length as u64).collect()
}

#[test]
fn messages_reach_receivers_that_do_not_know_senders() {
    groups(RANKS, |group| {
        let (rank, size) = (group.rank(), group.size());
        for round in 0..60 {
            let list = |from: usize, to: usize| (0..count(from, to, round)).map(move |n| message(from, to, round, n));
            let sent: Vec<(usize, Payload)> =
                (0..size).rev().flat_map(|to| list(rank, to).map(move |text| (to, copied(&text)))).collect();
            let received = group.sparse_exchange(sent)?;
            let found: Vec<(usize, Vec<u64>)> =
                received.iter().map(|(from, payload)| Ok((*from, values(payload)?))).collect::<zippy::Result<_>>()?;
            let expected: Vec<(usize, Vec<u64>)> =
                (0..size).flat_map(|from| list(from, rank).map(move |text| (from, text))).collect();
            assert_eq!(found, expected, "round {round}");
        }
        Ok(())
    });
}

#[test]
fn exchange_without_messages_succeeds() {
    groups(RANKS, |group| {
        for _ in 0..50 {
            assert!(group.sparse_exchange(Vec::new())?.is_empty());
        }
        Ok(())
    });
}

#[test]
fn all_ranks_send_to_one_rank() {
    groups(RANKS, |group| {
        for target in 0..group.size() {
            let length = 30_000 + group.rank();
            let sent = vec![(target, copied(&vec![group.rank() as u32; length])), (target, copied::<u8>(&[]))];
            let received = group.sparse_exchange(sent)?;
            if group.rank() != target {
                assert!(received.is_empty());
                continue;
            }
            assert_eq!(received.len(), 2 * group.size());
            for (from, both) in received.chunks(2).enumerate() {
                assert_eq!((both[0].0, both[1].0), (from, from));
                assert!(values::<u32>(&both[0].1)? == vec![from as u32; 30_000 + from]);
                assert!((*both[1].1).as_ref().is_empty());
            }
        }
        Ok(())
    });
}
