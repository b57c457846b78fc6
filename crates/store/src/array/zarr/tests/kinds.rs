//! Every kind of cell, and every kind of chunk.

use super::*;

#[test]
fn floats_in_three_axes_survive() {
    let shape = [7, 5, 6];
    let uneven = [Split::Sizes(vec![1, 6]), Split::Sizes(vec![0, 5]), Split::Sizes(vec![4, 1, 1])];
    let cuts =
        [whole(shape).ghost([2; 3]), Layout::new(shape).split(uneven), Layout::new(shape).split_all(Split::Even(2))];
    // One block of zeros, which is not written.
    let value = |at: [i64; 3]| if at[0] < 3 && at[2] < 4 { 0.0 } else { number(&at) as f32 - 0.5 };
    round_trip(shape, &cuts, &options([3, 2, 4], [6, 2, 4]), &[("array", 0..4)], value);
    // Chunks larger than the array.
    round_trip(shape, &cuts[..1], &options([9, 5, 2], [9, 10, 8])[2..], &[("array", 0..4)], value);
}

#[test]
fn small_numbers_survive() {
    let cuts = [Layout::new([13, 9]).split([Split::Sizes(vec![5, 7, 1]), Split::Even(2)])];
    round_trip([13, 9], &cuts, &options([5, 4], [10, 4]), &[("array", 0..1)], |at| (number(&at) % 251) as u8);
    round_trip([37], &[whole([37])], &options([10], [20]), &[("array", 0..2)], |[x]| (x - 20) as i16);
}

#[test]
fn vectors_survive() {
    let value = |at: [i64; 3]| [number(&at) as u32, u32::MAX];
    round_trip([4, 3, 2], &[whole([4, 3, 2])], &options([3, 2, 1], [3, 4, 1]), &[("array", 0..8)], value);
}

#[test]
fn records_are_stored_by_field() {
    let value = |[i]: [i64; 1]| {
        let pair = Pair { velocity: [i as f32, -1.5], id: 7 * i as u32, spare: 0 };
        Particle { place: [1.0, i as f32, 0.5], mass: 0.25 * i as f32, pair }
    };
    let fields =
        [("place", 0..12), ("mass", 12..16), ("pair/velocity", 16..24), ("pair/id", 24..28), ("pair/spare", 28..32)];
    let fields = fields.map(|(name, bytes)| (format!("array/{name}"), bytes));
    let fields: Vec<_> = fields.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let cuts = [Layout::new([29]).split([Split::Sizes(vec![20, 0, 9])]), whole([29])];
    round_trip([29], &cuts, &options([8], [16]), &fields, value);
}

#[test]
fn arrays_of_seven_axes_survive() {
    let shape = [3, 2, 1, 2, 3, 1, 2];
    let options = options([2, 2, 1, 1, 3, 1, 1], [2, 2, 2, 1, 3, 1, 2]);
    round_trip(shape, &[whole(shape)], &options[2..4], &[("array", 0..4)], |at| number(&at) as i32);
}

#[test]
fn chunks_of_zeros_are_written_by_request() {
    let directory = tempfile::tempdir().unwrap();
    for (number, options) in options([4, 2], [8, 4]).into_iter().enumerate() {
        for write_empty in [false, true] {
            let path = directory.path().join(format!("{number}-{write_empty}.zarr"));
            let options = ZarrOptions { write_empty, ..options.clone() };
            let value = |[x, y]: [i64; 2]| if x >= 8 && y >= 2 { -0.0 } else { 0.0 };
            run_with(Config::threads(2), |world| {
                let array = world.array::<f32, 2>("array", &whole([11, 4]))?;
                array.fill_with(value)?;
                save(world, &path, &array.at(..), &Metadata::default(), &options)?;
                assert_loaded_cells(world, &path, None, [11, 4], &value).map(|_| ())
            })
            .unwrap();
            let files = files(&path);
            let (count, is_shard) = (files.keys().filter(|name| name.contains("/c/")).count(), options.shard.is_some());
            assert_eq!(
                count,
                if !write_empty {
                    1
                } else if is_shard {
                    2
                } else {
                    6
                }
            );
            // -0.0 is no zero. In a shard, chunks of zeros are always omitted.
            let count = chunks::<2>(&files, "array", &options).len();
            assert_eq!(count, if !write_empty || is_shard { 1 } else { 6 });
        }
    }
}

#[test]
fn numbers_have_the_names_of_their_types() {
    use crate::array::zarr::fields::leaves;
    fn of<T: Element>() -> (&'static str, usize, Option<usize>) {
        let leaves = leaves(&T::INFO);
        assert_eq!((leaves.len(), leaves[0].bytes()), (1, size_of::<T>()));
        (leaves[0].kind, leaves[0].number_bytes, leaves[0].numbers)
    }
    assert_eq!([of::<u8>(), of::<i8>()], [("uint8", 1, None), ("int8", 1, None)]);
    assert_eq!([of::<u16>(), of::<i16>()], [("uint16", 2, None), ("int16", 2, None)]);
    assert_eq!(
        [of::<u32>(), of::<i32>(), of::<f32>()],
        [("uint32", 4, None), ("int32", 4, None), ("float32", 4, None)]
    );
    assert_eq!(
        [of::<u64>(), of::<i64>(), of::<f64>()],
        [("uint64", 8, None), ("int64", 8, None), ("float64", 8, None)]
    );
    assert_eq!([of::<[i32; 4]>(), of::<[f32; 2]>()], [("int32", 4, Some(4)), ("float32", 4, Some(2))]);
}
