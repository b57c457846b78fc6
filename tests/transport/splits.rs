//! Sub-groups: members, order, and separation of messages.

use zippy::error::TransportError;
use zippy::transport::{Group, copied, values};

use super::support::{RANKS, groups};

fn members(group: &Group) -> zippy::Result<Vec<u64>> {
    let all = group.all_gather_v(copied(&[group.world_rank() as u64]))?;
    all.iter().map(|payload| Ok(values::<u64>(payload)?[0])).collect()
}

#[test]
fn colour_selects_members_and_key_orders_them() {
    groups(RANKS, |group| {
        let (rank, size) = (group.rank(), group.size());
        let third = group.split((rank % 3) as u64, -(rank as i64))?;
        let expected: Vec<u64> =
            (0..size).rev().filter(|other| other % 3 == rank % 3).map(|other| other as u64).collect();
        assert_eq!(members(&third)?, expected);
        assert_eq!(third.size(), expected.len());
        assert_eq!(expected[third.rank()], rank as u64);
        for (inside, &world) in expected.iter().enumerate() {
            assert_eq!(third.world_rank_of(inside), world as usize);
        }
        let equal_keys = group.split(7, 0)?;
        assert_eq!(members(&equal_keys)?, (0..size as u64).collect::<Vec<_>>());
        Ok(())
    });
}

#[test]
fn nested_groups_communicate_concurrently() {
    groups(RANKS, |group| {
        let half = group.split((group.rank() * 2 / group.size()) as u64, 0)?;
        let pair = half.split((half.rank() / 2) as u64, -(half.rank() as i64))?;
        for round in 0..30_u64 {
            for _ in 0..(half.rank() / 2 + half.size()) % 3 {
                pair.next_sequence();
            }
            let mut sums = [half.world_rank() as u64 + round];
            half.all_reduce(&mut sums, |a, b| *a += b)?;
            assert_eq!(sums[0], members(&half)?.iter().map(|rank| rank + round).sum::<u64>());
            let mut most = [group.rank() as u64];
            group.all_reduce(&mut most, |a, b| *a = (*a).max(*b))?;
            assert_eq!(most[0], group.size() as u64 - 1);
        }
        let inside = members(&half)?;
        let expected: Vec<u64> = inside.chunks(2).find(|pair| pair.contains(&(group.rank() as u64))).unwrap().to_vec();
        let pair = half.split((half.rank() / 2) as u64, -(half.rank() as i64))?;
        assert_eq!(members(&pair)?, expected.into_iter().rev().collect::<Vec<_>>());
        Ok(())
    });
}

#[test]
fn messages_stay_in_their_group() {
    groups(RANKS, |group| {
        let twin = group.split(0, 0)?;
        let (to, from) = ((group.rank() + 1) % group.size(), (group.rank() + group.size() - 1) % group.size());
        // Both groups have the same sequence numbers.
        let (outer, inner) = (group.next_sequence(), twin.next_sequence());
        group.send(to, outer, copied(&[1_u8]))?;
        twin.send(to, inner, copied(&[2_u8]))?;
        assert_eq!((*twin.receive(from, inner)?).as_ref(), [2]);
        assert_eq!((*group.receive(from, outer)?).as_ref(), [1]);
        Ok(())
    });
}

#[test]
fn contexts_of_dropped_groups_are_reused() {
    groups(&[1, 3], |group| {
        for round in 0..600_u64 {
            let part = group.split(round % 2 * (group.rank() as u64 % 2), 0)?;
            let mut sum = [1_u64];
            part.all_reduce(&mut sum, |a, b| *a += b)?;
            assert_eq!(sum[0], part.size() as u64);
        }
        Ok(())
    });
}

#[test]
fn too_many_groups_are_refused_on_all_ranks() {
    groups(&[1, 3], |group| {
        let kept: Vec<Group> = (0..255).map(|_| group.split(0, 0)).collect::<Result<_, _>>()?;
        let error = group.split(0, 0).map(drop).unwrap_err();
        assert_eq!(error, TransportError::TooManyGroups { limit: 256 }.into());
        drop(kept);
        group.split(0, 0)?.barrier()
    });
}
