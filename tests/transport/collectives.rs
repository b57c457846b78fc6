//! Collectives with every root, any length, and operators that do not commute.

use zippy::transport::{Group, Payload, copied, values};

use super::support::{RANKS, groups};

/// Lengths below and above the limit of inline payloads.
const LENGTHS: [usize; 5] = [0, 1, 5, 8 << 10, 70_000];

fn text(rank: usize, length: usize) -> Vec<u8> {
    (0..length).map(|i| (rank * 37 + i * (i % 11 + 1)) as u8).collect()
}

fn bytes(payload: &Payload) -> &[u8] {
    (**payload).as_ref()
}

fn length(rank: usize, round: usize) -> usize {
    LENGTHS[(rank * 2 + round) % LENGTHS.len()] + rank
}

#[test]
fn barrier_returns_after_all_ranks_have_entered() {
    groups(RANKS, |group| {
        let folder = (group.rank() == 0).then(|| {
            let id = (std::process::id(), std::thread::current().id());
            let folder = std::env::temp_dir().join(format!("zippy-barrier-{id:?}"));
            std::fs::create_dir_all(&folder).unwrap();
            copied(folder.to_str().unwrap().as_bytes())
        });
        let folder = group.broadcast(0, folder)?;
        let folder = std::path::PathBuf::from(String::from_utf8_lossy(bytes(&folder)).into_owned());
        for round in 0..20 {
            std::fs::write(folder.join(format!("{round}-{}", group.rank())), "").unwrap();
            group.barrier()?;
            for rank in 0..group.size() {
                assert!(folder.join(format!("{round}-{rank}")).exists(), "rank {rank} was missing in round {round}");
            }
        }
        group.barrier()?;
        if group.rank() == 0 {
            std::fs::remove_dir_all(&folder).unwrap();
        }
        Ok(())
    });
}

#[test]
fn every_root_broadcasts() {
    groups(RANKS, |group| {
        for root in 0..group.size() {
            for length in LENGTHS {
                let own = (group.rank() == root).then(|| copied(&text(root, length)));
                assert!(bytes(&group.broadcast(root, own)?) == text(root, length), "{length} bytes from {root}");
            }
        }
        Ok(())
    });
}

#[test]
fn every_root_gathers() {
    groups(RANKS, |group| {
        for root in 0..group.size() {
            for round in 0..LENGTHS.len() {
                let own = copied(&text(group.rank(), length(group.rank(), round)));
                let gathered = group.gather(root, own)?;
                assert_eq!(gathered.is_some(), group.rank() == root);
                for (rank, payload) in gathered.iter().flatten().enumerate() {
                    assert!(bytes(payload) == text(rank, length(rank, round)), "rank {rank} to {root}");
                }
                assert!(gathered.is_none_or(|all| all.len() == group.size()));
            }
        }
        Ok(())
    });
}

#[test]
fn all_gather_returns_the_data_of_all_ranks() {
    groups(RANKS, |group| {
        for round in 0..2 * LENGTHS.len() {
            let all = group.all_gather_v(copied(&text(group.rank(), length(group.rank(), round))))?;
            assert_eq!(all.len(), group.size());
            for (rank, payload) in all.iter().enumerate() {
                assert!(bytes(payload) == text(rank, length(rank, round)), "of rank {rank} in round {round}");
            }
        }
        Ok(())
    });
}

#[test]
fn all_to_all_delivers_every_pair() {
    groups(RANKS, |group| {
        let (rank, size) = (group.rank(), group.size());
        for round in 0..LENGTHS.len() {
            let pair_text = |from: usize, to: usize| text(from * 8 + to, length(from + 3 * to, round));
            let sent = (0..size).map(|to| copied(&pair_text(rank, to))).collect();
            let received = group.all_to_all_v(sent)?;
            assert_eq!(received.len(), size);
            for (from, payload) in received.iter().enumerate() {
                assert!(bytes(payload) == pair_text(from, rank), "from {from} in round {round}");
            }
        }
        Ok(())
    });
}

/// x → a·x + b: associative, not commutative under composition.
type Affine = [u64; 2];

fn affine(rank: usize, i: usize) -> Affine {
    [2 * (rank as u64 + i as u64) + 3, (rank as u64 + 1) * 1_000_003 + i as u64]
}

fn then(first: &mut Affine, second: &Affine) {
    *first = [first[0].wrapping_mul(second[0]), first[1].wrapping_mul(second[0]).wrapping_add(second[1])];
}

fn composed(ranks: std::ops::Range<usize>, i: usize) -> Affine {
    ranks.fold([1, 0], |mut all, rank| {
        then(&mut all, &affine(rank, i));
        all
    })
}

#[test]
fn all_reduce_in_order_of_rank() {
    groups(RANKS, |group| {
        for length in [0, 1, 3, 5000] {
            let mut items: Vec<Affine> = (0..length).map(|i| affine(group.rank(), i)).collect();
            group.all_reduce(&mut items, then)?;
            for (i, item) in items.iter().enumerate() {
                assert_eq!(*item, composed(0..group.size(), i), "item {i} of {length}");
            }
        }
        Ok(())
    });
}

#[test]
fn exclusive_scan_excludes_own_rank() {
    groups(RANKS, |group| {
        for length in [0, 1, 3, 5000] {
            let mut items: Vec<Affine> = (0..length).map(|i| affine(group.rank(), i)).collect();
            group.exclusive_scan(&mut items, [1, 0], then)?;
            for (i, item) in items.iter().enumerate() {
                assert_eq!(*item, composed(0..group.rank(), i), "item {i} of {length}");
            }
        }
        Ok(())
    });
}

fn mixture(group: &Group, round: u64) -> zippy::Result<()> {
    let (rank, size) = (group.rank() as u64, group.size() as u64);
    let mut sum = [rank + round];
    group.all_reduce(&mut sum, |a, b| *a += b)?;
    assert_eq!(sum[0], size * (size - 1) / 2 + size * round);
    let root = (round % size) as usize;
    let own = (group.rank() == root).then(|| copied(&[round]));
    assert_eq!(values::<u64>(&group.broadcast(root, own)?)?, [round]);
    let all = group.all_gather_v(copied(&[rank * round]))?;
    for (from, payload) in all.iter().enumerate() {
        assert_eq!(values::<u64>(payload)?, [from as u64 * round]);
    }
    Ok(())
}

#[test]
fn collectives_follow_each_other_without_barriers() {
    groups(RANKS, |group| (0..300).try_for_each(|round| mixture(&group, round)));
}

#[test]
fn unchecked_groups_give_the_same_results() {
    groups(RANKS, |group| (0..20).try_for_each(|round| mixture(&group.unchecked(), round)));
}
