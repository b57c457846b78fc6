use super::*;
use crate::layout::{Layout, Split};

fn placement(layout: Layout, ranks: usize) -> Placement {
    Placement::balanced(layout.resolve(ranks, 4, u64::MAX).unwrap(), ranks)
}

#[test]
fn round_of_ghost_update_on_cube_of_ranks_has_one_direction() {
    let cube = placement(Layout::new([12, 12, 12]).split_all(Split::Even(3)).ghost([1, 1, 1]).periodic([true; 3]), 27);
    for (spec, count) in [(GhostSpec::faces(), 6), (GhostSpec::all(), 26), (GhostSpec::all().reversed(), 26)] {
        let plan = ghosts(&[(&cube, &spec)], 13).unwrap();
        assert_eq!((plan.sends.len(), plan.receives.len(), plan.rounds), (count, count, count));
        for messages in [&plan.sends, &plan.receives] {
            assert!(messages.iter().map(|message| message.round).eq(0..count));
            assert!(messages.iter().all(|message| message.moves.len() == 1));
        }
        assert!(plan.local.is_empty());
    }
}

#[test]
fn neighbour_without_component_lists_sends_one_box() {
    // Chunk 0 has cells of a face, of edges and of corners of chunk 2.
    let boxes = [([0, 0], [2, 6]), ([2, 0], [4, 2]), ([2, 2], [4, 4]), ([2, 4], [4, 6])];
    let boxes = boxes.map(|(start, end)| Region::new(&start, &end).unwrap()).to_vec();
    let plan =
        ghosts(&[(&placement(Layout::new([4, 6]).boxes(boxes).ghost([1, 1]), 4), &GhostSpec::all())], 2).unwrap();
    let from_tall = plan.receives.iter().find(|message| message.peer == 0).unwrap();
    assert_eq!(from_tall.moves.len(), 1);
    assert_eq!(from_tall.moves[0].dst.to_string(), "[1..2, 1..5]");
}

#[test]
fn several_arrays_share_one_message_per_pair() {
    let a = placement(Layout::new([10, 4]).split([Split::Even(2), Split::Whole]).ghost([1, 0]), 2);
    let b = placement(Layout::new([6]).split([Split::Even(2)]).ghost([2]), 2);
    let spec = GhostSpec::all();
    let plan = ghosts(&[(&a, &spec), (&b, &spec)], 0).unwrap();
    assert_eq!(plan.sends.len(), 1);
    assert_eq!(plan.sends[0].moves.iter().map(|step| step.src_array).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(plan.moved(&[4, 8]).bytes_network, 4 * 4 + 2 * 8);
}

#[test]
fn invalid_arguments_are_refused() {
    let a = placement(Layout::new([10, 4]).ghost([1, 1]), 2);
    let b = placement(Layout::new([10, 4]).ghost([1, 0]), 3);
    let spec = GhostSpec::all();
    assert!(matches!(ghosts(&[(&a, &spec), (&b, &spec)], 0), Err(PlanError::Ranks { given: 3, expected: 2 })));
    assert!(matches!(ghosts(&[(&a, &spec)], 2), Err(PlanError::NoSuchRank { rank: 2, ranks: 2 })));
    let with = |component: usize, axes| {
        GhostSpec::all().components(Components::new(1, axes, move |_| vec![component]).unwrap())
    };
    assert!(matches!(
        ghosts(&[(&a, &with(0, 2))], 0),
        Err(PlanError::ComponentGhosts { axis: 1, before: 1, behind: 1 })
    ));
    assert!(matches!(ghosts(&[(&b, &with(0, 3))], 0), Err(PlanError::ComponentAxis { axes: 2, .. })));
    let error = ghosts(&[(&b, &with(4, 2))], 0).unwrap_err();
    assert_eq!(error.to_string(), "the list for direction [-1, 0] names component 4, but axis 1 has 4");
    assert!(ghosts(&[(&b, &with(3, 2))], 0).is_ok());
    assert!(ghosts(&[], 0).unwrap().is_empty());
}
