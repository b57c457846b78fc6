//! [`Layout`]: byte layout of a mesh file.

use zippy_files::quoted;

use super::blocks::Blocks;
use super::content::MeshContent;
use super::part::{Before, Part, Text, Whole};
use super::rows::Rows;
use super::sections::FileSections;
use super::shape::Shape;
use super::{Format, obj, ply, stl, vtp, vtu};
use crate::IoError;

/// Byte layout of a mesh file: a frame, which one rank writes, and rows of vertices and cells,
/// which all ranks write.
///
/// Two ranks, each with one of two vertices:
///
/// ```
/// use zippy_files::SharedFile;
/// use zippy_io::mesh::{self, Before, Format, Layout, Part, Whole};
///
/// let path = std::env::temp_dir().join(format!("zippy-doc-{}.vtp", std::process::id()));
/// let whole = Whole { vertices: 2, ..Whole::default() };
/// let layout = Layout::of(Format::Vtp, &whole, false, &[])?; // the same on both
/// let mut first = SharedFile::create(&path, layout.length())?;
/// let mut second = SharedFile::open(first.temporary())?;
/// for (at, bytes) in layout.frame() {
///     first.write_at(at, bytes)?;
/// }
/// let part = Part { positions: &[[0.0; 3]], ..Part::default() };
/// for (at, bytes) in layout.blocks(&part, &Before::default())? {
///     first.write_at(at, &bytes)?;
/// }
/// let before = Before { vertices: 1, ..Before::default() };
/// let part = Part { positions: &[[1.0; 3]], ..Part::default() };
/// for (at, bytes) in layout.blocks(&part, &before)? {
///     second.write_at(at, &bytes)?;
/// }
/// first.finish()?;
/// second.finish()?;
/// first.commit()?;
/// assert_eq!(mesh::read(&path)?.positions, [[0.0; 3], [1.0; 3]]);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), zippy_io::IoError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Layout(FileSections);

pub(super) fn check_distinct(fields: &[&str]) -> Result<(), IoError> {
    let mut sorted = fields.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(IoError::mesh(format!("two fields have the name {}; names must differ", quoted(twice[0])))),
        None => Ok(()),
    }
}

impl Layout {
    /// Layout of a mesh with or without normals, and with scalars of these names. Local; the same
    /// arguments give the same layout on every rank.
    ///
    /// # Errors
    /// More than 2^32 vertices in PLY or 2^32 - 1 triangles in STL; a name that the format cannot
    /// hold or that occurs twice; cells of a volume in another format than VTU; in OBJ, bytes of
    /// lines that do not fit the numbers of vertices and triangles; more than 2^63 bytes.
    pub fn of(format: Format, whole: &Whole, normals: bool, fields: &[&str]) -> Result<Self, IoError> {
        check_distinct(fields)?;
        if format != Format::Vtu && whole.cells.all() > 0 {
            let message = format!("{} cells of a volume in a format of surfaces; VTU has cells", whole.cells.all());
            return Err(IoError::mesh(message));
        }
        let fields = fields.iter().map(ToString::to_string).collect();
        let mut layout = FileSections::new(MeshContent { whole: *whole, normals, fields });
        match format {
            Format::Ply => ply::lay(&mut layout)?,
            Format::Stl => stl::lay(&mut layout)?,
            Format::Obj => obj::lay(&mut layout)?,
            Format::Vtp => vtp::lay(&mut layout)?,
            Format::Vtu => vtu::lay(&mut layout)?,
        }
        Ok(Self(layout))
    }

    /// Length of the whole file in bytes.
    pub fn length(&self) -> u64 {
        self.0.length
    }

    /// Bytes outside of the ranks' rows, with their offsets: header, lengths, end. One rank writes
    /// them.
    pub fn frame(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.0.frame.iter().map(|(at, bytes)| (*at, &bytes[..]))
    }

    /// Bytes of a rank's part with their offsets, in blocks of at most 1 MiB (3 MiB in OBJ),
    /// created one at a time. Local. Costs one pass over the cells before the first block, and in
    /// OBJ one pass over everything.
    ///
    /// # Errors
    /// The part does not fit the layout: other fields; normals in only one of them; another number
    /// of normals, scalars or, in STL, corners than of vertices or triangles; vertices or cells
    /// beyond the whole; a cell with a missing vertex. In OBJ, a number is not finite.
    pub fn blocks<'a>(&'a self, part: &Part<'a>, before: &Before) -> Result<Blocks<'a>, IoError> {
        self.check(part)?;
        self.check_range("vertices", part.positions.len() as u64, before.vertices, self.0.content.whole.vertices)?;
        for shape in Shape::ALL {
            let (corners, [singular, plural]) = (shape.corners_in(part), shape.names());
            let count = corners.len() as u64 / shape.corners();
            self.check_range(plural, count, shape.before(before), shape.in_whole(&self.0.content.whole))?;
            if let Some(index) = corners.iter().position(|&vertex| vertex >= self.0.content.whole.vertices) {
                let message = format!(
                    "{singular} {} of this part names vertex {}; the {} vertices are counted from 0",
                    index as u64 / shape.corners(),
                    corners[index],
                    self.0.content.whole.vertices
                );
                return Err(IoError::mesh(message));
            }
        }
        if self.0.sections.iter().any(|section| section.rows.bytes(&self.0.content).is_none()) {
            let (text, whole) = (Text::of(part)?, &self.0.content.whole.text);
            self.check_range("bytes of v lines", text.positions, before.text.positions, whole.positions)?;
            self.check_range("bytes of vn lines", text.normals, before.text.normals, whole.normals)?;
            self.check_range("bytes of f lines", text.triangles, before.text.triangles, whole.triangles)?;
        }
        Ok(Blocks::new(&self.0, *part, *before))
    }

    fn check(&self, part: &Part<'_>) -> Result<(), IoError> {
        let vertices = part.positions.len();
        if part.origin.is_some() != self.0.content.whole.doubles {
            let [layout, found] =
                [self.0.content.whole.doubles, part.origin.is_some()].map(|some| if some { "has" } else { "has no" });
            return Err(IoError::mesh(format!(
                "the layout {layout} positions of doubles, and this part {found} origin"
            )));
        }
        if part.normals.is_some() != self.0.content.normals {
            let [layout, found] =
                [self.0.content.normals, part.normals.is_some()].map(|some| if some { "has" } else { "has no" });
            return Err(IoError::mesh(format!("the layout {layout} normals, and this part {found} normals")));
        }
        let check_count = |what: &str, found: usize, of: &str, wanted: usize| {
            if found == wanted {
                Ok(())
            } else {
                Err(IoError::mesh(format!("this part has {found} {what} for {wanted} {of}")))
            }
        };
        check_count("normals", part.normals.map_or(vertices, <[_]>::len), "vertices", vertices)?;
        if !part.fields.iter().map(|field| field.name).eq(self.0.content.fields.iter().map(String::as_str)) {
            let list = |names: &mut dyn Iterator<Item = &str>| names.map(quoted).collect::<Vec<_>>().join(", ");
            let wanted = list(&mut self.0.content.fields.iter().map(String::as_str));
            let found = list(&mut part.fields.iter().map(|field| field.name));
            return Err(IoError::mesh(format!("the layout has the fields [{wanted}], and this part [{found}]")));
        }
        for field in part.fields {
            check_count(&format!("numbers of field {}", quoted(field.name)), field.values.len(), "vertices", vertices)?;
        }
        if self.0.sections.iter().any(|section| section.rows == Rows::Facets) {
            check_count(
                "triangles with corners, which STL needs,",
                part.corners.len(),
                "triangles",
                part.triangles.len(),
            )?;
        }
        Ok(())
    }

    fn check_range(&self, what: &str, count: u64, before: u64, whole: u64) -> Result<(), IoError> {
        if before.checked_add(count).is_some_and(|end| end <= whole) {
            return Ok(());
        }
        Err(IoError::mesh(format!(
            "{count} {what} of this part after {before} of lower ranks are beyond the {whole} of all"
        )))
    }
}
