//! Hostile mesh files: an index that names one file repeatedly, headers with wrong sizes.

use zippy_io::mesh::{self, Mesh};

use super::common::counting::most;
use super::common::volumes::{Folder, zlib};
use super::mesh_errors::error_of;
use super::meshes::Sample;

/// Spellings and links of one file would turn a short index into a large mesh.
#[test]
fn pvtp_piece_named_by_another_spelling_is_an_error() {
    let folder = Folder::new();
    let index = folder.0.join("a.pvtp");
    Sample::new(3, 1, true, &["a"]).all(|part| mesh::write_piece(&index, 0, part)).unwrap();
    Sample::new(3, 1, true, &["a"]).all(|part| mesh::write_piece(&index, 1, part)).unwrap();
    mesh::write_index(&index, 2, true, &["a"]).unwrap();
    let whole = std::fs::read_to_string(&index).unwrap();
    assert_eq!(mesh::read(&index).unwrap().triangles.len() % 2, 0);
    std::fs::create_dir(folder.0.join("b")).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a_0.vtp", folder.0.join("link.vtp")).unwrap();
        std::fs::hard_link(folder.0.join("a_0.vtp"), folder.0.join("hard.vtp")).unwrap();
    }
    let absolute = folder.0.join("a_0.vtp").display().to_string();
    let spellings = ["./a_0.vtp", ".//./a_0.vtp", "b/../a_0.vtp", &absolute];
    let links = if cfg!(unix) { &["link.vtp", "./link.vtp", "hard.vtp"][..] } else { &[] };
    for spelling in spellings.iter().chain(links) {
        let error = error_of(&folder, "a.pvtp", whole.replace("a_1.vtp", spelling).as_bytes());
        let wanted = format!("the piece {} is named twice", zippy_files::quoted(spelling));
        assert!(error.contains(&wanted), "{error}, not {wanted}");
    }
}

/// VTK writes an array without values with a block size and no blocks.
#[test]
fn empty_compressed_array_needs_blocks_of_some_size() {
    let folder = Folder::new();
    let file = |words: &[u32]| {
        let mut content =
            b"<?xml version=\"1.0\"?><VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" \
              header_type=\"UInt32\" compressor=\"vtkZLibDataCompressor\"><PolyData><Piece NumberOfPoints=\"0\" \
              NumberOfPolys=\"0\"><PointData><DataArray type=\"Float32\" Name=\"a\" format=\"appended\" offset=\"0\"/>\
              </PointData></Piece></PolyData><AppendedData encoding=\"raw\">_"
                .to_vec();
        content.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        content.extend(b"</AppendedData></VTKFile>");
        content
    };
    let read = mesh::read(folder.file("a.vtp", &file(&[0, 32768, 0]))).unwrap();
    assert_eq!(read, Mesh { fields: vec![("a".into(), Vec::new())], ..Mesh::default() });
    for words in [&[0, 0, 0][..], &[1, 0, 0, 0], &[3, 0, 0, 0, 0, 0]] {
        let error = error_of(&folder, "a.vtp", &file(words));
        assert!(error.contains("array \"a\": its header declares blocks of 0 bytes"), "{error}");
    }
}

/// A compressed array may declare a thousand times its length: missing data takes no memory.
#[test]
fn truncated_compressed_array_takes_memory_for_existing_data_only() {
    let folder = Folder::new();
    let points = 5_000_000_u32;
    let packed = zlib(&vec![0; 600_000]);
    let mut content = format!(
        "<VTKFile type=\"PolyData\" byte_order=\"LittleEndian\" compressor=\"vtkZLibDataCompressor\"><PolyData>\
         <Piece NumberOfPoints=\"{points}\" NumberOfPolys=\"0\"><PointData><DataArray type=\"Float32\" Name=\"a\" \
         format=\"appended\" offset=\"0\"/></PointData></Piece></PolyData><AppendedData encoding=\"raw\">_"
    )
    .into_bytes();
    // Enough bytes that they could expand to the declared size.
    let padded = [packed, vec![0; 40_000]].concat();
    for word in [1, 4 * points, 0, padded.len() as u32] {
        content.extend(word.to_le_bytes());
    }
    content.extend(padded);
    content.extend(b"</AppendedData></VTKFile>");
    let mut error = String::new();
    let held = most(|| error = error_of(&folder, "a.vtp", &content));
    assert!(error.contains("ends after 600000 of 20000000 bytes"), "{error}");
    assert!(held < 4 << 20, "{held} bytes");
}

/// Meshes in text and with lists, damaged in many ways: an error that names the byte, or a
/// consistent mesh, in memory proportional to the length of the file.
#[test]
fn damaged_meshes_of_other_writers_are_errors_or_consistent() {
    let folder = Folder::new();
    let stl =
        "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1e0 0\nendloop\nendfacet\n";
    let header = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty list uchar short near\n\
                  element face 2\nproperty list uchar int vertex_indices\nelement tristrips 1\n\
                  property list int int vertex_indices\nend_header\n";
    let text = "0 0 0 0\n2 0 0 1 7\n2 1 0 0\n1 .5 nan 0\n4 0 1 2 3\n3 0 1 2\n4 0 1 2 3\n";
    let mut binary = format!("ply\nformat binary_big_endian 1.0\n{header}").into_bytes();
    (0..4_u8).for_each(|at| binary.extend([0, 0, 0, at, 0, 0, at, 0, 0x3f, 0x80, 0, 0, 1, 0, at]));
    for corners in [&[0, 1, 2, 3][..], &[0, 1, 2]] {
        binary.push(corners.len() as u8);
        corners.iter().for_each(|corner: &i32| binary.extend(corner.to_be_bytes()));
    }
    [4, 0, 1, 2, 3].iter().for_each(|number: &i32| binary.extend(number.to_be_bytes()));
    let obj = "v 0 0 0\nv 2 0 0\nv 2 1 \\\n 0\nv 1 0.5 0\nvn 0 0 1\nf 1//1 2//1 3//1 4//1\nf -1/1/1 -2/1/1 -3/1/1\n";
    let files: [(&str, Vec<u8>); 4] = [
        ("a.stl", format!("{stl}endsolid a\n").into()),
        ("a.ply", format!("ply\nformat ascii 1.0\n{header}{text}").into()),
        ("a.ply", binary),
        ("a.obj", obj.into()),
    ];
    let mut state = 12_345_u32;
    let mut random = |below: usize| {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (state >> 8) as usize % below
    };
    for (name, whole) in files {
        assert!(mesh::read(folder.file(name, &whole)).is_ok(), "{name}");
        for _ in 0..3000 {
            let mut content = whole.clone();
            for _ in 0..1 + random(3) {
                let at = random(content.len());
                match random(4) {
                    0 => content[at] = b" 0189-.e/\\\n\xff\0x"[random(14)],
                    1 => content[at] ^= 1 << random(8),
                    2 => drop(content.drain(at..(at + random(9)).min(content.len()))),
                    _ => {
                        let piece = content[at..(at + random(30)).min(content.len())].to_vec();
                        content.splice(at..at, piece);
                    }
                }
                if content.is_empty() {
                    content.push(b'x');
                }
            }
            let path = folder.file(name, &content);
            let mut read = None;
            let held = most(|| read = Some(mesh::read(&path)));
            // A read buffer, and a few numbers per byte of the file.
            assert!(held < (1 << 18) + 200 * content.len() as isize, "{name}: {held} bytes for {}", content.len());
            match read.unwrap() {
                Err(error) => assert!(error.to_string().contains(name), "{error}"),
                Ok(Mesh { positions, normals, fields, triangles, .. }) => {
                    let count = positions.len();
                    assert!(triangles.as_flattened().iter().all(|&vertex| vertex < count as u64), "{name}");
                    assert!(normals.is_none_or(|normals| normals.len() == count), "{name}");
                    assert!(fields.iter().all(|(_, values)| values.len() == count), "{name}");
                }
            }
        }
    }
}
