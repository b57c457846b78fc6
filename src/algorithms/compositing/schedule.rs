//! Binary swap as data: which rows of which picture meet which, for any number of pictures.
//!
//! Pictures are numbered by depth, front first. Two neighbouring groups, each of which has its picture spread over its
//! members by rows, become one: every member of both ends up with its share of the rows, blended. From groups of one
//! this takes as many rounds as halvings of the number of pictures. With a power of two, shares nest and every step is
//! the classic exchange of halves; otherwise some rows move within their group first.

use std::ops::Range;

/// Rows of one picture that meet the same rows of another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Step {
    /// The picture that is read, by depth.
    pub from: usize,
    /// The picture that is written, by depth.
    pub to: usize,
    /// The rows.
    pub rows: Range<i64>,
}

/// What happens in one round. Steps of one kind may run in any order or at once; copies come before blending.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Round {
    /// `to` gets what `from` has: both belong to one group.
    pub copies: Vec<Step>,
    /// `from` lies in front of `to`.
    pub over: Vec<Step>,
    /// `from` lies behind `to`.
    pub under: Vec<Step>,
}

/// Rows of the finished picture and who holds them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Piece {
    /// The picture, by depth.
    pub holder: usize,
    /// The rows.
    pub rows: Range<i64>,
}

/// All rounds of a binary swap, and where the finished picture is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SwapSchedule {
    /// In order; the next round reads what the last one wrote.
    pub rounds: Vec<Round>,
    /// By rows, without gaps or overlap; pieces may be empty.
    pub pieces: Vec<Piece>,
}

impl SwapSchedule {
    /// The schedule for `pictures` pictures of `rows` rows. No pictures: no rounds and no pieces.
    pub fn new(pictures: usize, rows: i64) -> Self {
        if pictures == 0 {
            return Self { rounds: Vec::new(), pieces: Vec::new() };
        }
        swap(0, pictures, rows.max(0))
    }
}

/// The schedule among pictures `first .. first + count`.
fn swap(first: usize, count: usize, rows: i64) -> SwapSchedule {
    if count == 1 {
        return SwapSchedule { rounds: Vec::new(), pieces: vec![Piece { holder: first, rows: 0..rows }] };
    }
    let front_count = count.div_ceil(2);
    let front = swap(first, front_count, rows);
    let back = swap(first + front_count, count - front_count, rows);
    let mut rounds = join(front.rounds, back.rounds);
    let pieces = shares(&front.pieces, &back.pieces, rows);
    let mut round = Round::default();
    for Piece { holder, rows: share } in &pieces {
        let is_front = *holder < first + front_count;
        let (own, other) = if is_front { (&front.pieces, &back.pieces) } else { (&back.pieces, &front.pieces) };
        let overlaps = |pieces: &[Piece]| -> Vec<Step> {
            let step = |piece: &Piece| Step {
                from: piece.holder,
                to: *holder,
                rows: piece.rows.start.max(share.start)..piece.rows.end.min(share.end),
            };
            pieces.iter().map(step).filter(|step| step.rows.start < step.rows.end).collect()
        };
        round.copies.extend(overlaps(own).into_iter().filter(|step| step.from != *holder));
        if is_front { &mut round.under } else { &mut round.over }.extend(overlaps(other));
    }
    rounds.push(round);
    SwapSchedule { rounds, pieces }
}

/// Rounds of two groups side by side; the shorter list starts late, so that both end together.
fn join(a: Vec<Round>, b: Vec<Round>) -> Vec<Round> {
    let (mut long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let late = long.len() - short.len();
    for (round, other) in long[late..].iter_mut().zip(short) {
        round.copies.extend(other.copies);
        round.over.extend(other.over);
        round.under.extend(other.under);
    }
    long
}

/// The rows cut evenly among the members of both groups, in the order of what they hold already.
fn shares(front: &[Piece], back: &[Piece], rows: i64) -> Vec<Piece> {
    let middle = |index: usize, count: usize| (2 * index + 1) as f64 / count as f64;
    let mut members: Vec<(f64, usize)> = [front, back]
        .iter()
        .flat_map(|group| group.iter().enumerate().map(|(i, piece)| (middle(i, group.len()), piece.holder)))
        .collect();
    // Stable: of two that hold the same rows, the front one takes the first half.
    members.sort_by(|a, b| a.0.total_cmp(&b.0));
    let count = members.len() as i64;
    let cut = |index: usize| (rows as i128 * index as i128 / count as i128) as i64;
    let piece = |(index, &(_, holder)): (usize, &(f64, usize))| Piece { holder, rows: cut(index)..cut(index + 1) };
    members.iter().enumerate().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row as the list of pictures blended in it, front to back: blending is only defined for neighbours.
    type Row = Option<(usize, usize)>;

    fn blend(front: Row, back: Row) -> Row {
        let (front, back) = (front.expect("a defined row"), back.expect("a defined row"));
        assert_eq!(front.1, back.0, "pictures blended out of order");
        Some((front.0, back.1))
    }

    fn run(schedule: &SwapSchedule, pictures: usize, rows: i64) -> Vec<Vec<Row>> {
        let mut state: Vec<Vec<Row>> = (0..pictures).map(|p| vec![Some((p, p + 1)); rows as usize]).collect();
        for round in &schedule.rounds {
            // Everything is read as it was before the round, except by copies' own readers: none.
            let before = state.clone();
            for step in &round.copies {
                for row in step.rows.clone() {
                    state[step.to][row as usize] = before[step.from][row as usize];
                }
            }
            for (steps, over) in [(&round.over, true), (&round.under, false)] {
                for step in steps {
                    for row in step.rows.clone().map(|row| row as usize) {
                        let (from, to) = (before[step.from][row], state[step.to][row]);
                        assert_eq!(from, state[step.from][row], "a row is read and written in one round");
                        state[step.to][row] = if over { blend(from, to) } else { blend(to, from) };
                    }
                }
            }
        }
        state
    }

    #[test]
    fn every_row_is_blended_once_from_all_pictures_in_order() {
        for pictures in 1..=40 {
            for rows in [0, 1, 2, 7, 64, 101] {
                let schedule = SwapSchedule::new(pictures, rows);
                let state = run(&schedule, pictures, rows);
                let mut next = 0;
                for piece in &schedule.pieces {
                    assert_eq!(piece.rows.start, next);
                    next = piece.rows.end;
                    for row in piece.rows.clone() {
                        assert_eq!(
                            state[piece.holder][row as usize],
                            Some((0, pictures)),
                            "{pictures} pictures, {rows} rows"
                        );
                    }
                }
                assert_eq!(next, rows);
                assert_eq!(schedule.rounds.len(), pictures.next_power_of_two().trailing_zeros() as usize);
            }
        }
    }

    #[test]
    fn powers_of_two_exchange_halves() {
        for (pictures, rows) in [(2, 64), (4, 64), (8, 64), (16, 64)] {
            let schedule = SwapSchedule::new(pictures, rows);
            let mut share = rows;
            for round in &schedule.rounds {
                share /= 2;
                assert!(round.copies.is_empty());
                assert_eq!((round.over.len(), round.under.len()), (pictures / 2, pictures / 2));
                assert!(round.over.iter().chain(&round.under).all(|s| s.rows.end - s.rows.start == share));
            }
        }
    }

    #[test]
    fn no_pictures_no_work() {
        assert_eq!(SwapSchedule::new(0, 10), SwapSchedule { rounds: vec![], pieces: vec![] });
    }
}
