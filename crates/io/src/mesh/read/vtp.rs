//! Reader of VTK PolyData.

mod document;

use std::path::Path;

use zippy_files::quoted;

use super::Mesh;
use super::faces::Faces;
use super::positions::floats;
use crate::IoError;
use crate::head::Head;
use crate::scalar::{ScalarKind, swap_bytes, to_f32};
use crate::voxels::{decoded, tail};
use crate::vti::arrays::ArrayLocator;
use crate::vti::document::VtiArray;
use crate::vti::{big_endian, kind};
use document::{PolyData, VtpPiece};

pub(super) fn read(path: &Path) -> Result<Mesh, IoError> {
    let head = Head::read(path)?;
    let data = PolyData::read(&head)?;
    let mut numbers = ArrayReader { head: &head, data: &data, arrays: ArrayLocator::new(&head, &data.document)? };
    // The XML parser does not see the bytes after raw data.
    if data.document.appended.is_some() && !tail(path)?.trim_ascii_end().ends_with(b"</VTKFile>") {
        return Err(IoError::malformed(path, head.length, "the file goes on after </VTKFile>"));
    }
    let mut merged: Option<Mesh> = None;
    for piece in &data.pieces {
        let mesh = numbers.mesh(piece)?;
        match &mut merged {
            None => merged = Some(mesh),
            Some(merged) => {
                merged
                    .append(mesh)
                    .map_err(|wrong| IoError::malformed(path, piece.at, format!("the piece: {wrong}")))?;
            }
        }
    }
    merged.ok_or_else(|| IoError::malformed(path, 0, "the document has no Piece of PolyData"))
}

struct ArrayReader<'a> {
    head: &'a Head,
    data: &'a PolyData,
    arrays: ArrayLocator<'a>,
}

impl ArrayReader<'_> {
    fn mesh(&mut self, piece: &VtpPiece) -> Result<Mesh, IoError> {
        let all = self.data.arrays();
        let data = || piece.data.iter().map(|&number| &all[number]);
        let normals = data().find(|array| piece.normals.as_ref() == Some(&array.name) && array.components.value == 3);
        let normals = match normals {
            Some(array) => Some(self.vectors(array, piece.points)?),
            None => None,
        };
        let mut fields: Vec<(String, Vec<f32>)> = Vec::new();
        for array in data().filter(|array| array.components.value == 1) {
            if fields.iter().any(|(name, _)| *name == array.name) {
                return self.wrong(array.at, format!("array {} is there several times", quoted(&array.name)));
            }
            fields.push((array.name.clone(), self.floats(array, Some(piece.points))?));
        }
        let (positions, origin) = match piece.positions.map(|number| &all[number]) {
            Some(array) => self.positions(array, piece.points)?,
            None if piece.points == 0 => (Vec::new(), [0.0; 3]),
            None => return self.wrong(piece.at, "the piece has no array of Points".into()),
        };
        let mut faces = Faces::default();
        match (piece.connectivity, piece.offsets) {
            (Some(corners), Some(ends)) => {
                self.cells(piece, piece.polys, (&all[corners], &all[ends]), |corners, at| faces.push(corners, at))?;
            }
            _ if piece.polys == 0 => {}
            _ => return self.wrong(piece.at, "the Polys have no arrays of connectivity and offsets".into()),
        }
        match (piece.strip_connectivity, piece.strip_offsets) {
            (Some(corners), Some(ends)) => {
                self.cells(piece, piece.strips, (&all[corners], &all[ends]), |strip, _| faces.push_strip(strip))?;
            }
            _ if piece.strips == 0 => {}
            _ => return self.wrong(piece.at, "the Strips have no arrays of connectivity and offsets".into()),
        }
        let triangles = faces.into_triangles(&positions, &self.head.path)?;
        Ok(Mesh { origin, positions, normals, fields, triangles, notes: Vec::new() })
    }

    fn wrong<T>(&self, at: u64, message: String) -> Result<T, IoError> {
        Err(IoError::malformed(&self.head.path, at, message))
    }

    /// Numbers of an array in the machine's byte order.
    fn bytes(&mut self, array: &VtiArray, count: Option<u64>) -> Result<(ScalarKind, Vec<u8>), IoError> {
        let kind = kind(self.head, array.at, &array.kind)?;
        let big = big_endian(self.head, &self.data.document, array)?;
        let bytes =
            count.and_then(|count| count.checked_mul(kind.bytes())).filter(|&bytes| i64::try_from(bytes).is_ok());
        let Some(bytes) = bytes else {
            return self.wrong(array.at, format!("array {} has more bytes than fit 63 bits", quoted(&array.name)));
        };
        let segment = self.arrays.segment(array, kind, bytes)?;
        let mut bytes = decoded(&segment, kind)?;
        if big != cfg!(target_endian = "big") {
            swap_bytes(kind, &mut bytes);
        }
        Ok((kind, bytes))
    }

    fn floats(&mut self, array: &VtiArray, count: Option<u64>) -> Result<Vec<f32>, IoError> {
        let (kind, bytes) = self.bytes(array, count)?;
        Ok(to_f32(kind, &bytes))
    }

    /// Positions relative to an origin, and the origin.
    fn positions(&mut self, array: &VtiArray, count: u64) -> Result<(Vec<[f32; 3]>, [f64; 3]), IoError> {
        if array.components.value != 3 || kind(self.head, array.at, &array.kind)? != ScalarKind::F64 {
            return Ok((self.vectors(array, count)?, [0.0; 3]));
        }
        let (_, bytes) = self.bytes(array, count.checked_mul(3))?;
        let doubles: Vec<f64> = bytes.chunks_exact(8).map(bytemuck::pod_read_unaligned).collect();
        Ok(floats(doubles.as_chunks::<3>().0))
    }

    fn vectors(&mut self, array: &VtiArray, count: u64) -> Result<Vec<[f32; 3]>, IoError> {
        if array.components.value != 3 {
            let (name, components) = (quoted(&array.name), array.components.value);
            return self.wrong(array.at, format!("array {name} has {components} components; 3 are needed"));
        }
        Ok(self.floats(array, count.checked_mul(3))?.as_chunks::<3>().0.to_vec())
    }

    fn integers(&mut self, array: &VtiArray, count: Option<u64>) -> Result<Vec<i64>, IoError> {
        fn convert<T: bytemuck::Pod>(bytes: &[u8], f: impl Fn(T) -> i64) -> Vec<i64> {
            bytes.chunks_exact(size_of::<T>()).map(|bytes| f(bytemuck::pod_read_unaligned(bytes))).collect()
        }
        let (kind, bytes) = self.bytes(array, count)?;
        Ok(match kind {
            ScalarKind::I32 => convert::<i32>(&bytes, i64::from),
            ScalarKind::U32 => convert::<u32>(&bytes, i64::from),
            ScalarKind::I64 => convert::<i64>(&bytes, |value| value),
            ScalarKind::U64 => convert::<u64>(&bytes, |value| i64::try_from(value).unwrap_or(i64::MAX)),
            _ => {
                let message = format!("array {} of {kind}; integers of 32 or 64 bits are read", quoted(&array.name));
                return Err(IoError::unsupported(&self.head.path, array.at, message));
            }
        })
    }

    /// Calls `take` with the points of each cell and the byte of its element.
    fn cells(
        &mut self,
        piece: &VtpPiece,
        count: u64,
        (corners, ends): (&VtiArray, &VtiArray),
        mut take: impl FnMut(&[u64], u64),
    ) -> Result<(), IoError> {
        let cell_ends = self.integers(ends, Some(count))?;
        let mut last = 0;
        for (cell, &end) in cell_ends.iter().enumerate() {
            if end < last {
                let message = format!("cell {cell} ends at corner {end}, and the one before at {last}");
                return self.wrong(ends.at, message);
            }
            last = end;
        }
        let vertices = self.integers(corners, u64::try_from(last).ok())?;
        // Unsigned counts as i64 are at most i64::MAX.
        let points = piece.points as i64;
        let mut start = 0;
        let mut cell = Vec::new();
        for (number, &end) in cell_ends.iter().enumerate() {
            let all = &vertices[start..end as usize];
            if let Some(vertex) = all.iter().find(|vertex| !(0..points).contains(vertex)) {
                let message = format!("cell {number} names vertex {vertex}; the {points} points are counted from 0");
                return self.wrong(corners.at, message);
            }
            cell.clear();
            cell.extend(all.iter().map(|&vertex| vertex as u64));
            take(&cell, corners.at);
            start = end as usize;
        }
        Ok(())
    }
}
