//! OBJ.

use std::path::Path;
use std::str::SplitAsciiWhitespace;

use super::Mesh;
use super::source::{Line, Source};
use crate::mesh::obj::COMMENT;
use crate::{IoError, quoted};

/// Lines that say nothing about vertices and triangles.
const DROPPED: [&str; 15] =
    ["vt", "vp", "g", "o", "s", "mg", "l", "p", "usemtl", "mtllib", "usemap", "maplib", "lod", "bevel", "shadow_obj"];

/// What has been read.
struct Lines<'a> {
    source: Source<'a>,
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    triangles: Vec<[u64; 3]>,
    /// The byte of a line of a vertex that there is only further down, and its number; the largest one.
    ahead: Option<(u64, u64)>,
    /// Whether corners have normals, and the byte of the first line that says so.
    with_normals: Option<(bool, u64)>,
}

pub fn read(path: &Path) -> Result<Mesh, IoError> {
    let source = Source::open(path)?;
    let (positions, normals, triangles) = Default::default();
    let mut lines = Lines { source, positions, normals, triangles, ahead: None, with_normals: None };
    let mut counts = None;
    let mut closed = true;
    while let Some(line) = lines.source.line()? {
        if let Some(text) = line.text.strip_prefix(COMMENT).filter(|_| line.at == 0) {
            counts = Some(text.to_string());
        }
        closed = line.closed;
        lines.take(&line)?;
    }
    lines.complete(counts.as_deref(), closed)?;
    let Lines { positions, normals, triangles, with_normals, .. } = lines;
    let normals = Some(normals).filter(|normals| !normals.is_empty() || with_normals.is_some_and(|(some, _)| some));
    Ok(Mesh { positions, normals, fields: Vec::new(), triangles })
}

impl Lines<'_> {
    fn take(&mut self, line: &Line) -> Result<(), IoError> {
        let mut words = line.text.split_ascii_whitespace();
        match words.next() {
            Some("v") => {
                let position = self.vector(line, words)?;
                self.positions.push(position);
            }
            Some("vn") => {
                let normal = self.vector(line, words)?;
                self.normals.push(normal);
            }
            Some("f") => {
                let triangle = self.triangle(line, words)?;
                self.triangles.push(triangle);
            }
            None => {}
            Some(word) if word.starts_with('#') || DROPPED.contains(&word) => {}
            Some(word) => {
                let message =
                    format!("a line of {}; v, vn and f are read, vt, groups and materials dropped", quoted(word));
                return self.source.malformed(line.at, message);
            }
        }
        Ok(())
    }

    /// Three numbers; a weight or a colour may follow.
    fn vector(&self, line: &Line, words: SplitAsciiWhitespace) -> Result<[f32; 3], IoError> {
        let mut found = [0.0; 3];
        let mut words = words.map(|word| word.parse().map_err(|_| quoted(word)));
        for part in &mut found {
            *part = match words.next() {
                Some(Ok(number)) => number,
                Some(Err(word)) => return self.source.malformed(line.at, format!("{word} is not a number")),
                None => return self.source.malformed(line.at, "the line has fewer than three numbers"),
            };
        }
        Ok(found)
    }

    fn triangle(&mut self, line: &Line, words: SplitAsciiWhitespace) -> Result<[u64; 3], IoError> {
        let words: Vec<&str> = words.collect();
        let &[a, b, c] = &words[..] else {
            let message = format!("a face of {} corners; triangles are read", words.len());
            return Err(IoError::unsupported(self.source.path, line.at, message));
        };
        let mut triangle = [0; 3];
        for (vertex, word) in triangle.iter_mut().zip([a, b, c]) {
            *vertex = self.corner(line, word)?;
        }
        Ok(triangle)
    }

    /// One of `1`, `1/2`, `1//3` and `1/2/3`.
    fn corner(&mut self, line: &Line, word: &str) -> Result<u64, IoError> {
        let wrong =
            || IoError::malformed(self.source.path, line.at, format!("{} is no corner of a face", quoted(word)));
        // Negative numbers count back from the last line before.
        let number = |text: &str, count: usize| match text.parse::<i64>() {
            Ok(0) | Err(_) => Err(wrong()),
            Ok(number) if number > 0 => Ok(number as u64 - 1),
            Ok(number) => (count as u64).checked_sub(number.unsigned_abs()).ok_or_else(wrong),
        };
        let parts: Vec<&str> = word.split('/').collect();
        let (vertex, normal) = match parts[..] {
            [vertex] | [vertex, _] => (vertex, None),
            [vertex, _, normal] => (vertex, Some(normal)),
            _ => return Err(wrong()),
        };
        let vertex = number(vertex, self.positions.len())?;
        let normal = normal.map(|text| number(text, self.normals.len())).transpose()?;
        if normal.is_some_and(|normal| normal != vertex) {
            let message =
                format!("the corner {} has a normal of another number; one normal a vertex is read", quoted(word));
            return Err(IoError::unsupported(self.source.path, line.at, message));
        }
        let (some, at) = *self.with_normals.get_or_insert((normal.is_some(), line.at));
        if some != normal.is_some() {
            let message = format!("some corners have normals and others none: compare the line at byte {at}");
            return Err(IoError::unsupported(self.source.path, line.at, message));
        }
        if vertex >= self.positions.len() as u64 && self.ahead.is_none_or(|(_, most)| vertex > most) {
            self.ahead = Some((line.at, vertex));
        }
        Ok(vertex)
    }

    /// Whether all of it is there.
    fn complete(&self, counts: Option<&str>, closed: bool) -> Result<(), IoError> {
        let (vertices, triangles, end) = (self.positions.len(), self.triangles.len(), self.source.length);
        let found = format!("{vertices} vertices and {triangles} triangles");
        match counts {
            Some(counts) if counts != found => {
                let message = format!("the file has {found}; its first line says {}", quoted(counts));
                return self.source.malformed(end, message);
            }
            Some(_) if !closed => {
                return self.source.malformed(end, "the last line does not end; the file is truncated");
            }
            None if vertices == 0 => {
                return self.source.malformed(end, "there is no v line: the file is no OBJ of a mesh");
            }
            _ => {}
        }
        let normals = self.normals.len();
        if normals != vertices && (normals > 0 || self.with_normals.is_some_and(|(some, _)| some)) {
            let message = format!("{normals} normals for {vertices} vertices; one normal a vertex is read");
            return Err(IoError::unsupported(self.source.path, end, message));
        }
        match self.ahead {
            Some((at, vertex)) if vertex >= vertices as u64 => {
                let message = format!("a corner names vertex {}; there are {vertices}", vertex + 1);
                self.source.malformed(at, message)
            }
            _ => Ok(()),
        }
    }
}
