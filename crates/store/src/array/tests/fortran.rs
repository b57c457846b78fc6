//! Files in Fortran order contain the same arrays as files in C order: an index of NumPy names the
//! same cell.

use super::*;

/// Writes a NumPy file in C or Fortran order. `sizes` are NumPy's, with the components of a vector
/// as the last axis; `number` returns the bytes of an element at an index of NumPy.
fn write(path: &Path, (descr, is_fortran): (&str, bool), sizes: &[usize], number: &dyn Fn(&[usize]) -> Vec<u8>) {
    let cells: usize = sizes.iter().product();
    let order = if is_fortran { "True" } else { "False" };
    let shape = sizes.iter().map(|size| format!("{size},")).collect::<String>();
    let mut bytes = Vec::new();
    for place in 0..cells {
        let mut rest = place;
        let mut index = vec![0; sizes.len()];
        let fastest_first: Vec<usize> =
            if is_fortran { (0..sizes.len()).collect() } else { (0..sizes.len()).rev().collect() };
        for axis in fastest_first {
            index[axis] = rest % sizes[axis];
            rest /= sizes[axis];
        }
        bytes.extend(number(&index));
    }
    npy(path, &format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': ({shape})}}\n"), &bytes);
}

/// Loads whole arrays, sections and every n-th cell from files in both orders, cut and in small
/// blocks, and compares them with `expected`, a function of the index in the array.
fn load_both<T: Element + PartialEq + std::fmt::Debug, const D: usize>(
    (descr, shape): (&str, [i64; D]),
    last: Option<usize>,
    number: impl Fn(&[usize]) -> Vec<u8> + Sync,
    expected: impl Fn([i64; D]) -> T + Sync,
) {
    let directory = directory();
    let sizes: Vec<usize> = shape.iter().rev().map(|&size| size as usize).chain(last).collect();
    for is_fortran in [false, true] {
        let path = directory.path().join(format!("{is_fortran}.npy"));
        write(&path, (descr, is_fortran), &sizes, &number);
        for ranks in [1, 3, 5] {
            let program = |world: &World| {
                let section = shape.map(|size| size / 4..size - size / 5);
                let step: [i64; D] = std::array::from_fn(|axis| [2, 1, 3][axis % 3]);
                let none = shape.map(|size| size / 2..size / 2);
                let all = [
                    (LoadOptions::new(), [0; D], [1; D]),
                    (LoadOptions::new().section(section.clone()), section.clone().map(|range| range.start), [1; D]),
                    (LoadOptions::new().step(step), [0; D], step),
                    (
                        LoadOptions::new().section(section.clone()).step(step),
                        section.clone().map(|range| range.start),
                        step,
                    ),
                    (LoadOptions::new().section(none), [0; D], [1; D]),
                ];
                for (number, (options, start, step)) in all.into_iter().enumerate() {
                    let split = [Split::Auto, Split::Even(2), Split::Whole][(number + ranks) % 3].clone();
                    let cut = |shape: [i64; D]| Layout::new(shape).split_all(split.clone()).ghost([1; D]);
                    let block_bytes = [1 << 20, 64, 7 * T::INFO.bytes as u64][number % 3];
                    let array =
                        load_in_blocks::<T, D>(world, &path, "array", &options, to_layout(cut), block_bytes)?.array;
                    for chunk in array.chunks() {
                        let points = chunk.region().points();
                        let value = |at: zippy::extents::Index| {
                            expected(std::array::from_fn(|axis| start[axis] + at[axis] * step[axis]))
                        };
                        assert_eq!(
                            chunk.all().read()?,
                            points.map(value).collect::<Vec<_>>(),
                            "{is_fortran} {options:?}"
                        );
                    }
                }
                Ok(())
            };
            run_with(Config::threads(ranks), program).unwrap();
        }
    }
}

/// A number that encodes an index of NumPy.
fn at(index: &[usize]) -> usize {
    index.iter().fold(1, |number, at| 13 * number + at)
}

#[test]
fn numbers_in_fortran_order_are_those_in_c_order() {
    let number = |index: &[usize]| (at(index) as f32).to_le_bytes().to_vec();
    load_both(("'<f4'", [7, 5, 6]), None, number, |[x, y, z]| at(&[z, y, x].map(|at| at as usize)) as f32);
    load_both(("'<f4'", [11, 9]), None, number, |[x, y]| at(&[y, x].map(|at| at as usize)) as f32);
    load_both(("'<f4'", [10]), None, number, |[x]| at(&[x as usize]) as f32);
    let swapped = |index: &[usize]| (at(index) as u16).to_be_bytes().to_vec();
    load_both(("'>u2'", [5, 37]), None, swapped, |[x, y]| at(&[y as usize, x as usize]) as u16);
    let small = |index: &[usize]| vec![at(index) as u8];
    load_both(("'|b1'", [33, 3, 2]), None, small, |[x, y, z]| at(&[z, y, x].map(|at| at as usize)) as u8);
    let seven = |index: &[usize]| (at(index) as i64).to_le_bytes().to_vec();
    let index = |at: [i64; 7]| at.map(|at| at as usize);
    load_both(("'<i8'", [3, 2, 1, 2, 3, 1, 2]), None, seven, |mut place| {
        place.reverse();
        at(&index(place)) as i64
    });
}

#[test]
fn vectors_in_fortran_order_are_those_in_c_order() {
    let number = |index: &[usize]| (at(index) as f32).to_le_bytes().to_vec();
    load_both(("'<f4'", [6, 5, 7]), Some(4), number, |[x, y, z]| {
        [0, 1, 2, 3].map(|part| at(&[z as usize, y as usize, x as usize, part]) as f32)
    });
    let swapped = |index: &[usize]| (at(index) as u32).to_be_bytes().to_vec();
    load_both(("'>u4'", [9]), Some(2), swapped, |[x]| [0, 1].map(|part| at(&[x as usize, part]) as u32));
}

#[test]
fn records_in_fortran_order_are_those_in_c_order() {
    let descr = "[('velocity', '<f4', (2,)), ('mass', '<f4'), ('id', '<u4')]";
    let particle = |x: usize, y: usize| Particle {
        velocity: [at(&[y, x]) as f32, x as f32],
        mass: y as f32,
        id: at(&[y, x]) as u32 + 5,
    };
    let bytes = |index: &[usize]| bytemuck::bytes_of(&particle(index[1], index[0])).to_vec();
    load_both((descr, [6, 5]), None, bytes, |[x, y]| particle(x as usize, y as usize));
}

/// Two files that are equal for `numpy.array_equal`: `numpy.arange(9, dtype="f4").reshape(3, 3)`
/// and a copy in Fortran order.
#[test]
fn equal_files_are_equal_arrays() {
    let directory = directory();
    let path = |name: &str| directory.path().join(name);
    let bytes = |numbers: [u8; 9]| numbers.map(|number| f32::from(number).to_le_bytes()).concat();
    npy(
        &path("c.npy"),
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }\n",
        &bytes([0, 1, 2, 3, 4, 5, 6, 7, 8]),
    );
    npy(
        &path("f.npy"),
        "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 3), }\n",
        &bytes([0, 3, 6, 1, 4, 7, 2, 5, 8]),
    );
    run_with(Config::threads(2), |world| {
        for name in ["c.npy", "f.npy"] {
            let array = load::<f32, 2>(world, path(name), "array", |shape| Layout::new(shape).split_all(Split::Auto))?;
            for chunk in array.chunks() {
                let expected: Vec<f32> = chunk.region().points().map(|at| (at[0] + 3 * at[1]) as f32).collect();
                assert_eq!(chunk.all().read()?, expected, "{name}");
            }
        }
        Ok(())
    })
    .unwrap();
    let described = |name: &str| super::super::describe(path(name)).unwrap().arrays;
    npy(&path("wide.npy"), "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 5), }\n", &[0; 40]);
    assert_eq!(described("wide.npy")[0].shape, [5, 2]);
}
