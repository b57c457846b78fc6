//! Mesh files; each rank writes its own part.

use std::path::Path;

use zippy::collective::CollectiveWorld;
use zippy::error::CallSite;
use zippy::{Error, Result, World};
use zippy_files::SharedFile;
use zippy_io::IoError;
use zippy_io::mesh::{self, Before, CellCounts, Cells, Field, Format, Layout, Part, PieceArrays, Text, Whole};
use zippy_store::CollectiveFile;

use crate::mesh::Mesh;
use crate::messages::prefix_sums;
use crate::points::list::Points;
use crate::volume_mesh::VolumeMesh;

/// Writes a mesh to a file. Collective; all ranks must see the same file system.
///
/// - `.ply`, `.stl`, `.obj`, `.vtp`, `.vtu`: one file with the parts of all ranks. The file has its
///   final name once it is complete.
/// - `.pvtp`, `.pvtu`: an index and one file per rank next to it. Shared vertices are in the file
///   of each rank that uses them.
///
/// # Errors
/// Equal on all ranks: another extension; a mesh that exceeds the 32-bit numbers of PLY and STL; an
/// error of the file system. A failed file is removed, and an existing file stays.
#[track_caller]
pub fn write(world: &World, mesh: &Mesh, path: impl AsRef<Path>) -> Result<()> {
    let _call = CallSite::enter();
    write_mesh(world, mesh, path.as_ref(), None)
}

/// Writes a mesh whose positions are relative to `origin`; the file has absolute positions as
/// doubles (STL: floats). Collective; the origin must be equal on all ranks.
///
/// Use: meshes far from the origin of space, where `f32` cannot distinguish neighbouring vertices,
/// from an extractor whose grid has origin 0.
///
/// # Errors
/// As [`write`](write()).
#[track_caller]
pub fn write_with_origin(world: &World, mesh: &Mesh, origin: [f64; 3], path: impl AsRef<Path>) -> Result<()> {
    let _call = CallSite::enter();
    write_mesh(world, mesh, path.as_ref(), Some(origin))
}

fn write_mesh(world: &World, mesh: &Mesh, path: &Path, origin: Option<[f64; 3]>) -> Result<()> {
    let call = format!("write({})", path.display());
    if mesh::is_index(path) {
        let triangles: Vec<[u64; 3]> = mesh.triangles.iter().map(|triangle| triangle.map(u64::from)).collect();
        let normals = mesh.has_normals.then_some(&mesh.points.normals[..]);
        return write_piece(
            world,
            &call,
            &mesh.points,
            Part { origin, normals, triangles: &triangles, ..Part::default() },
            path,
        );
    }
    let numbers = mesh.triangles.iter().map(|triangle| triangle.map(|vertex| mesh.number(vertex))).collect::<Vec<_>>();
    let at = |vertex: u32| mesh.points.positions[vertex as usize];
    let is_stl = Format::of(path).is_ok_and(|format| format == Format::Stl);
    let corners = if is_stl { mesh.triangles.iter().map(|corners| corners.map(at)).collect() } else { Vec::new() };
    let normals = mesh.has_normals.then(|| &mesh.points.normals[..mesh.points.own]);
    let part = Part { origin, normals, triangles: &numbers, corners: &corners, ..Part::default() };
    write_part(world, &call, &mesh.points, part, path)
}

/// Writes a mesh of cells to a `.vtu` file, or to `.pvtu` as an index and one file per rank.
/// Collective; conditions as for [`write`](write()).
///
/// # Errors
/// Equal on all ranks: another extension; an error of the file system. A failed file is removed,
/// and an existing file stays.
#[track_caller]
pub fn write_volume(world: &World, mesh: &VolumeMesh, path: impl AsRef<Path>) -> Result<()> {
    let _call = CallSite::enter();
    write_cells(world, mesh, path.as_ref(), None)
}

/// [`write_volume`] of a mesh with positions relative to `origin`, as in [`write_with_origin`].
/// Collective.
///
/// # Errors
/// As [`write_volume`].
#[track_caller]
pub fn write_volume_with_origin(
    world: &World,
    mesh: &VolumeMesh,
    origin: [f64; 3],
    path: impl AsRef<Path>,
) -> Result<()> {
    let _call = CallSite::enter();
    write_cells(world, mesh, path.as_ref(), Some(origin))
}

fn write_cells(world: &World, mesh: &VolumeMesh, path: &Path, origin: Option<[f64; 3]>) -> Result<()> {
    let whole = !mesh::is_index(path);
    let format = if whole { Format::of(path) } else { mesh::piece_format(path) };
    let checked = match format {
        Ok(Format::Vtu) => Ok(()),
        _ => Err(IoError::request(path, "cannot have cells of a volume; the name must end with .vtu or .pvtu").into()),
    };
    let call = format!("write_volume({})", path.display());
    world.agree(&call, checked)?;
    let number = |point: u32| if whole { mesh.number(point) } else { point.into() };
    let hexahedra: Vec<[u64; 8]> = mesh.hexahedra.iter().map(|cell| cell.map(number)).collect();
    let tetrahedra: Vec<[u64; 4]> = mesh.tetrahedra.iter().map(|cell| cell.map(number)).collect();
    let cells = Cells { hexahedra: &hexahedra, tetrahedra: &tetrahedra };
    let part = Part { origin, cells, ..Part::default() };
    let write = if whole { write_part } else { write_piece };
    write(world, &call, &mesh.points, part, path)
}

/// Writes one file with the parts of all ranks; `points` complete this rank's part.
fn write_part(world: &World, call: &str, points: &Points, part: Part<'_>, path: &Path) -> Result<()> {
    let format = world.agree(call, Format::of(path).map_err(Error::from))?;
    let fields = fields(points, points.own);
    let part = Part { fields: &fields, positions: &points.positions[..points.own], ..part };
    let text = if format == Format::Obj { Text::of(&part).map_err(Error::from) } else { Ok(Text::default()) };
    let text = world.agree("writing numbers", text)?;
    let [before, whole] = world.failing("writing a mesh", || totals(world, &Whole { text, ..part.alone() }))?;
    let Whole { vertices, triangles, cells, text, .. } = before;
    let before = Before { vertices, triangles, cells, text };
    let layout = world.agree(
        "laying out a mesh",
        Layout::of(format, &whole, part.normals.is_some(), &names(&fields)).map_err(Error::from),
    )?;
    let blocks = world.agree("laying out a mesh", layout.blocks(&part, &before).map_err(Error::from))?;
    let mut file = CollectiveFile::create(world, path, layout.length())?;
    if world.rank() == 0 {
        layout.frame().for_each(|(at, bytes)| file.write_at(at, bytes));
    }
    blocks.for_each(|(at, bytes)| file.write_at(at, &bytes));
    file.finish()
}

fn fields(points: &Points, count: usize) -> Vec<Field<'_>> {
    points.fields.iter().map(|(name, values)| Field { name, values: &values[..count] }).collect()
}

fn names<'a>(fields: &[Field<'a>]) -> Vec<&'a str> {
    fields.iter().map(|field| field.name).collect()
}

/// Totals of lower ranks, and of all ranks. Collective.
fn totals(world: &World, own: &Whole) -> Result<[Whole; 2]> {
    let (cells, text) = (own.cells, own.text);
    let numbers = [
        [own.vertices, own.triangles, cells.hexahedra, cells.tetrahedra],
        [text.positions, text.normals, text.triangles, 0],
    ];
    Ok(prefix_sums(world, numbers.as_flattened())?.map(|sums| Whole {
        vertices: sums[0],
        triangles: sums[1],
        cells: CellCounts { hexahedra: sums[2], tetrahedra: sums[3] },
        text: Text { positions: sums[4], normals: sums[5], triangles: sums[6] },
        doubles: own.doubles,
    }))
}

/// Writes one file per rank and an index; this rank's part includes ghost points.
fn write_piece(world: &World, call: &str, points: &Points, part: Part<'_>, path: &Path) -> Result<()> {
    let fields = fields(points, points.positions.len());
    let part = Part { positions: &points.positions, fields: &fields, ..part };
    let normals = part.normals.is_some();
    let piece = || -> std::result::Result<SharedFile, IoError> {
        let layout = Layout::of(mesh::piece_format(path)?, &part.alone(), normals, &names(&fields))?;
        let mut file = SharedFile::create(mesh::piece_path(path, world.rank() as u64)?, layout.length())?;
        layout.frame().try_for_each(|(at, bytes)| file.write_at(at, bytes))?;
        layout.blocks(&part, &Before::default())?.try_for_each(|(at, bytes)| file.write_at(at, &bytes))?;
        file.finish()?;
        Ok(file)
    };
    let written = world.agree(call, piece().map_err(Error::from))?;
    world.agree("renaming a piece of a mesh", written.commit().map_err(Error::from))?;
    let pieces = world.size() as u64;
    let names = names(&fields);
    let arrays = PieceArrays { normals, fields: &names, doubles: part.origin.is_some() };
    let index = if world.rank() == 0 { mesh::write_index_of(path, pieces, arrays) } else { Ok(()) };
    world.agree("writing the index of a mesh", index.map_err(Error::from))
}
