//! Mesh files: triangles in PLY, STL, OBJ and VTP, and cells of a volume in VTU, which several
//! ranks write together; PVTP and PVTU, an index of one file per rank.
//!
//! A mesh is welded and indexed: vertices with positions in f32, optionally a normal and named
//! scalars, and triangles or cells as three, four or eight vertex indices. Each rank has a
//! [`Part`]. This module does not communicate: the program computes [`Whole`] (sums over all ranks)
//! and [`Before`] (sums over lower ranks), from which each rank knows the offsets of its
//! [`Blocks`].
//!
//! 1. The program sums the counts of the parts, and for OBJ also the bytes of lines ([`Text::of`]),
//!    over all ranks and over the lower ones.
//! 2. Each rank creates the same [`Layout`], and [`Layout::blocks`] checks its part. The ranks
//!    agree that there is no error.
//! 3. One rank [creates](zippy_files::SharedFile::create) a file of [`Layout::length`] bytes and
//!    writes [`Layout::frame`]; the others [open](zippy_files::SharedFile::open) it. Each rank
//!    writes its blocks, in any order, and finishes.
//! 4. The ranks agree that there is no error; the rank that created the file commits it.
//!
//! The bytes of a mesh do not depend on the number of ranks.
//!
//! - PLY ([`Format::Ply`]): positions, normals, scalars, triangles; at most 2^32 vertices.
//! - STL ([`Format::Stl`]): corners and normals of triangles; at most 2^32 - 1 triangles.
//! - OBJ ([`Format::Obj`]): positions, normals, triangles, as text; scalars are dropped.
//! - VTP ([`Format::Vtp`]): positions, normals, scalars, triangles.
//! - VTU ([`Format::Vtu`]): positions, normals, scalars, triangles, hexahedra, tetrahedra; not
//!   read.
//!
//! Binary numbers are little-endian. Positions are floats, or doubles for parts with an
//! [origin](Part::origin); STL has floats only. The program chooses the unit of length; no format
//! stores it.
//!
//! ```
//! use zippy_io::mesh::{self, Field, Part};
//!
//! let part = Part {
//!     positions: &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
//!     fields: &[Field { name: "speed", values: &[1.0, 2.0, 3.0] }],
//!     triangles: &[[0, 1, 2]],
//!     ..Part::default()
//! };
//! let path = std::env::temp_dir().join(format!("zippy-doc-{}.ply", std::process::id()));
//! mesh::write(&path, &part)?;
//! assert_eq!(mesh::read(&path)?.triangles, [[0, 1, 2]]);
//! # std::fs::remove_file(&path).unwrap();
//! # Ok::<(), zippy_io::IoError>(())
//! ```

mod blocks;
mod content;
mod facet;
mod format;
mod index;
mod layout;
mod obj;
mod obj_lines;
mod part;
mod ply;
mod read;
mod rows;
mod sections;
mod shape;
mod stl;
mod vtp;
mod vtu;
mod write;
pub(crate) mod xml;

pub use blocks::Blocks;
pub use format::Format;
pub use index::{PieceArrays, is_index, piece_format, piece_path, write_index, write_index_of, write_piece};
pub use layout::Layout;
pub use part::{Before, CellCounts, Cells, Field, Part, Text, Whole};
pub use read::{Mesh, read};
pub use write::write;
