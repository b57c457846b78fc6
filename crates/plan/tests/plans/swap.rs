//! Execution of swaps for any count and any radices. Combining is concatenation of positions, so
//! that a wrong order, a loss or a repetition changes a value.

use proptest::prelude::*;
use zippy::error::PlanError;
use zippy::plan::Swap;

fn in_order(count: usize) -> Vec<usize> {
    (0..count).collect()
}

fn radices() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(2_usize..9, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn swap_reduces_each_item_at_one_position(count in 1_usize..70, radices in radices(), items in 0_u64..200) {
        let swap = Swap::new(count, &radices, items).unwrap();
        // values[position][item]; empty if the position no longer has the item.
        let mut values = vec![vec![Vec::new(); items as usize]; count];
        for (position, value) in values.iter_mut().enumerate() {
            value.iter_mut().for_each(|item| *item = vec![position]);
        }
        for fold in swap.folds() {
            values[fold.start] = vec![fold.clone().collect(); items as usize];
            values[fold.start + 1..fold.end].iter_mut().flatten().for_each(Vec::clear);
        }
        for round in 0..swap.rounds() {
            let before = values.clone();
            for (position, value) in values.iter_mut().enumerate() {
                let Some(step) = swap.step(round, position) else {
                    prop_assert!(!swap.active().contains(&position));
                    continue;
                };
                prop_assert_eq!(step.members[step.index], position);
                for (&member, part) in step.members.iter().zip(&step.parts) {
                    let other = swap.step(round, member).unwrap();
                    prop_assert_eq!((&other.members, &other.before, other.keep()), (&step.members, &step.before, part.clone()));
                }
                value.iter_mut().for_each(Vec::clear);
                for item in step.keep() {
                    let item = item as usize;
                    value[item] = step.members.iter().flat_map(|&member| before[member][item].clone()).collect();
                }
            }
        }
        for item in 0..items {
            let holders: Vec<_> = (0..count).filter(|&position| swap.result(position).contains(&item)).collect();
            prop_assert_eq!(holders.len(), 1);
            prop_assert_eq!(&values[holders[0]][item as usize], &in_order(count));
        }
    }
}

#[test]
fn binary_swap_of_any_count_folds_neighbours() {
    let swap = Swap::new(5, &[2], 10).unwrap();
    assert_eq!(swap.folds(), std::slice::from_ref(&(0..2)));
    assert_eq!(swap.active(), [0, 2, 3, 4]);
    let step = swap.step(0, 2).unwrap();
    assert_eq!((step.members.clone(), step.index, step.before.clone(), step.keep()), (vec![0, 2], 1, 0..10, 5..10));
    let step = swap.step(1, 2).unwrap();
    assert_eq!((step.members.clone(), step.before.clone(), step.keep()), (vec![2, 4], 5..10, 5..8));
    assert_eq!(swap.step(0, 1), None);
    assert!(swap.result(1).is_empty());
    // A large radix gives one direct exchange, for any count.
    let direct = Swap::new(7, &[64], 7).unwrap();
    assert_eq!((direct.rounds(), direct.folds().len()), (1, 0));
}

#[test]
fn nonsense_is_refused() {
    assert!(matches!(Swap::new(0, &[2], 9), Err(PlanError::Pattern { count: 0, .. })));
    assert!(matches!(Swap::new(4, &[2, 1], 9), Err(PlanError::Pattern { radix: 1, .. })));
    assert!(matches!(Swap::new(4, &[], 9), Err(PlanError::Pattern { radix: 0, .. })));
    assert_eq!(Swap::new(1, &[2], 9).unwrap().result(0), 0..9);
}
