use std::path::Path;
use std::str::SplitAsciiWhitespace;

use zippy_files::quoted;

use super::Mesh;
use super::faces::Faces;
use super::positions::floats;
use super::source::{Line, MeshSource};
use crate::IoError;
use crate::mesh::obj::COMMENT;

/// Ignored statements: texture coordinates, groups, points and lines, materials and attributes of
/// curves.
const IGNORED: [&str; 40] = [
    "vt",
    "vp",
    "vc",
    "g",
    "o",
    "s",
    "mg",
    "l",
    "p",
    "usemtl",
    "mtllib",
    "newmtl",
    "usemap",
    "maplib",
    "lod",
    "bevel",
    "shadow_obj",
    "trace_obj",
    "c_interp",
    "d_interp",
    "ctech",
    "stech",
    "cstype",
    "deg",
    "bmat",
    "step",
    "parm",
    "trim",
    "hole",
    "scrv",
    "sp",
    "end",
    "con",
    "curv",
    "curv2",
    "csh",
    "call",
    "hstep",
    "group",
    "object",
];

/// Statements of surfaces without faces, which are refused.
const SURFACES: [&str; 5] = ["surf", "bzp", "bsp", "cdp", "cdc"];

struct ObjReader<'a> {
    source: MeshSource<'a>,
    positions: Vec<[f64; 3]>,
    normals: Vec<[f32; 3]>,
    faces: Faces,
    /// Largest index of a vertex that is not defined yet: byte of the line, and index.
    undefined_vertex: Option<(u64, u64)>,
    /// The same for normals.
    undefined_normal: Option<(u64, u64)>,
    /// True if a corner has no normal, or one with another index than its vertex.
    has_other_normals: bool,
    corners: Vec<u64>,
}

pub(super) fn read(path: &Path) -> Result<Mesh, IoError> {
    let source = MeshSource::open(path)?;
    let mut lines = ObjReader {
        source,
        positions: Vec::new(),
        normals: Vec::new(),
        faces: Faces::default(),
        undefined_vertex: None,
        undefined_normal: None,
        has_other_normals: false,
        corners: Vec::new(),
    };
    let mut counts = None;
    let mut closed = true;
    while let Some(line) = lines.statement()? {
        if let Some(text) = line.text.strip_prefix(COMMENT).filter(|_| line.at == 0) {
            counts = Some(text.to_string());
        }
        closed = line.closed;
        lines.read_statement(&line)?;
    }
    lines.complete(counts.as_deref(), closed)?;
    let ObjReader { source, positions, normals, faces, has_other_normals, .. } = lines;
    let (positions, origin) = floats(&positions);
    let triangles = faces.into_triangles(&positions, source.path)?;
    // A mesh has normals per vertex, not per corner.
    let is_of_vertices = !normals.is_empty() && normals.len() == positions.len() && !has_other_normals;
    Ok(Mesh { origin, positions, normals: is_of_vertices.then_some(normals), triangles, ..Mesh::default() })
}

impl ObjReader<'_> {
    /// Reads the next line, joined with the following ones while a line ends with a backslash.
    fn statement(&mut self) -> Result<Option<Line>, IoError> {
        let Some(mut line) = self.source.line()? else { return Ok(None) };
        let is_comment = line.text.trim_start().starts_with('#');
        while !is_comment && line.text.ends_with('\\') {
            line.text.pop();
            line.text.push(' ');
            let Some(more) = self.source.line()? else { break };
            line.text += &more.text;
            (line.closed, line.strange) = (more.closed, line.strange.or(more.strange));
        }
        Ok(Some(line))
    }

    fn read_statement(&mut self, line: &Line) -> Result<(), IoError> {
        let text = if line.at == 0 { line.text.trim_start_matches('\u{feff}') } else { &line.text };
        let mut words = text.split_ascii_whitespace();
        let first = words.next();
        if matches!(first, Some("v" | "vn" | "f" | "fo")) {
            self.source.demand_text(line)?;
        }
        match first {
            Some("v") => {
                let position = self.vector(line, words)?;
                self.positions.push(position);
            }
            Some("vn") => {
                let normal = self.vector(line, words)?;
                self.normals.push(normal.map(|part| part as f32));
            }
            Some("f" | "fo") => self.face(line, words)?,
            None => {}
            Some(word) if word.starts_with('#') || IGNORED.contains(&word) => {}
            Some(word) if SURFACES.contains(&word) => {
                let message = format!("a surface of {}; faces are read (convert it to polygons)", quoted(word));
                return Err(IoError::unsupported(self.source.path, line.at, message));
            }
            Some(word) => {
                let message =
                    format!("a line of {}; v, vn and f are read, vt, groups and materials dropped", quoted(word));
                return self.source.malformed(line.at, message);
            }
        }
        Ok(())
    }

    /// Parses three numbers; a weight or a colour may follow.
    fn vector(&self, line: &Line, words: SplitAsciiWhitespace<'_>) -> Result<[f64; 3], IoError> {
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

    fn face(&mut self, line: &Line, words: SplitAsciiWhitespace<'_>) -> Result<(), IoError> {
        let mut corners = std::mem::take(&mut self.corners);
        corners.clear();
        for word in words.take_while(|word| !word.starts_with('#')) {
            corners.push(self.corner(line, word)?);
        }
        self.faces.push(&corners, line.at);
        self.corners = corners;
        Ok(())
    }

    /// Parses one of `1`, `1/2`, `1//3` and `1/2/3`; numbers after a slash may be missing.
    fn corner(&mut self, line: &Line, word: &str) -> Result<u64, IoError> {
        let wrong =
            || IoError::malformed(self.source.path, line.at, format!("{} is no corner of a face", quoted(word)));
        // Negative numbers count back from the latest definition.
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
        let normal = match normal.filter(|text| !text.is_empty()) {
            Some(text) => Some(number(text, self.normals.len())?),
            None => None,
        };
        self.has_other_normals |= normal != Some(vertex);
        if let Some(normal) = normal.filter(|&normal| normal >= self.normals.len() as u64)
            && self.undefined_normal.is_none_or(|(_, most)| normal > most)
        {
            self.undefined_normal = Some((line.at, normal));
        }
        if vertex >= self.positions.len() as u64 && self.undefined_vertex.is_none_or(|(_, most)| vertex > most) {
            self.undefined_vertex = Some((line.at, vertex));
        }
        Ok(vertex)
    }

    fn complete(&self, counts: Option<&str>, closed: bool) -> Result<(), IoError> {
        let (vertices, triangles, end) = (self.positions.len(), self.faces.count(), self.source.length);
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
        let (normals, beyond) =
            (self.normals.len(), [(self.undefined_vertex, vertices), (self.undefined_normal, self.normals.len())]);
        match beyond.map(|(undefined_vertex, count)| undefined_vertex.filter(|&(_, number)| number >= count as u64)) {
            [Some((at, vertex)), _] => {
                let message = format!("a corner names vertex {}; there are {vertices}", vertex + 1);
                self.source.malformed(at, message)
            }
            [None, Some((at, normal))] => {
                let message = format!("a corner names normal {}; there are {normals}", normal + 1);
                self.source.malformed(at, message)
            }
            [None, None] => Ok(()),
        }
    }
}
