//! Messages between two ranks: order, sizes, pieces, and shared tags.

use zippy::transport::{Config, copied, values};

use super::support::{RANKS, groups, groups_with};

/// Message content that depends on sender, receiver, message number and offset.
fn text(from: usize, to: usize, number: usize, length: usize) -> Vec<u8> {
    let seed = from * 31 + to * 17 + number * 7;
    (0..length).map(|i| (seed + i * (i % 13 + 1)) as u8).collect()
}

#[test]
fn messages_of_one_tag_arrive_in_order() {
    groups(RANKS, |group| {
        let tag = group.next_sequence();
        let (rank, size) = (group.rank(), group.size());
        for number in 0..50 {
            for to in 0..size {
                group.send(to, tag, copied(&text(rank, to, number, number * 5 % 97)))?;
            }
        }
        for number in 0..50 {
            for from in 0..size {
                let found = group.receive(from, tag)?;
                assert_eq!((*found).as_ref(), text(from, rank, number, number * 5 % 97), "{number} from {from}");
            }
        }
        Ok(())
    });
}

#[test]
fn messages_are_matched_by_tag() {
    groups(RANKS, |group| {
        let tags: Vec<_> = (0..20).map(|_| group.next_sequence()).collect();
        let (to, from) = ((group.rank() + 1) % group.size(), (group.rank() + group.size() - 1) % group.size());
        for (number, &tag) in tags.iter().enumerate() {
            group.send(to, tag, copied(&text(group.rank(), to, number, 40)))?;
        }
        for (number, &tag) in tags.iter().enumerate().rev() {
            assert_eq!((*group.receive(from, tag)?).as_ref(), text(from, group.rank(), number, 40));
        }
        Ok(())
    });
}

#[test]
fn messages_without_bytes_arrive() {
    groups(RANKS, |group| {
        let (empty, full) = (group.next_sequence(), group.next_sequence());
        let to = (group.rank() + 1) % group.size();
        group.send(to, full, copied(&[group.rank() as u64]))?;
        group.send(to, empty, copied::<u8>(&[]))?;
        let from = (group.rank() + group.size() - 1) % group.size();
        assert_eq!((*group.receive(from, empty)?).as_ref().len(), 0);
        assert_eq!(values::<u64>(&group.receive(from, full)?)?, [from as u64]);
        assert!(group.try_receive(Some(from), empty)?.is_none());
        Ok(())
    });
}

#[test]
fn large_messages_are_divided_and_joined() {
    // Lengths near multiples of the piece size.
    let lengths = [0, 1, 63, 64, 65, 127, 128, 129, 640, 1000, 64 * 64, 10_007];
    for piece_bytes in [1, 64, 4096] {
        groups_with(
            RANKS,
            |config: Config| config.piece_bytes(piece_bytes),
            |group| {
                let tag = group.next_sequence();
                let (rank, size) = (group.rank(), group.size());
                for (number, &length) in lengths.iter().enumerate() {
                    for to in 0..size {
                        group.send(to, tag, copied(&text(rank, to, number, length)))?;
                    }
                }
                for (number, &length) in lengths.iter().enumerate() {
                    for from in 0..size {
                        let found = group.receive(from, tag)?;
                        assert_eq!((*found).as_ref(), text(from, rank, number, length), "{length} bytes from {from}");
                    }
                }
                Ok(())
            },
        );
    }
}

#[test]
fn simultaneous_large_messages_arrive() {
    let length = 5 << 20;
    groups(RANKS, |group| {
        let tag = group.next_sequence();
        let to = (group.rank() + 1) % group.size();
        group.send(to, tag, copied(&text(group.rank(), to, 0, length)))?;
        let from = (group.rank() + group.size() - 1) % group.size();
        assert!((*group.receive(from, tag)?).as_ref() == text(from, group.rank(), 0, length));
        group.wait_for(None, || Ok(group.flushed()?.then_some(())))
    });
}

#[test]
fn more_than_the_receive_buffer_arrives_in_requested_order() {
    // More bytes than a rank receives in advance.
    groups(&[2, 3], |group| {
        let tags: Vec<_> = (0..40).map(|_| group.next_sequence()).collect();
        let to = (group.rank() + 1) % group.size();
        for (number, &tag) in tags.iter().enumerate() {
            group.send(to, tag, copied(&vec![number as u32 + 100 * group.rank() as u32; 1 << 20]))?;
        }
        let from = (group.rank() + group.size() - 1) % group.size();
        for (number, &tag) in tags.iter().enumerate().rev() {
            let found = values::<u32>(&group.receive(from, tag)?)?;
            assert_eq!(found.len(), 1 << 20);
            assert!(found.iter().all(|&value| value == number as u32 + 100 * from as u32));
        }
        Ok(())
    });
}

#[test]
fn receive_any_returns_the_sender() {
    groups(RANKS, |group| {
        let tag = group.next_sequence();
        for to in 0..group.size() {
            group.send(to, tag, copied(&[group.rank() as u32, to as u32]))?;
        }
        let mut senders = Vec::new();
        for _ in 0..group.size() {
            let (from, payload) = group.receive_any(tag)?;
            assert_eq!(values::<u32>(&payload)?, [from as u32, group.rank() as u32]);
            senders.push(from);
        }
        senders.sort_unstable();
        assert_eq!(senders, (0..group.size()).collect::<Vec<_>>());
        Ok(())
    });
}

#[test]
fn messages_of_a_run_are_not_received_by_the_next_run() {
    for number in 0..20 {
        groups(RANKS, |group| {
            let tag = group.next_sequence();
            let to = (group.rank() + 1) % group.size();
            for extra in 0..4 {
                group.send(to, tag, copied(&[number, extra]))?;
            }
            let from = (group.rank() + group.size() - 1) % group.size();
            assert_eq!(values::<u64>(&group.receive(from, tag)?)?, [number, 0]);
            Ok(())
        });
    }
}

#[test]
fn ranks_outside_the_group_are_refused() {
    groups(RANKS, |group| {
        let (tag, size) = (group.next_sequence(), group.size());
        let errors = [
            group.send(size, tag, copied(&[1_u8])).unwrap_err(),
            group.receive(size, tag).map(drop).unwrap_err(),
            group.try_receive(Some(size + 7), tag).map(drop).unwrap_err(),
            group.broadcast(size, None).map(drop).unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().contains(&format!("not in a group of {size}")), "{error}");
        }
        Ok(())
    });
}
