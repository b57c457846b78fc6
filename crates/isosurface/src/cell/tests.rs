use std::collections::{BTreeMap, BTreeSet};

use zippy_testing::random::XorShift;

use super::contours::contours;
use super::groups::Groups;
use super::*;

/// Euler characteristic of {trilinear interpolant >= 0} in a cell, by Hadwiger's sweep.
fn solid_chi(v: &[f64; 8]) -> i32 {
    let low = [v[0], v[1], v[3], v[2]];
    let high = [v[4], v[5], v[7], v[6]];
    let d: [f64; 4] = std::array::from_fn(|i| high[i] - low[i]);
    let mut points = vec![(0.0, None), (1.0, None)];
    for i in 0..4 {
        if (low[i] < 0.0) != (high[i] < 0.0) {
            points.push((low[i] / (low[i] - high[i]), Some(i)));
        }
    }
    let (a, b, c) = (
        d[0] * d[2] - d[1] * d[3],
        low[0] * d[2] + d[0] * low[2] - low[1] * d[3] - d[1] * low[3],
        low[0] * low[2] - low[1] * low[3],
    );
    let square = b * b - 4.0 * a * c;
    if a != 0.0 && square > 0.0 {
        let r = square.sqrt();
        let q = -0.5 * (b + if b >= 0.0 { r } else { -r });
        let mut roots = vec![q / a];
        if q != 0.0 {
            roots.push(c / q);
        }
        points.extend(roots.into_iter().filter(|t| 0.0 < *t && *t < 1.0).map(|t| (t, Some(4))));
    } else if a == 0.0 && b != 0.0 && 0.0 < -c / b && -c / b < 1.0 {
        points.push((-c / b, Some(4)));
    }
    points.sort_by(|x, y| x.0.total_cmp(&y.0));
    let slice = |v: [f64; 4], zero: bool| {
        let inside = v.map(|x| x >= 0.0);
        let count = inside.iter().filter(|x| **x).count();
        let det = v[0] * v[2] - v[1] * v[3];
        match count {
            0 => 0,
            2 if inside[0] == inside[2] && !zero => 1 + i32::from(if inside[0] { det < 0.0 } else { det > 0.0 }),
            _ => 1,
        }
    };
    let at = |t: f64| std::array::from_fn(|i| low[i] + t * d[i]);
    let mut total = 0;
    for (n, (t, what)) in points.iter().enumerate() {
        let mut values = match (*t, what) {
            (0.0, None) => low,
            (1.0, None) => high,
            _ => at(*t),
        };
        if let Some(edge @ 0..4) = *what {
            values[edge] = 0.0;
        }
        total += slice(values, *what == Some(4));
        if let Some((next, _)) = points.get(n + 1) {
            total -= slice(at(0.5 * (t + next)), false);
        }
    }
    total
}

fn values(random: &mut XorShift) -> [f64; 8] {
    let mut next = || (random.next_u64() >> 40) as f64 / (1 << 24) as f64;
    let kind = next();
    let shift = if kind > 0.7 { 0.3 * next() } else { 0.0 };
    std::array::from_fn(|_| {
        let value = next() - 0.5 + shift;
        if kind < 0.3 { value * value * value * 8.0 } else { value }
    })
}

fn case_of(values: &[f64; 8]) -> u8 {
    (0..8).fold(0, |case, corner| case | u8::from(values[corner] >= 0.0) << corner)
}

/// The surface in a cell has as many handles as the solid inside it.
#[test]
fn random_cells_have_the_topology_of_their_solid() {
    let mut random = XorShift::new(0x1234_5678_9abc_def1);
    let mut bridges = BTreeMap::new();
    for _ in 0..300_000 {
        let v = values(&mut random);
        let case = case_of(&v);
        if case == 0 || case == 255 {
            continue;
        }
        let on = joined(case, &v);
        let (surface, inside, all) = (Groups::on_faces(case, on), connected(&v), contours(case, on));
        // chi(surface) = 2 chi(solid) - chi(solid on the faces); a region of a sphere has one hole
        // less than borders.
        let groups = |sign: bool, groups: &Groups| groups.names(case, sign).count() as i32;
        let on_faces = 2 * groups(true, &surface) - all.len() as i32;
        let expected = 2 * solid_chi(&v) - on_faces;
        let shape = table().numbered(table().shape(case, &v));
        assert_eq!(chi(shape), expected, "{v:?}");
        let joins = [true, false].map(|sign| groups(sign, &surface) - groups(sign, &inside));
        assert_eq!(expected, all.len() as i32 - 2 * (joins[0] + joins[1]), "{v:?}");
        if joins != [0, 0] {
            let mut lengths: Vec<usize> = all.iter().map(Vec::len).collect();
            lengths.sort_unstable();
            *bridges.entry(lengths).or_insert(0) += 1;
        }
    }
    // All possible tunnels (Chernyaev's cases 4, 6, 7, 10, 12 and 13).
    let kinds: [&[usize]; 6] = [&[3, 3], &[3, 3, 6], &[3, 4], &[3, 5], &[3, 6], &[4, 4]];
    assert!(bridges.keys().eq(kinds), "{bridges:?}");
}

fn chi(shape: &Shape) -> i32 {
    let vertices: BTreeSet<u8> = shape.triangles.iter().flatten().copied().collect();
    let edges = shape.triangles.iter().flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]);
    let edges: BTreeSet<[u8; 2]> = edges.map(|[a, b]| [a.min(b), a.max(b)]).collect();
    vertices.len() as i32 - edges.len() as i32 + shape.triangles.len() as i32
}

/// Two discs in a cell of a scan; a floating-point sweep that counts events finds a false tunnel.
#[test]
fn edges_crossed_in_one_plane() {
    let cells = [
        [38, 36, 38, 35, 35, 38, 35, 38],
        [37, 36, 38, 36, 37, 38, 37, 38],
        [38, 36, 38, 35, 37, 38, 37, 37],
        [33, 39, 33, 40, 40, 33, 40, 35],
    ];
    for cell in cells {
        let v = cell.map(|sample| f64::from(sample) - 37.37);
        let plane = |t: f64| [0, 1, 2, 3].map(|i| v[i] + t * (v[i + 4] - v[i]));
        assert!((1..1000).any(|t| plane(f64::from(t) / 1000.0).iter().all(|value| *value < 0.0)));
        let case = case_of(&v);
        assert_eq!(
            (contours(case, joined(case, &v)).len(), chi(table().numbered(table().shape(case, &v)))),
            (2, 2),
            "{cell:?}"
        );
    }
}

/// The saddle in the common plane of two crossings is exactly zero in spite of rounding.
#[test]
fn neighbours_crossed_in_one_plane() {
    let v = [-12289.5, -8750.5, 4096.5, 6960.5, 22324.5, 24267.5, -7441.5, -14132.5];
    let groups = connected(&v);
    assert_ne!(groups.group_of(0), groups.group_of(6));
}

/// Integers with many ties, in all orientations of the cell.
#[test]
fn ties_give_mesh_of_isovalue_just_below() {
    let mut random = XorShift::new(0x9e37_79b9_7f4a_7c15);
    for _ in 0..200_000 {
        let v = values(&mut random).map(|value| (8.0 * value).round());
        let below = v.map(|value| value + 1e-7);
        let (case, on) = (case_of(&v), joined(case_of(&v), &v));
        assert_eq!((case, on), (case_of(&below), joined(case, &below)), "{v:?}");
        assert_eq!(table().shape(case, &v), table().shape(case, &below), "{v:?}");
        let turned = |corner: usize| corner >> 1 | (corner & 1) << 2;
        let (groups, others) = (connected(&v), connected(&std::array::from_fn(|corner| v[turned(corner)])));
        for (a, b) in (0..8).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let same = groups.group_of(turned(a) as u8) == groups.group_of(turned(b) as u8);
            assert_eq!(same, others.group_of(a as u8) == others.group_of(b as u8), "{v:?}");
        }
    }
}

/// A saddle that equals the isovalue joins the inside.
#[test]
fn a_saddle_that_is_the_isovalue() {
    // Halfway up the last axis, the saddle of the plane is -(4t - 3)^2 / 2.
    let touching = [0.5, -2.5, 2.5, -3.5, -0.5, 1.5, -0.5, 0.5];
    // 3 (3t - 1)^2, with the diagonal inside.
    let parting = [0.5, -1.5, 1.5, 1.5, -0.5, 2.5, -4.5, -1.5];
    for (v, contours_and_chi, moved) in [(touching, (2, 0), (-1e-9, 2)), (parting, (2, 2), (-1e-9, 0))] {
        let case = case_of(&v);
        assert_eq!(
            (contours(case, joined(case, &v)).len() as i32, chi(table().numbered(table().shape(case, &v)))),
            contours_and_chi
        );
        let below = v.map(|value| value + moved.0);
        assert_eq!(chi(table().numbered(table().shape(case, &below))), moved.1, "{v:?}");
    }
    // On a face.
    let flat = [1.0, -1.0, -1.0, 1.0, -1.0, -1.0, -1.0, -1.0];
    assert_eq!(joined(case_of(&flat), &flat), 1 << 4);
    assert_eq!(joined(case_of(&flat), &flat.map(|value| value - 1e-9)), 0);
}

/// Every directed edge occurs once, with its reverse except on contours; no inner edge lies in a
/// face.
#[test]
fn shapes_are_bounded_by_their_contours() {
    for case in 0..=255 {
        let faces = ambiguous(case);
        for joined in (0..64).filter(|joined| joined & !faces == 0) {
            let contours = contours(case, joined);
            let border: BTreeSet<(u8, u8)> = contours
                .iter()
                .flat_map(|contour| (0..contour.len()).map(|i| (contour[i], contour[(i + 1) % contour.len()])))
                .collect();
            for shape in table().shapes_of(case, joined) {
                let mut directed = BTreeSet::new();
                for t in &shape.triangles {
                    for i in 0..3 {
                        assert!(directed.insert((t[i], t[(i + 1) % 3])), "case {case} {joined}: {shape:?}");
                    }
                }
                let open: BTreeSet<(u8, u8)> =
                    directed.iter().copied().filter(|&(a, b)| !directed.contains(&(b, a))).collect();
                assert_eq!(open, border, "case {case} {joined}");
                for &(a, b) in directed.difference(&border) {
                    let own = a >= 12 || b >= 12 || border.contains(&(b, a)) || !share_a_face(a, b);
                    assert!(own, "case {case} {joined}: {a} {b} lies in a face, {shape:?}");
                }
            }
        }
    }
}
