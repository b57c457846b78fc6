//! One-sided epochs, compared with the truth for random arrays, owners and operations.

use proptest::prelude::*;
use zippy::layout::{Layout, Split};
use zippy::locate::Placement;
use zippy::plan::one_sided::split;
use zippy::region::Region;
use zippy_testing::oracle::truth::{self, Cells};
use zippy_testing::oracle::{Memory, Operand, Request, Verb, fence};
use zippy_testing::random::merge_in_order;

use super::random;

#[derive(Debug, Clone)]
struct Case {
    arrays: Vec<Placement>,
    requests: Vec<Request<u64>>,
}

fn request(arrays: &[Placement]) -> BoxedStrategy<Request<u64>> {
    let ranks = arrays[0].ranks();
    let shapes: Vec<Vec<i64>> = arrays.iter().map(|array| array.chunks().shape().to_vec()).collect();
    let section = (0..arrays.len()).prop_flat_map(move |array| (Just(array), random::region(shapes[array].clone())));
    (0..ranks, section, 0..3, any::<u32>())
        .prop_map(|(rank, (array, region), verb, seed)| {
            let values = || (0..region.cells()).map(|offset| (u64::from(seed) << 16) + offset).collect::<Vec<_>>();
            let verb = match verb {
                0 => Verb::Get,
                1 => Verb::Put(values()),
                _ => Verb::Accumulate(values()),
            };
            Request { rank, array, region, verb }
        })
        .boxed()
}

fn case() -> impl Strategy<Value = Case> {
    let arrays = random::ranks().prop_flat_map(|ranks| prop::collection::vec(random::array(ranks), 1..3));
    arrays.prop_flat_map(|arrays| {
        let requests = prop::collection::vec(request(&arrays), 0..12);
        requests.prop_map(move |requests| Case { arrays: arrays.clone(), requests })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn epoch_runs_in_the_order_of_rank_and_sequence(case in case()) {
        let number = |(at, array)| random::memory(array, at as u64);
        let mut memories: Vec<_> = case.arrays.iter().enumerate().map(number).collect();
        let cells = |(array, memory): (_, &Memory<u64>)| Cells::of(memory, array);
        let before: Vec<_> = case.arrays.iter().zip(&memories).map(cells).collect();
        let mut expected: Vec<_> = case.arrays.iter().map(|array| &**array.chunks()).zip(before).collect();
        let expected_read = truth::fence(&case.requests, &mut expected, &merge_in_order);
        let operands: Vec<_> =
            case.arrays.iter().enumerate().map(|(memory, placement)| Operand { placement, memory }).collect();
        let read = fence(&case.requests, &operands, &mut memories, &merge_in_order).unwrap();
        prop_assert_eq!(read, expected_read);
        for ((array, memory), (_, expected)) in case.arrays.iter().zip(&memories).zip(&expected) {
            prop_assert_eq!(&Cells::of(memory, array), expected);
        }
    }

    #[test]
    fn parts_are_disjoint_and_complete(
        (array, region) in random::ranks().prop_flat_map(random::array).prop_flat_map(|array| {
            let region = random::region(array.chunks().shape().to_vec());
            (Just(array), region)
        })
    ) {
        let parts = split(&array, &region).unwrap();
        prop_assert!(parts.is_sorted_by_key(|part| (part.owner.rank, part.chunk)));
        let mut seen = std::collections::BTreeSet::new();
        for part in &parts {
            prop_assert_eq!(part.within.translate(&region.start), part.region);
            for cell in part.region.points() {
                prop_assert!(seen.insert(cell));
                prop_assert_eq!(array.chunks().chunk_at(&cell), Some(part.chunk));
                prop_assert_eq!(array.holder(&cell), Some(part.owner));
            }
        }
        prop_assert_eq!(seen.into_iter().collect::<Vec<_>>().len() as u64, region.cells());
    }
}

fn halves() -> Placement {
    let layout = Layout::new([6]).split([Split::Even(2)]);
    Placement::balanced(layout.resolve(2, 4, u64::MAX).unwrap(), 2)
}

fn at(start: i64, end: i64) -> Region {
    Region::new(&[start], &[end]).unwrap()
}

#[test]
fn later_operations_read_results_of_earlier_operations() {
    let array = halves();
    let mut memory = [Memory::new(&array, |_, cell| cell[0])];
    let operand = [Operand { placement: &array, memory: 0 }];
    let request_of = |rank, region, verb| Request { rank, array: 0, region, verb };
    // Rank 0 runs first, independent of the order of the list.
    let requests = [
        request_of(1, at(2, 4), Verb::Get),
        request_of(1, at(3, 4), Verb::Accumulate(vec![100])),
        request_of(0, at(2, 5), Verb::Put(vec![20, 30, 40])),
        request_of(1, at(3, 5), Verb::Get),
        request_of(0, at(0, 6), Verb::Get),
        request_of(1, at(5, 5), Verb::Get),
    ];
    let read = fence(&requests, &operand, &mut memory, &|arriving, cell| arriving + cell).unwrap();
    let expected: [&[i64]; 6] = [&[20, 30], &[], &[], &[130, 40], &[0, 1, 20, 30, 40, 5], &[]];
    assert_eq!(read, expected);
    assert_eq!([memory[0].chunk(&array, 0), memory[0].chunk(&array, 1)].concat(), [0, 1, 20, 130, 40, 5]);
}

#[test]
fn operations_on_two_handles_of_one_memory_are_ordered() {
    let array = halves();
    let swapped = array.reassigned(&[1, 0]).unwrap();
    let mut memory = [Memory::new(&array, |_, cell| cell[0])];
    let operands = [&array, &swapped].map(|placement| Operand { placement, memory: 0 });
    let request_of = |array, region, verb| Request { rank: 0, array, region, verb };
    let requests = [
        request_of(0, at(0, 3), Verb::Put(vec![10, 11, 12])),
        request_of(1, at(3, 6), Verb::Get),
        request_of(1, at(4, 5), Verb::Accumulate(vec![1000])),
        request_of(0, at(0, 3), Verb::Get),
    ];
    let read = fence(&requests, &operands, &mut memory, &|arriving, cell| arriving + cell).unwrap();
    assert_eq!(read[1], [10, 11, 12]);
    assert_eq!(read[3], [10, 1011, 12]);
}

#[test]
fn sections_outside_are_errors() {
    let array = halves();
    let request = Request { rank: 0, array: 0, region: at(4, 7), verb: Verb::Get };
    let operand = [Operand { placement: &array, memory: 0 }];
    let error = fence(&[request], &operand, &mut [Memory::new(&array, |_, _| 0)], &|new, _| *new).unwrap_err();
    assert!(error.to_string().starts_with("the section: region [4..7] leaves the array"), "{error}");
}
