//! [`Source`]: where the cells of a file are, whatever its format.

use std::path::{Path, PathBuf};

use zippy::Result;
use zippy::element::ElementInfo;
use zippy::extents::Index;
use zippy::region::Region;

use super::format::Format;
use super::leaves::{Leaf, leaves};
use super::metadata::Metadata;
use super::plain::Plain;
use crate::axis_order::AxisOrder;
use crate::files::Head;
use crate::store::{Description, Encoding, VoxelLayout};
use crate::vti::document::Document;
use crate::vti::index::Index as Pieces;
use crate::{IoError, npy, nrrd, quoted, vti};

/// A file that has been opened.
pub struct Found {
    /// Cells along each axis of the array.
    pub shape: Index,
    /// Order of the axes of [`Self::cells`], where it is not that of the array.
    pub order: Option<AxisOrder>,
    pub metadata: Metadata,
    /// What the beginning of the file says, as a number.
    pub fingerprint: u64,
    cells: Cells,
}

enum Cells {
    Here(Source),
    /// In files of which only those are opened that are needed; cells of so many bytes.
    InPieces(Head, Pieces, usize, Vec<Leaf>),
}

/// The cells of a file.
pub enum Source {
    /// As they are in memory.
    Plain(Plain),
    /// In the words of the readers of volumes, and how many bytes a cell has.
    Stored(PathBuf, usize, Vec<Part>),
}

/// Some bytes of each cell, as an array of numbers.
pub struct Part {
    leaf: Leaf,
    found: Description,
}

impl Found {
    /// Opens a file that holds an array of this element and so many axes. `own` says of which files in pieces this rank looks
    /// whether they are what the index says, by their numbers: each should be some rank's, before anything is made of the
    /// shape in the index.
    ///
    /// # Errors
    /// It cannot be opened, breaks its format, or holds something else.
    pub fn open(
        path: &Path,
        element: &ElementInfo,
        axes: usize,
        array: Option<&str>,
        own: impl Fn(usize) -> bool,
    ) -> std::result::Result<Self, IoError> {
        let format = Format::of(path)?;
        if let (Some(name), Format::Npy | Format::Nrrd) = (array, format) {
            let message = format!("is {format}, which has no arrays to choose {} from", quoted(name));
            return Err(IoError::request(path, message));
        }
        let head = Head::read(path)?;
        match format {
            Format::Npy => {
                let cells = npy::array::open(&head, element, axes)?;
                let (shape, order) = (Index::new(&cells.shape), cells.order.clone());
                let cells = Cells::Here(Source::Plain(Plain::open(&head, cells, element.bytes)?));
                Ok(Self { shape, order, metadata: Metadata::default(), fingerprint: head.fingerprint(), cells })
            }
            Format::Zarr => Err(IoError::request(path, "is the name of a Zarr store, which is a directory")),
            Format::Nrrd => from_nrrd(&head, element, axes),
            Format::Vti => from_vti(&head, element, axes, array),
            Format::Pvti => from_pvti(head, element, axes, array, own),
        }
    }

    /// The cells, of which these boxes will be read, in the file's order of axes.
    ///
    /// # Errors
    /// A file that has some of them cannot be opened or is another than its index says.
    pub fn cells(self, boxes: &[Region]) -> std::result::Result<Source, IoError> {
        match self.cells {
            Cells::Here(source) => Ok(source),
            Cells::InPieces(head, index, bytes, leaves) => {
                let boxes: Vec<Region> = boxes.iter().map(|one| padded(one, 3)).collect();
                let part = |leaf: Leaf| {
                    let array = index.array(&head, Some(&leaf.name))?;
                    let is_read = |part: &Region| boxes.iter().any(|one| one.intersects(part));
                    let found = index.open(&head, array, |_, parts| parts.iter().any(is_read))?;
                    Ok(Part { leaf, found })
                };
                let parts = leaves.into_iter().map(part).collect::<std::result::Result<_, IoError>>()?;
                Ok(Source::Stored(head.path, bytes, parts))
            }
        }
    }
}

fn from_nrrd(head: &Head, element: &ElementInfo, axes: usize) -> std::result::Result<Found, IoError> {
    let wrong = |message: String| IoError::request(&head.path, message);
    if !head.bytes.starts_with(b"NRRD") {
        return Err(IoError::malformed(&head.path, 0, "not an NRRD file, which begins with NRRD"));
    }
    let (found, metadata) = nrrd::open_with(head, zippy::extents::MAX_AXES)?;
    let mut leaves = leaves(element).map_err(|_| wrong(format!("is NRRD, which has no {}", element.name)))?;
    if leaves.len() != 1 {
        return Err(wrong(format!("is NRRD, which has no records, as {} is; .npy, .vti and .pvti have", element.name)));
    }
    let leaf = leaves.remove(0);
    check(&head.path, "the file", &found.grid, &leaf)?;
    let shape = found.grid.shape;
    if shape.axes() != axes {
        return Err(wrong(format!("holds an array of {} axes, not of {axes}", shape.axes())));
    }
    let source = Source::Stored(head.path.clone(), element.bytes, vec![Part { leaf, found }]);
    Ok(Found { shape, order: None, metadata, fingerprint: head.fingerprint(), cells: Cells::Here(source) })
}

fn from_vti(
    head: &Head,
    element: &ElementInfo,
    axes: usize,
    array: Option<&str>,
) -> std::result::Result<Found, IoError> {
    let document = read_vti(head)?;
    let wanted = wanted(&head.path, element, array)?;
    let mut metadata = document.frame.metadata();
    let mut parts = Vec::new();
    for leaf in wanted {
        let name = vti::choose(head, &document, Some(&*leaf.name).filter(|name| !name.is_empty()))?;
        let found = vti::opened(head, &document, Some(&name))?;
        check(&head.path, &format!("its array {}", quoted(&name)), &found.grid, &leaf)?;
        metadata.name.get_or_insert(name);
        parts.push(Part { leaf, found });
    }
    document.notes.tell(&head.path, &mut metadata)?;
    let shape = trimmed(&head.path, &parts[0].found.grid.shape, axes, &mut metadata)?;
    let cells = Cells::Here(Source::Stored(head.path.clone(), element.bytes, parts));
    Ok(Found { shape, order: None, metadata, fingerprint: head.fingerprint(), cells })
}

fn from_pvti(
    head: Head,
    element: &ElementInfo,
    axes: usize,
    array: Option<&str>,
    own: impl Fn(usize) -> bool,
) -> std::result::Result<Found, IoError> {
    let index = read_pvti(&head)?;
    let mut metadata = index.frame.metadata();
    let (mut leaves, mut shape) = (wanted(&head.path, element, array)?, Index::zeros(3));
    for leaf in &mut leaves {
        let array = index.array(&head, Some(&*leaf.name).filter(|name| !name.is_empty()))?;
        let grid = index.grid(&head, array)?;
        check(&head.path, &format!("its array {}", quoted(&array.name)), &grid, leaf)?;
        metadata.name.get_or_insert_with(|| array.name.clone());
        index.open(&head, array, |number, _| own(number))?;
        leaf.name.clone_from(&array.name);
        shape = grid.shape;
    }
    index.notes.tell(&head.path, &mut metadata)?;
    let shape = trimmed(&head.path, &shape, axes, &mut metadata)?;
    let fingerprint = head.fingerprint();
    Ok(Found { shape, order: None, metadata, fingerprint, cells: Cells::InPieces(head, index, element.bytes, leaves) })
}

/// # Errors
/// It is no VTI file.
pub fn read_vti(head: &Head) -> std::result::Result<Document, IoError> {
    is_xml(head).and_then(|()| Document::read(head))
}

/// # Errors
/// It is no PVTI file.
pub fn read_pvti(head: &Head) -> std::result::Result<Pieces, IoError> {
    is_xml(head).and_then(|()| Pieces::read(head))
}

fn is_xml(head: &Head) -> std::result::Result<(), IoError> {
    match vti::recognises(head) {
        true => Ok(()),
        false => {
            Err(IoError::malformed(&head.path, 0, "not a file of VTK's in XML, which begins with <?xml or <VTKFile"))
        }
    }
}

/// The arrays that make the cells: of a record one for each field, else the one of this name.
fn wanted(path: &Path, element: &ElementInfo, array: Option<&str>) -> std::result::Result<Vec<Leaf>, IoError> {
    let mut leaves = leaves(element).map_err(|_| {
        IoError::request(path, format!("is VTK's, which has no 16-bit floats, as {} has", element.name))
    })?;
    match (array, &mut leaves[..]) {
        (None, _) => {}
        (Some(name), [leaf]) if leaf.name.is_empty() => leaf.name = name.into(),
        (Some(name), _) => {
            let message = format!(
                "has an array for each field of the record {}; {} cannot be chosen",
                element.name,
                quoted(name)
            );
            return Err(IoError::request(path, message));
        }
    }
    Ok(leaves)
}

/// # Errors
/// The numbers of the file are others than those of the cells.
fn check(path: &Path, what: &str, grid: &VoxelLayout, leaf: &Leaf) -> std::result::Result<(), IoError> {
    if (grid.kind, grid.components) == (leaf.kind, leaf.components) {
        return Ok(());
    }
    let said = |kind, components| match components {
        1 => format!("{kind}"),
        _ => format!("{components} {kind}"),
    };
    let (found, wanted) = (said(grid.kind, grid.components), said(leaf.kind, leaf.components));
    Err(IoError::request(path, format!("{what} holds {found} a cell, and {wanted} was asked for")))
}

/// The shape and the metadata without last axes of one cell: VTK's images always have three.
fn trimmed(path: &Path, shape: &Index, axes: usize, metadata: &mut Metadata) -> std::result::Result<Index, IoError> {
    if axes > shape.axes() || shape[axes..].iter().any(|&extent| extent != 1) {
        let message = format!("holds an array of {shape}, which cannot be one of {axes} axes");
        return Err(IoError::request(path, message));
    }
    // The positions of removed axes stay.
    metadata.further_origin = metadata.axes.drain(axes.min(metadata.axes.len())..).map(|axis| axis.origin).collect();
    metadata.directions.iter_mut().for_each(|all| all.truncate(axes));
    *metadata = std::mem::take(metadata).in_smallest_space(axes);
    Ok(Index::new(&shape[..axes]))
}

/// A box with further axes of one cell.
fn padded(region: &Region, axes: usize) -> Region {
    let (own, start, end) = (region.axes(), region.start, region.end);
    Region::between(
        Index::from_fn(axes, |axis| if axis < own { start[axis] } else { 0 }),
        Index::from_fn(axes, |axis| if axis < own { end[axis] } else { 1 }),
    )
}

impl Source {
    /// Whether any box can be read without what lies before it.
    pub fn is_random(&self) -> bool {
        let is_random = |part: &Part| {
            let mut all = part.found.subvolumes.iter();
            all.all(|one| matches!(one.segment.encoding, Encoding::Raw | Encoding::Zlib(_)))
        };
        match self {
            Self::Plain(_) => true,
            // The parts of a record are read one after the other.
            Self::Stored(_, _, parts) => parts.len() > 1 || parts.iter().all(is_random),
        }
    }

    /// Hands over the bytes of the cells of boxes, which do not overlap, each as soon as it has been read. `values` is memory
    /// for them.
    ///
    /// # Errors
    /// The file cannot be read; what `each` returns.
    pub fn read(
        &mut self,
        boxes: &[Region],
        values: &mut Vec<u8>,
        each: &mut dyn FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::Plain(plain) => boxes.iter().enumerate().try_for_each(|(number, wanted)| {
                plain.read(wanted, values)?;
                each(number, values)
            }),
            Self::Stored(path, element_bytes, parts) => {
                let axes = parts[0].found.grid.shape.axes();
                let boxes: Vec<Region> = boxes.iter().map(|one| padded(one, axes)).collect();
                match &parts[..] {
                    [part] => part.found.read_boxes(path, &boxes, |number, cells: Vec<u8>| each(number, &cells)),
                    parts => boxes.iter().enumerate().try_for_each(|(number, wanted)| {
                        record(path, parts, wanted, (*element_bytes, values))?;
                        each(number, values)
                    }),
                }
            }
        }
    }
}

/// The records of a box, a field at a time.
fn record(path: &Path, parts: &[Part], wanted: &Region, (element_bytes, values): (usize, &mut Vec<u8>)) -> Result<()> {
    // The fields are all there is of a record.
    values.resize(wanted.cells() as usize * element_bytes, 0);
    for Part { leaf, found } in parts {
        found.read_boxes(path, std::slice::from_ref(wanted), |_, bytes: Vec<u8>| -> Result<()> {
            let own = bytes.chunks_exact(leaf.bytes());
            let places = values.chunks_exact_mut(element_bytes).map(|cell| &mut cell[leaf.offset..]);
            places.zip(own).for_each(|(place, own)| place[..own.len()].copy_from_slice(own));
            Ok(())
        })?;
    }
    Ok(())
}
