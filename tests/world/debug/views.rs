//! Views: cells of arrays as the program has written them.

use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, TestRunner};
use zippy::debug::Settings;
use zippy::region::Region;
use zippy::{Element, Layout, Result, Split, World};
use zippy_protocol::{
    Answer, ArrayEntry, ArrayKind, ArrayRef, Control, MOST_VIEW_BYTES, Request, ScalarType, View, ViewRequest,
};

use super::client::{Client, watched};

const SHAPE: [i64; 3] = [7, 5, 9];

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Particle {
    position: [f32; 3],
    id: u32,
}

fn position_code(at: [i64; 3]) -> i64 {
    at[0] + 10 * at[1] + 100 * at[2]
}

/// Program with arrays whose cells encode their position. Half of the ghost cells of one array are
/// filled.
fn program(world: &World) -> Result<()> {
    let n = world.size();
    let layout = Layout::new(SHAPE).split([Split::Whole, Split::Even(2), Split::Even(n)]);
    let a = world.array::<f32, 3>("a", &layout)?;
    a.fill_with(|at| position_code(at) as f32)?;
    let bytes = world.array::<u8, 3>("bytes", &layout)?;
    bytes.fill_with(|at| position_code(at) as u8)?;
    let particles = world.array::<Particle, 3>("particles", &layout)?;
    particles.fill_with(|at| Particle { position: at.map(|x| x as f32), id: position_code(at) as u32 })?;
    let line = world.array::<i32, 1>("line", &Layout::new([12]).split([Split::Even(3)]).ghost([2]).periodic([true]))?;
    line.fill_with(|[x]| x as i32)?;
    world.ghosts(&line)?;
    let own = world.local_array::<[u32; 2], 1>("own", &Layout::new([4 + world.rank() as i64]))?;
    let cells: Vec<_> = (0..own.shape()[0]).map(|x| [x as u32, world.rank() as u32]).collect();
    own.all().write(&cells)?;
    let empty = world.array::<f32, 2>("empty", &Layout::new([0, 3]))?;
    let cuts = vec![Region::new(&[0, 0], &[2, 1])?, Region::new(&[0, 1], &[2, 2])?];
    let _boxes = world.array::<u8, 2>("boxes", &Layout::new([2, 2]).boxes(cuts))?;
    let _hollow: Vec<_> = (0..2)
        .map(|number| world.local_array::<f32, 1>(&format!("hollow {number}"), &Layout::new([0])))
        .collect::<Result<_>>()?;
    let mut list = world.growable::<u32>("list")?;
    list.append(&[7; 3])?;
    world.debug_point("made")?;
    list.append(&[8; 1000])?;
    drop(empty);
    world.debug_point("less")
}

fn request(array: ArrayRef, start: &[i64], end: &[i64], stride: &[i64]) -> ViewRequest {
    ViewRequest { array, chunk: None, start: start.to_vec(), end: end.to_vec(), stride: stride.to_vec(), numbers: None }
}

fn request_view(viewer: &mut Client, of: ViewRequest) -> std::result::Result<View, String> {
    match viewer.ask(Request::View(of.clone()))? {
        Answer::View(view) => {
            assert_eq!((&view.of, view.step), (&of, 1));
            Ok(view)
        }
        other => panic!("{other:?}"),
    }
}

/// Positions of the cells of a request, axis 0 fastest.
fn positions_of(of: &ViewRequest) -> Vec<[i64; 3]> {
    let along = |axis: usize| (of.start[axis]..of.end[axis]).step_by(of.stride[axis] as usize);
    let mut all = Vec::new();
    for z in along(2) {
        for y in along(1) {
            all.extend(along(0).map(|x| [x, y, z]));
        }
    }
    all
}

fn random_view_requests(array: ArrayRef) -> impl Strategy<Value = ViewRequest> {
    let along = |extent: i64| (0..=extent, 0..=extent, 1..=extent + 2);
    (along(SHAPE[0]), along(SHAPE[1]), along(SHAPE[2])).prop_map(move |(x, y, z)| {
        let ends = [x, y, z].map(|(one, other, stride)| (one.min(other), one.max(other), stride));
        request(array, &ends.map(|end| end.0), &ends.map(|end| end.1), &ends.map(|end| end.2))
    })
}

#[test]
fn view_of_random_box_and_stride_has_its_cells() {
    watched(&[1, 2, 3, 5], &Settings::listen(0).paused(), program, |access| {
        let mut viewer = Client::connect(access).unwrap();
        let [a, bytes, particles] = ["a", "bytes", "particles"].map(|name| viewer.array(name).array);
        let mut runner = TestRunner::new(Cases { cases: 60, ..Cases::default() });
        let viewer = std::cell::RefCell::new(viewer);
        runner
            .run(&random_view_requests(a), |of| {
                let viewer = &mut *viewer.borrow_mut();
                let requested = positions_of(&of);
                let found = request_view(viewer, of.clone()).unwrap();
                let expected: Vec<u8> =
                    requested.iter().flat_map(|&at| (position_code(at) as f32).to_le_bytes()).collect();
                prop_assert_eq!(found.cells, expected);
                let found = request_view(viewer, ViewRequest { array: bytes, ..of.clone() }).unwrap();
                let expected: Vec<u8> = requested.iter().map(|&at| position_code(at) as u8).collect();
                prop_assert_eq!(found.cells, expected);
                let positions = ViewRequest { array: particles, numbers: Some(0), ..of.clone() };
                let found = request_view(viewer, positions).unwrap();
                let expected: Vec<u8> = requested.iter().flatten().flat_map(|&x| (x as f32).to_le_bytes()).collect();
                prop_assert_eq!(found.cells, expected);
                let found = request_view(viewer, ViewRequest { array: particles, numbers: Some(1), ..of }).unwrap();
                let expected: Vec<u8> =
                    requested.iter().flat_map(|&at| (position_code(at) as u32).to_le_bytes()).collect();
                prop_assert_eq!(found.cells, expected);
                Ok(())
            })
            .unwrap();
        viewer.into_inner().run_out();
    });
}

#[test]
fn view_of_chunk_has_its_ghost_cells() {
    watched(&[1, 2], &Settings::listen(0).paused(), program, |access| {
        let mut viewer = Client::connect(access).unwrap();
        let line = viewer.array("line");
        assert_eq!((line.ghosts.clone(), line.periodic.clone()), ([vec![2], vec![2]], vec![true]));
        for (chunk, of) in line.chunks.iter().enumerate() {
            let (start, end) = (of.start[0] - 2, of.end[0] + 2);
            let of = ViewRequest { chunk: Some(chunk as u64), ..request(line.array, &[start], &[end], &[1]) };
            let found: Vec<i32> = bytemuck::pod_collect_to_vec(&request_view(&mut viewer, of).unwrap().cells);
            let expected: Vec<i32> = (start..end).map(|x| x.rem_euclid(12) as i32).collect();
            assert_eq!(found, expected);
        }
        let wrong = ViewRequest { chunk: Some(3), ..request(line.array, &[0], &[1], &[1]) };
        assert!(request_view(&mut viewer, wrong).unwrap_err().contains("3 chunks and no chunk 3"));
        viewer.run_out();
    });
}

#[test]
fn array_list_has_all_arrays_of_all_ranks() {
    watched(&[1, 3], &Settings::listen(0).paused(), program, |access| {
        let mut viewer = Client::connect(access).unwrap();
        let ranks = viewer.program.ranks;
        let particles = viewer.array("particles");
        let numbers: Vec<_> = particles.element.numbers.iter().map(|of| (&*of.name, of.offset, of.scalar)).collect();
        assert_eq!(numbers, [("position", 0, ScalarType::F32), ("id", 12, ScalarType::U32)]);
        assert_eq!((particles.kind, particles.element.bytes, &*particles.shape), (ArrayKind::Global, 16, &SHAPE[..]));
        assert_eq!(particles.chunk_count, u64::from(2 * ranks));
        assert_eq!(particles.grid, Some(vec![1, 2, ranks.into()]));
        assert_eq!(viewer.array("line").split(), "3 chunks");
        assert_eq!((viewer.array("boxes").grid, viewer.array("boxes").split()), (None, "2 boxes".to_string()));
        let hollow = [0, 1].map(|number| viewer.array(&format!("hollow {number}")).array);
        assert_ne!(hollow[0], hollow[1]);
        let list = viewer.array("list");
        let cells: i64 = particles.chunks.iter().map(|chunk| volume(&chunk.start, &chunk.end)).sum();
        assert_eq!(cells, 7 * 5 * 9);
        let write = particles.last_write.clone().unwrap();
        assert!(write.file.ends_with("views.rs") && write.line > 20 && write.step == 0, "{write:?}");
        assert!(particles.bytes >= 7 * 5 * 9 * 16 && particles.writes == 1);
        let own: Vec<ArrayEntry> = viewer.arrays().into_iter().filter(|array| array.name == "own").collect();
        assert_eq!(own.len(), ranks as usize);
        for (rank, array) in own.iter().enumerate() {
            assert_eq!(
                (array.kind, array.array.rank, &*array.shape),
                (ArrayKind::Local, Some(rank as u32), &[4 + rank as i64][..])
            );
            assert_eq!(array.chunks[0].rank, rank as u32);
            let of = request(array.array, &[1], &[4], &[2]);
            let found: Vec<[u32; 2]> = bytemuck::pod_collect_to_vec(&request_view(&mut viewer, of).unwrap().cells);
            assert_eq!(found, [[1, rank as u32], [3, rank as u32]]);
            let of = ViewRequest { numbers: Some(0), ..request(array.array, &[2], &[4], &[1]) };
            let found: Vec<[u32; 2]> = bytemuck::pod_collect_to_vec(&request_view(&mut viewer, of).unwrap().cells);
            assert_eq!(found, [[2, rank as u32], [3, rank as u32]]);
        }
        let empty = viewer.array("empty");
        assert_eq!((&*empty.shape, empty.bytes), (&[0, 3][..], 0));
        assert_eq!(
            request_view(&mut viewer, request(empty.array, &[0, 0], &[0, 3], &[1, 1])).unwrap().cells,
            [0_u8; 0]
        );
        assert_eq!(viewer.go(Control::Step(1)).name, "less");
        assert!(!viewer.arrays().iter().any(|array| array.name == "empty"));
        let longer = viewer.array("list");
        assert_eq!((list.array, &*list.shape, &*longer.shape), (longer.array, &[3][..], &[1003][..]));
        let of = request(longer.array, &[2], &[1003], &[1000]);
        let Ok(Answer::View(view)) = viewer.ask(Request::View(of)) else { panic!("no view") };
        assert_eq!(view.cells, [7, 0, 0, 0, 8, 0, 0, 0]);
        let gone = viewer.ask(Request::View(request(empty.array, &[0, 0], &[0, 3], &[1, 1])));
        assert!(gone.as_ref().is_err_and(|text| text.contains("no such array")), "{gone:?}");
        viewer.run_out();
    });
}

fn volume(start: &[i64], end: &[i64]) -> i64 {
    start.iter().zip(end).map(|(start, end)| end - start).product()
}

#[test]
fn invalid_view_request_returns_error() {
    watched(&[2], &Settings::listen(0).paused(), program, |access| {
        let mut viewer = Client::connect(access).unwrap();
        let array = viewer.array("a").array;
        let whole = |stride: &[i64]| request(array, &[0; 3], &SHAPE, stride);
        let of = |array: ArrayRef| ViewRequest { array, ..whole(&[1; 3]) };
        let far = i64::MAX;
        let wrong = [
            (whole(&[1, 1]), "axes"),
            (whole(&[1, 0, 1]), "strides below 1"),
            (request(array, &[0; 3], &[7, 5, 10], &[1; 3]), "array \"a\""),
            (request(array, &[-1, 0, 0], &SHAPE, &[1; 3]), "array \"a\""),
            (request(array, &[2, 0, 0], &[1, 5, 9], &[1; 3]), "2"),
            (request(array, &[i64::MIN, 0, 0], &[far, 5, 9], &[1; 3]), ""),
            (request(array, &[], &[], &[]), "axes"),
            (ViewRequest { numbers: Some(1), ..whole(&[1; 3]) }, "1 numbers"),
            (of(ArrayRef { rank: None, number: 1 << 40 }), "no such array"),
            (of(ArrayRef { rank: Some(1), number: 1 << 40 }), "no such array"),
            (of(ArrayRef { rank: Some(99), number: 1 }), "no such rank"),
        ];
        // One cell along an axis, with any stride.
        let one = request_view(&mut viewer, request(array, &[0; 3], &SHAPE, &[1, far, far])).unwrap();
        assert_eq!(one.cells.len(), 7 * 4);
        for (of, expected_text) in wrong {
            let error = request_view(&mut viewer, of.clone()).unwrap_err();
            assert!(error.contains(expected_text), "{of:?}: {error}");
        }
        let large = request(array, &[0; 3], &[1 << 20, 1 << 20, 1], &[1; 3]);
        assert!(large.bytes(4).is_some_and(|bytes| bytes > MOST_VIEW_BYTES));
        let fitting = large.clone().fitting(4, MOST_VIEW_BYTES);
        assert!(fitting.bytes(4).is_some_and(|bytes| bytes <= MOST_VIEW_BYTES && bytes > MOST_VIEW_BYTES / 4));
        viewer.run_out();
    });
}
