//! [`CellSource`]: access to the cells of a file of any format.

use std::path::{Path, PathBuf};

use zippy_base::Result;
use zippy_base::element::ElementInfo;
use zippy_base::error::CallSite;
use zippy_files::quoted;
use zippy_plan::extents::Index;
use zippy_plan::region::Region;

use super::format::Format;
use super::leaves::{Leaf, leaves};
use super::metadata::Metadata;
use super::plain::PlainCells;
use crate::axis_order::AxisOrder;
use crate::head::Head;
use crate::voxels::{Description, Encoding, VoxelLayout};
use crate::vti::document::Document;
use crate::vti::index::Index as PieceIndex;
use crate::{IoError, npy, nrrd, vti};

/// Opened array file.
pub struct OpenedArray {
    /// Cells along each axis.
    pub shape: Index,
    /// Order of the file's axes, if it differs from the array's.
    pub order: Option<AxisOrder>,
    /// Metadata of the file.
    pub metadata: Metadata,
    /// Hash of the header.
    pub fingerprint: u64,
    cells: CellAccess,
}

enum CellAccess {
    OneFile(CellSource),
    /// Several files, opened on demand: header and index, bytes of a cell, leaves.
    PieceFiles(Head, PieceIndex, usize, Vec<Leaf>),
}

/// Open access to the cells of a file.
pub struct CellSource(OpenCells);

enum OpenCells {
    Plain(PlainCells),
    /// Cells read by the volume readers: path, bytes of a cell, leaves.
    Volumes(PathBuf, usize, Vec<LeafSource>),
}

/// Array of numbers with one leaf of each cell.
struct LeafSource {
    leaf: Leaf,
    found: Description,
}

impl OpenedArray {
    /// Opens a file with an array of this element type and number of axes. `checks_file` selects by
    /// index the piece files that this rank compares with the index. Some rank should check each
    /// file before the shape in the index is used.
    ///
    /// # Errors
    /// The file cannot be opened, is malformed, or contains something else.
    pub fn open(
        path: &Path,
        element: &ElementInfo,
        axes: usize,
        array: Option<&str>,
        checks_file: impl Fn(usize) -> bool,
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
                let cells =
                    CellAccess::OneFile(CellSource(OpenCells::Plain(PlainCells::open(&head, cells, element.bytes)?)));
                Ok(Self { shape, order, metadata: Metadata::default(), fingerprint: head.fingerprint(), cells })
            }
            Format::Zarr => Err(IoError::request(path, "is the name of a Zarr store, which is a directory")),
            Format::Nrrd => from_nrrd(&head, element, axes),
            Format::Vti => from_vti(&head, element, axes, array),
            Format::Pvti => from_pvti(head, element, axes, array, checks_file),
        }
    }

    /// Opens the cells for a read of `boxes`, in the file's order of axes.
    ///
    /// # Errors
    /// A file that overlaps the boxes cannot be opened or differs from the index.
    pub fn cells(self, boxes: &[Region]) -> std::result::Result<CellSource, IoError> {
        match self.cells {
            CellAccess::OneFile(source) => Ok(source),
            CellAccess::PieceFiles(head, index, bytes, leaves) => {
                let boxes: Vec<Region> = boxes.iter().map(|region| add_trailing_axes(region, 3)).collect();
                let part = |leaf: Leaf| {
                    let array = index.array(&head, Some(&leaf.name))?;
                    let is_read = |part: &Region| boxes.iter().any(|region| region.intersects(part));
                    let found = index.open(&head, array, |_, parts| parts.iter().any(is_read))?;
                    Ok(LeafSource { leaf, found })
                };
                let parts = leaves.into_iter().map(part).collect::<std::result::Result<_, IoError>>()?;
                Ok(CellSource(OpenCells::Volumes(head.path, bytes, parts)))
            }
        }
    }
}

fn from_nrrd(head: &Head, element: &ElementInfo, axes: usize) -> std::result::Result<OpenedArray, IoError> {
    let wrong = |message: String| IoError::request(&head.path, message);
    if !head.bytes.starts_with(b"NRRD") {
        return Err(IoError::malformed(&head.path, 0, "not an NRRD file, which begins with NRRD"));
    }
    let (found, metadata) = nrrd::open_with(head, zippy_plan::extents::MAX_AXES)?;
    let mut leaves = leaves(element).map_err(|_| wrong(format!("is NRRD, which has no {}", element.name)))?;
    if leaves.len() != 1 {
        return Err(wrong(format!("is NRRD, which has no records, as {} is; .npy, .vti and .pvti have", element.name)));
    }
    let leaf = leaves.remove(0);
    check_type(&head.path, "the file", &found.grid, &leaf)?;
    let shape = found.grid.shape;
    if shape.axes() != axes {
        return Err(wrong(format!("holds an array of {} axes, not of {axes}", shape.axes())));
    }
    let source = CellSource(OpenCells::Volumes(head.path.clone(), element.bytes, vec![LeafSource { leaf, found }]));
    Ok(OpenedArray {
        shape,
        order: None,
        metadata,
        fingerprint: head.fingerprint(),
        cells: CellAccess::OneFile(source),
    })
}

fn from_vti(
    head: &Head,
    element: &ElementInfo,
    axes: usize,
    array: Option<&str>,
) -> std::result::Result<OpenedArray, IoError> {
    let document = read_vti(head)?;
    let wanted = wanted_leaves(&head.path, element, array)?;
    let mut metadata = document.frame.metadata();
    let mut parts = Vec::new();
    for leaf in wanted {
        let name = vti::choose_array(head, &document, Some(&*leaf.name).filter(|name| !name.is_empty()))?;
        let found = vti::describe_array(head, &document, Some(&name))?;
        check_type(&head.path, &format!("its array {}", quoted(&name)), &found.grid, &leaf)?;
        metadata.name.get_or_insert(name);
        parts.push(LeafSource { leaf, found });
    }
    document.notes.add_to(&head.path, &mut metadata)?;
    let shape = remove_trailing_axes(&head.path, &parts[0].found.grid.shape, axes, &mut metadata)?;
    let cells = CellAccess::OneFile(CellSource(OpenCells::Volumes(head.path.clone(), element.bytes, parts)));
    Ok(OpenedArray { shape, order: None, metadata, fingerprint: head.fingerprint(), cells })
}

fn from_pvti(
    head: Head,
    element: &ElementInfo,
    axes: usize,
    array: Option<&str>,
    checks_file: impl Fn(usize) -> bool,
) -> std::result::Result<OpenedArray, IoError> {
    let index = read_pvti(&head)?;
    let mut metadata = index.frame.metadata();
    let (mut leaves, mut shape) = (wanted_leaves(&head.path, element, array)?, Index::zeros(3));
    for leaf in &mut leaves {
        let array = index.array(&head, Some(&*leaf.name).filter(|name| !name.is_empty()))?;
        let grid = index.grid(&head, array)?;
        check_type(&head.path, &format!("its array {}", quoted(&array.name)), &grid, leaf)?;
        metadata.name.get_or_insert_with(|| array.name.clone());
        index.open(&head, array, |number, _| checks_file(number))?;
        leaf.name.clone_from(&array.name);
        shape = grid.shape;
    }
    index.notes.add_to(&head.path, &mut metadata)?;
    let shape = remove_trailing_axes(&head.path, &shape, axes, &mut metadata)?;
    let fingerprint = head.fingerprint();
    Ok(OpenedArray {
        shape,
        order: None,
        metadata,
        fingerprint,
        cells: CellAccess::PieceFiles(head, index, element.bytes, leaves),
    })
}

pub(super) fn read_vti(head: &Head) -> std::result::Result<Document, IoError> {
    check_xml(head).and_then(|()| Document::read(head))
}

pub(super) fn read_pvti(head: &Head) -> std::result::Result<PieceIndex, IoError> {
    check_xml(head).and_then(|()| PieceIndex::read(head))
}

fn check_xml(head: &Head) -> std::result::Result<(), IoError> {
    if vti::recognises(head) {
        return Ok(());
    }
    Err(IoError::malformed(&head.path, 0, "not a file of VTK's in XML, which begins with <?xml or <VTKFile"))
}

/// Leaves of the cells: one per field of a record, else the named array.
fn wanted_leaves(path: &Path, element: &ElementInfo, array: Option<&str>) -> std::result::Result<Vec<Leaf>, IoError> {
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

fn check_type(path: &Path, what: &str, grid: &VoxelLayout, leaf: &Leaf) -> std::result::Result<(), IoError> {
    if (grid.kind, grid.components) == (leaf.kind, leaf.components) {
        return Ok(());
    }
    let type_name = |kind, components| match components {
        1 => format!("{kind}"),
        _ => format!("{components} {kind}"),
    };
    let (found, wanted) = (type_name(grid.kind, grid.components), type_name(leaf.kind, leaf.components));
    Err(IoError::request(path, format!("{what} holds {found} a cell, and {wanted} was asked for")))
}

/// Removes last axes of one cell from shape and metadata: VTK images always have three axes.
fn remove_trailing_axes(
    path: &Path,
    shape: &Index,
    axes: usize,
    metadata: &mut Metadata,
) -> std::result::Result<Index, IoError> {
    if axes > shape.axes() || shape[axes..].iter().any(|&extent| extent != 1) {
        let message = format!("holds an array of {shape}, which cannot be one of {axes} axes");
        return Err(IoError::request(path, message));
    }
    // Positions of removed axes stay.
    metadata.further_origin = metadata.axes.drain(axes.min(metadata.axes.len())..).map(|axis| axis.origin).collect();
    metadata.directions.iter_mut().for_each(|all| all.truncate(axes));
    *metadata = std::mem::take(metadata).in_smallest_space(axes);
    Ok(Index::new(&shape[..axes]))
}

fn add_trailing_axes(region: &Region, axes: usize) -> Region {
    let (present, start, end) = (region.axes(), region.start, region.end);
    Region::between(
        Index::from_fn(axes, |axis| if axis < present { start[axis] } else { 0 }),
        Index::from_fn(axes, |axis| if axis < present { end[axis] } else { 1 }),
    )
}

impl CellSource {
    /// True if any box can be read without the bytes before it.
    pub fn is_random(&self) -> bool {
        let is_random = |part: &LeafSource| {
            let mut all = part.found.subvolumes.iter();
            all.all(|subvolume| matches!(subvolume.segment.encoding, Encoding::Raw | Encoding::Zlib(_)))
        };
        match &self.0 {
            OpenCells::Plain(_) => true,
            // Records are read field by field.
            OpenCells::Volumes(_, _, parts) => parts.len() > 1 || parts.iter().all(is_random),
        }
    }

    /// Reads the cells of non-overlapping boxes; passes each box, by its index, to `each` as soon
    /// as it is complete. `values` is a reusable buffer.
    ///
    /// # Errors
    /// The file cannot be read; the errors of `each`.
    #[track_caller]
    pub fn read(
        &mut self,
        boxes: &[Region],
        values: &mut Vec<u8>,
        each: &mut dyn FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        match &mut self.0 {
            OpenCells::Plain(plain) => boxes.iter().enumerate().try_for_each(|(number, wanted)| {
                plain.read(wanted, values)?;
                each(number, values)
            }),
            OpenCells::Volumes(path, element_bytes, parts) => {
                let axes = parts[0].found.grid.shape.axes();
                let boxes: Vec<Region> = boxes.iter().map(|region| add_trailing_axes(region, axes)).collect();
                match &parts[..] {
                    [part] => part.found.read_boxes(path, &boxes, |number, cells: Vec<u8>| each(number, &cells)),
                    parts => boxes.iter().enumerate().try_for_each(|(number, wanted)| {
                        read_records(path, parts, wanted, (*element_bytes, values))?;
                        each(number, values)
                    }),
                }
            }
        }
    }
}

fn read_records(
    path: &Path,
    parts: &[LeafSource],
    wanted: &Region,
    (element_bytes, values): (usize, &mut Vec<u8>),
) -> Result<()> {
    values.resize(wanted.cells() as usize * element_bytes, 0);
    for LeafSource { leaf, found } in parts {
        found.read_boxes(path, std::slice::from_ref(wanted), |_, bytes: Vec<u8>| -> Result<()> {
            let numbers = bytes.chunks_exact(leaf.bytes());
            let targets = values.chunks_exact_mut(element_bytes).map(|cell| &mut cell[leaf.offset..]);
            targets.zip(numbers).for_each(|(target, number)| target[..number.len()].copy_from_slice(number));
            Ok(())
        })?;
    }
    Ok(())
}
