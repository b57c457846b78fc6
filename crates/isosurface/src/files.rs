//! Meshes to files: each rank writes its own part.

use std::path::Path;

use zippy::transport::copied;
use zippy::{Error, Result, World};
use zippy_io::mesh::{self, Before, Field, Format, Layout, Part, Text, Whole};
use zippy_io::{IoError, SharedFile};

use crate::mesh::Mesh;

/// Writes a mesh to a file whose name ends in `.ply`, `.stl`, `.obj` or `.vtp`: one file, in which every rank writes its
/// own part, and which is there when it is whole. A name that ends in `.pvtp` gets an index and a VTP file a rank beside
/// it, with the vertices that several ranks know in each of theirs. Collective; all ranks see the same file system.
///
/// # Errors
/// The same on every rank: an ending that is none of these; a mesh that is too large for 32-bit numbers in PLY and STL;
/// what the operating system says. Nothing is left of a file that failed, and one that was there before stays.
pub fn write(world: &World, mesh: &Mesh, path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("pvtp")) {
        return write_pieces(world, mesh, path);
    }
    let numbers = mesh.triangles.iter().map(|triangle| triangle.map(|vertex| mesh.number(vertex))).collect::<Vec<_>>();
    let format = world.agree("naming a mesh", Format::of(path).map_err(Error::from))?;
    let corners =
        if format == Format::Stl { mesh.triangles.iter().map(|t| corners(mesh, t)).collect() } else { Vec::new() };
    let fields = fields(mesh, mesh.points.own);
    let part = Part {
        fields: &fields,
        positions: &mesh.points.positions[..mesh.points.own],
        normals: mesh.has_normals.then(|| &mesh.points.normals[..mesh.points.own]),
        triangles: &numbers,
        corners: &corners,
    };
    let text = if format == Format::Obj { Text::of(&part).map_err(Error::from) } else { Ok(Text::default()) };
    let text = world.agree("writing numbers", text)?;
    let [text_before, text_of_all] = sums(world, text)?;
    let whole = Whole { vertices: mesh.vertices(), triangles: mesh.triangle_count(), text: text_of_all };
    let before = Before { vertices: mesh.vertices_before(), triangles: mesh.triangles_before, text: text_before };
    let layout = world.agree(
        "laying out a mesh",
        Layout::of(format, &whole, part.normals.is_some(), &names(&fields)).map_err(Error::from),
    )?;
    let blocks = world.agree("laying out a mesh", layout.blocks(&part, &before).map_err(Error::from))?;
    let mut file = shared(world, path, layout.length())?;
    let written = (|| {
        if world.rank() == 0 {
            layout.frame().try_for_each(|(at, bytes)| file.write_at(at, bytes))?;
        }
        for (at, bytes) in blocks {
            file.write_at(at, &bytes)?;
        }
        file.finish()
    })();
    world.agree("writing a mesh", written.map_err(|error: IoError| error.into()))?;
    let put = if world.rank() == 0 { file.commit() } else { Ok(()) };
    world.agree("putting a mesh into its place", put.map_err(Error::from))
}

/// The values of the first so many vertices.
fn fields(mesh: &Mesh, vertices: usize) -> Vec<Field<'_>> {
    mesh.points.fields.iter().map(|(name, values)| Field { name, values: &values[..vertices] }).collect()
}

fn names<'a>(fields: &[Field<'a>]) -> Vec<&'a str> {
    fields.iter().map(|field| field.name).collect()
}

fn corners(mesh: &Mesh, triangle: &[u32; 3]) -> [[f32; 3]; 3] {
    triangle.map(|vertex| mesh.points.positions[vertex as usize])
}

/// What ranks below this one have, and what all have.
fn sums(world: &World, text: Text) -> Result<[Text; 2]> {
    let own = [text.positions, text.normals, text.triangles];
    let (mut before, mut all) = (own, own);
    world.failing("writing a mesh", || {
        world.group().exclusive_scan(&mut before, 0, |sum, more| *sum += more)?;
        world.group().all_reduce(&mut all, |sum, more| *sum += more)
    })?;
    Ok([before, all].map(|[positions, normals, triangles]| Text { positions, normals, triangles }))
}

/// The one file that all ranks write.
fn shared(world: &World, path: &Path, length: u64) -> Result<SharedFile> {
    let first = world.rank() == 0;
    let create = || {
        let file = SharedFile::create(path, length)?;
        match file.temporary().to_str().map(str::to_owned) {
            Some(name) => Ok((file, name)),
            None => Err(IoError::request(path, "has a name, or lies in a directory, that is no Unicode")),
        }
    };
    let created = world.agree("creating a file", first.then(create).transpose().map_err(Error::from))?;
    let name = created.as_ref().map(|(_, name)| copied(name.as_bytes()));
    let name = world.failing("writing a mesh", || world.group().broadcast(0, name))?;
    let opened = match created {
        Some((file, _)) => Ok(file),
        None => SharedFile::open(&*String::from_utf8_lossy((*name).as_ref())),
    };
    world.agree("opening a file", opened.map_err(Error::from))
}

/// A file a rank, and an index.
fn write_pieces(world: &World, mesh: &Mesh, path: &Path) -> Result<()> {
    let triangles: Vec<[u64; 3]> = mesh.triangles.iter().map(|triangle| triangle.map(u64::from)).collect();
    let normals = mesh.has_normals.then_some(&mesh.points.normals[..]);
    let fields = fields(mesh, mesh.points.positions.len());
    let part =
        Part { positions: &mesh.points.positions, normals, fields: &fields, triangles: &triangles, ..Part::default() };
    let piece = || -> std::result::Result<SharedFile, IoError> {
        let whole =
            Whole { vertices: part.positions.len() as u64, triangles: triangles.len() as u64, ..Whole::default() };
        let layout = Layout::of(Format::Vtp, &whole, normals.is_some(), &names(&fields))?;
        let mut file = SharedFile::create(mesh::piece_path(path, world.rank() as u64)?, layout.length())?;
        layout.frame().try_for_each(|(at, bytes)| file.write_at(at, bytes))?;
        layout.blocks(&part, &Before::default())?.try_for_each(|(at, bytes)| file.write_at(at, &bytes))?;
        file.finish()?;
        Ok(file)
    };
    let written = world.agree("writing a piece of a mesh", piece().map_err(Error::from))?;
    world.agree("putting a piece of a mesh into its place", written.commit().map_err(Error::from))?;
    let pieces = world.size() as u64;
    let index =
        if world.rank() == 0 { mesh::write_index(path, pieces, mesh.has_normals, &names(&fields)) } else { Ok(()) };
    world.agree("writing the index of a mesh", index.map_err(Error::from))
}
