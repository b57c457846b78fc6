//! Sample meshes whose numbers encode their positions, written by one rank or several, and
//! independent parsers.

use std::collections::BTreeMap;
use std::path::Path;

use zippy_files::SharedFile;
use zippy_io::mesh::{Before, Field, Format, Layout, Part, Text, Whole};

use super::common::volumes::Folder;

pub(crate) const FORMATS: [Format; 4] = [Format::Ply, Format::Stl, Format::Obj, Format::Vtp];

pub(crate) fn name(format: Format) -> &'static str {
    match format {
        Format::Ply => "a.ply",
        Format::Stl => "a.stl",
        Format::Obj => "a.obj",
        Format::Vtp => "a.vtp",
        Format::Vtu => "a.vtu",
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub positions: Vec<[f32; 3]>,
    pub normals: Option<Vec<[f32; 3]>>,
    pub fields: Vec<(String, Vec<f32>)>,
    pub triangles: Vec<[u64; 3]>,
}

impl Sample {
    pub(crate) fn new(vertices: usize, triangles: usize, normals: bool, fields: &[&str]) -> Self {
        let position = |i: usize| [i as f32, i as f32 + 0.25, -(i as f32) / 3.0];
        let normal = |i: usize| [(i as f32).sin(), 1.0e-20 * i as f32, -1.0e20];
        let corner = |t: usize| [7 * t + 1, 3 * t, t * t + 2].map(|vertex| (vertex % vertices) as u64);
        let field = |(number, name): (usize, &&str)| {
            (name.to_string(), (0..vertices).map(|i| (1000 * number + i) as f32 + 0.5).collect())
        };
        Self {
            positions: (0..vertices).map(position).collect(),
            normals: normals.then(|| (0..vertices).map(normal).collect()),
            fields: fields.iter().enumerate().map(field).collect(),
            triangles: (0..triangles).map(corner).collect(),
        }
    }

    pub(crate) fn corners(&self) -> Vec<[[f32; 3]; 3]> {
        self.triangles.iter().map(|triangle| triangle.map(|vertex| self.positions[vertex as usize])).collect()
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.fields.iter().map(|(name, _)| &**name).collect()
    }

    /// Calls `act` with a part: ranges of vertices and triangles as start and count.
    pub(crate) fn part<T>(&self, vertices: [usize; 2], triangles: [usize; 2], act: impl FnOnce(&Part<'_>) -> T) -> T {
        let (v, t) = (vertices[0]..vertices[1], triangles[0]..triangles[1]);
        let field = |(name, values): &'_ (String, Vec<f32>)| (name.clone(), values[v.clone()].to_vec());
        let fields: Vec<(String, Vec<f32>)> = self.fields.iter().map(field).collect();
        let fields: Vec<Field<'_>> = fields.iter().map(|(name, values)| Field { name, values }).collect();
        act(&Part {
            positions: &self.positions[v.clone()],
            normals: self.normals.as_ref().map(|normals| &normals[v.clone()]),
            fields: &fields,
            triangles: &self.triangles[t.clone()],
            corners: &self.corners()[t],
            ..Part::default()
        })
    }

    pub(crate) fn all<T>(&self, act: impl FnOnce(&Part<'_>) -> T) -> T {
        self.part([0, self.positions.len()], [0, self.triangles.len()], act)
    }

    /// Writes a file by several ranks in a random order from `seed`; `cuts` are the ends of the
    /// ranks' parts.
    pub(crate) fn by_ranks(
        &self,
        folder: &Folder,
        format: Format,
        vertices: &[usize],
        triangles: &[usize],
        seed: u64,
    ) -> Vec<u8> {
        let ends = |cuts: &[usize], rank: usize| [if rank == 0 { 0 } else { cuts[rank - 1] }, cuts[rank]];
        let ranks = vertices.len();
        let mut before = vec![Before::default()];
        for rank in 0..ranks {
            let (v, t) = (ends(vertices, rank), ends(triangles, rank));
            let own = match format {
                Format::Obj => self.part(v, t, |part| Text::of(part).unwrap()),
                _ => Text::default(),
            };
            let text = before[rank].text;
            before.push(Before {
                vertices: v[1] as u64,
                triangles: t[1] as u64,
                text: Text {
                    positions: text.positions + own.positions,
                    normals: text.normals + own.normals,
                    triangles: text.triangles + own.triangles,
                },
                ..Before::default()
            });
        }
        let Before { vertices: all, triangles: faces, text, cells } = before[ranks];
        let whole = Whole { vertices: all, triangles: faces, text, cells, doubles: false };
        let layout = Layout::of(format, &whole, self.normals.is_some(), &self.names()).unwrap();
        let path = folder.0.join(name(format));
        let _ = std::fs::remove_file(&path);
        let mut files = vec![SharedFile::create(&path, layout.length()).unwrap()];
        for _ in 1..ranks {
            files.push(SharedFile::open(files[0].temporary()).unwrap());
        }
        let mut writes: Vec<(usize, u64, Vec<u8>)> =
            layout.frame().map(|(at, bytes)| (ranks - 1, at, bytes.to_vec())).collect();
        for (rank, before) in before[..ranks].iter().enumerate() {
            self.part(ends(vertices, rank), ends(triangles, rank), |part| {
                writes.extend(layout.blocks(part, before).unwrap().map(|(at, bytes)| (rank, at, bytes)));
            });
        }
        shuffle(&mut writes, seed);
        for (rank, at, bytes) in &writes {
            files[*rank].write_at(*at, bytes).unwrap();
        }
        // Each byte of the file is written once.
        writes.sort_by_key(|(_, at, bytes)| (*at, bytes.len()));
        let end = writes.iter().fold(0, |end, (_, at, bytes)| {
            assert_eq!(*at, end, "{format:?}");
            end + bytes.len() as u64
        });
        assert_eq!(end, layout.length());
        files.iter_mut().for_each(|file| file.finish().unwrap());
        assert!(!path.exists());
        files.swap_remove(0).commit().unwrap();
        std::fs::read(path).unwrap()
    }
}

fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for last in (1..items.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        items.swap(last, (state >> 33) as usize % (last + 1));
    }
}

/// Parsed content: numbers per vertex by name, one or three each, and triangles.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Found {
    pub numbers: BTreeMap<String, Vec<f32>>,
    pub triangles: Vec<[u64; 3]>,
}

impl Found {
    pub(crate) fn of(sample: &Sample) -> Self {
        let mut numbers: BTreeMap<String, Vec<f32>> = sample.fields.iter().cloned().collect();
        numbers.insert("Points".into(), sample.positions.as_flattened().to_vec());
        if let Some(normals) = &sample.normals {
            numbers.insert("Normals".into(), normals.as_flattened().to_vec());
        }
        Self { numbers, triangles: sample.triangles.clone() }
    }
}

fn float(bytes: &[u8]) -> f32 {
    f32::from_le_bytes(bytes[..4].try_into().unwrap())
}

pub(crate) fn parse_ply(bytes: &[u8]) -> Found {
    let end = bytes.windows(11).position(|window| window == b"end_header\n").unwrap() + 11;
    let header = std::str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = header.lines();
    assert_eq!((lines.next(), lines.next()), (Some("ply"), Some("format binary_little_endian 1.0")));
    let (mut counts, mut columns, mut index) = (Vec::new(), Vec::new(), "");
    for line in lines {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["element", "vertex", count] if counts.is_empty() => counts.push(count.parse::<usize>().unwrap()),
            ["element", "face", count] if counts.len() == 1 => counts.push(count.parse::<usize>().unwrap()),
            ["property", "float", name] if counts.len() == 1 => columns.push(name.to_string()),
            ["property", "list", "uchar", kind @ ("int" | "uint"), "vertex_indices"] if counts.len() == 2 => {
                index = kind
            }
            ["end_header"] => {}
            _ => panic!("{line}"),
        }
    }
    assert!(!index.is_empty());
    let (vertices, faces) = bytes[end..].split_at(counts[0] * columns.len() * 4);
    let mut found = Found::default();
    let column = |name: &str| columns.iter().position(|column| column == name).unwrap();
    let values = |names: &[&str]| {
        let places: Vec<usize> = names.iter().map(|name| column(name)).collect();
        let rows = vertices.chunks_exact(columns.len() * 4);
        rows.flat_map(|row| places.iter().map(|place| float(&row[4 * place..])).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    found.numbers.insert("Points".into(), values(&["x", "y", "z"]));
    if columns.contains(&"nx".to_string()) {
        found.numbers.insert("Normals".into(), values(&["nx", "ny", "nz"]));
    }
    for name in columns.iter().filter(|name| !["x", "y", "z", "nx", "ny", "nz"].contains(&&***name)) {
        found.numbers.insert(name.clone(), values(&[name]));
    }
    assert_eq!(faces.len(), 13 * counts[1]);
    for face in faces.chunks_exact(13) {
        assert_eq!(face[0], 3);
        found.triangles.push([1, 5, 9].map(|at| u32::from_le_bytes(face[at..at + 4].try_into().unwrap()).into()));
    }
    found
}

pub(crate) fn parse_vtp(bytes: &[u8]) -> Found {
    let mark = b"<AppendedData encoding=\"raw\">\n   _";
    let start = bytes.windows(mark.len()).position(|window| window == mark).unwrap() + mark.len();
    let text = std::str::from_utf8(&bytes[..start]).unwrap();
    assert!(text.contains("type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\""));
    let attribute = |element: &str, name: &str| {
        let rest = element.split_once(&format!(" {name}=\"")).unwrap_or_else(|| panic!("{name} of {element}")).1;
        rest.split_once('"').unwrap().0.to_string()
    };
    let piece = &text[text.find("<Piece").unwrap()..];
    let points: usize = attribute(piece, "NumberOfPoints").parse().unwrap();
    let polys: usize = attribute(piece, "NumberOfPolys").parse().unwrap();
    let mut found = Found::default();
    let (mut corners, mut ends) = (Vec::new(), Vec::new());
    let mut last = start;
    for element in text.split("<DataArray").skip(1) {
        let at = start + attribute(element, "offset").parse::<usize>().unwrap();
        let length = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
        let data = &bytes[at + 8..at + 8 + length];
        last = last.max(at + 8 + length);
        let components: usize = attribute(element, "NumberOfComponents").parse().unwrap();
        let name = attribute(element, "Name").replace("&lt;", "<").replace("&quot;", "\"").replace("&amp;", "&");
        match &*attribute(element, "type") {
            "Float32" => {
                assert_eq!(length, 4 * points * components);
                assert_eq!(components == 3, ["Points", "Normals"].contains(&&*name));
                found.numbers.insert(name, data.chunks_exact(4).map(float).collect());
            }
            "Int64" => {
                let numbers = data.chunks_exact(8).map(|number| i64::from_le_bytes(number.try_into().unwrap()) as u64);
                if name == "offsets" { ends = numbers.collect() } else { corners = numbers.collect::<Vec<u64>>() }
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!(&bytes[last..], b"\n  </AppendedData>\n</VTKFile>");
    assert_eq!(ends, (1..=polys as u64).map(|polygon| 3 * polygon).collect::<Vec<_>>());
    assert_eq!(corners.len(), 3 * polys);
    found.triangles = corners.as_chunks::<3>().0.to_vec();
    found
}

/// Corners of the triangles of an OBJ file, and their normals, by `tobj`.
pub(crate) type Corners = Vec<[[f32; 3]; 3]>;
pub(crate) fn parse_obj(bytes: &[u8]) -> (Corners, Corners) {
    let none = |_: &Path| panic!("there are no materials");
    let (models, _) = tobj::load_obj_buf(&mut &bytes[..], &tobj::LoadOptions::default(), none).unwrap();
    let (mut corners, mut normals) = (Vec::new(), Vec::new());
    for mesh in models.iter().map(|model| &model.mesh) {
        let take = |numbers: &[f32], indices: &[u32]| -> Corners {
            let vertex = |index: &u32| std::array::from_fn(|axis| numbers[3 * *index as usize + axis]);
            indices.as_chunks::<3>().0.iter().map(|triangle| triangle.each_ref().map(vertex)).collect()
        };
        assert!(mesh.face_arities.iter().all(|&corners| corners == 3));
        corners.extend(take(&mesh.positions, &mesh.indices));
        normals.extend(take(&mesh.normals, &mesh.normal_indices));
    }
    (corners, normals)
}

/// Normals and corners of the triangles of an STL file, by `stl_io`.
pub(crate) fn parse_stl(bytes: &[u8]) -> Vec<([f32; 3], [[f32; 3]; 3])> {
    let mut bytes = std::io::Cursor::new(bytes);
    let triangles = stl_io::create_stl_reader(&mut bytes).unwrap();
    triangles
        .map(Result::unwrap)
        .map(|triangle| (triangle.normal.0, triangle.vertices.map(|vertex| vertex.0)))
        .collect()
}
