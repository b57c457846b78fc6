//! Files of meshes that were made to hurt: indices that name one file often, headers that lie about sizes.

use zippy_io::mesh::{self, Mesh};

use super::common::counting::most;
use super::common::volumes::{Folder, zlib};
use super::mesh_errors::told;
use super::meshes::Sample;

/// Spellings and links of one file would make a long mesh of a short index.
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
        let error = told(&folder, "a.pvtp", whole.replace("a_1.vtp", spelling).as_bytes());
        let wanted = format!("the piece {} is named twice", zippy_io::quoted(spelling));
        assert!(error.contains(&wanted), "{error}, not {wanted}");
    }
}

/// What VTK writes for an array without values has no blocks, of the size that all have.
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
        let error = told(&folder, "a.vtp", &file(words));
        assert!(error.contains("array \"a\": its header declares blocks of 0 bytes"), "{error}");
    }
}

/// A compressed array may declare a thousand times its length: what is not there takes no memory.
#[test]
fn truncated_compressed_array_takes_the_memory_of_what_is_there() {
    let folder = Folder::new();
    let points = 5_000_000_u32;
    let packed = zlib(&vec![0; 600_000]);
    let mut content = format!(
        "<VTKFile type=\"PolyData\" byte_order=\"LittleEndian\" compressor=\"vtkZLibDataCompressor\"><PolyData>\
         <Piece NumberOfPoints=\"{points}\" NumberOfPolys=\"0\"><PointData><DataArray type=\"Float32\" Name=\"a\" \
         format=\"appended\" offset=\"0\"/></PointData></Piece></PolyData><AppendedData encoding=\"raw\">_"
    )
    .into_bytes();
    // As many bytes as could expand to all.
    let padded = [packed, vec![0; 40_000]].concat();
    for word in [1, 4 * points, 0, padded.len() as u32] {
        content.extend(word.to_le_bytes());
    }
    content.extend(padded);
    content.extend(b"</AppendedData></VTKFile>");
    let mut error = String::new();
    let held = most(|| error = told(&folder, "a.vtp", &content));
    assert!(error.contains("ends after 600000 of 20000000 bytes"), "{error}");
    assert!(held < 4 << 20, "{held} bytes");
}
