//! STL in text: words without regard to case, separated by any white space.

use std::collections::VecDeque;

use zippy_files::{quoted, shown};

use super::super::Mesh;
use super::super::faces::Faces;
use super::super::positions::floats;
use super::super::source::{MeshSource, Word};
use crate::IoError;

pub(super) fn recognises(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let begins = text.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    begins && !head.contains(&0)
}

pub(super) fn read(source: MeshSource<'_>) -> Result<Mesh, IoError> {
    let mut facets = FacetReader {
        source,
        lookahead: VecDeque::new(),
        mesh: Mesh { normals: Some(Vec::new()), ..Mesh::default() },
        positions: Vec::new(),
        faces: Faces::default(),
    };
    let mut solids = 0;
    while let Some(word) = facets.source.word()? {
        let word = if solids == 0 { word.without_mark() } else { word };
        facets.check_word(word, "solid")?;
        facets.solid()?;
        solids += 1;
    }
    let FacetReader { source, mut mesh, positions, faces, .. } = facets;
    (mesh.positions, mesh.origin) = floats(&positions);
    mesh.triangles = faces.into_triangles(&mesh.positions, source.path)?;
    Ok(mesh)
}

struct FacetReader<'a> {
    source: MeshSource<'a>,
    /// Words that have been read and come next.
    lookahead: VecDeque<Word>,
    mesh: Mesh,
    positions: Vec<[f64; 3]>,
    faces: Faces,
}

impl FacetReader<'_> {
    /// Reads the facets between `solid` and `endsolid`, which may be on the same line.
    fn solid(&mut self) -> Result<(), IoError> {
        let mut has_facets = self.skip_name()?;
        loop {
            let word = match self.word()? {
                Some(word) => word,
                None if has_facets => {
                    let path = shown(self.source.path);
                    self.mesh
                        .notes
                        .push(format!("{path} ends without endsolid; if it is truncated, facets are missing"));
                    return Ok(());
                }
                None => self.expect_word("facet or endsolid")?,
            };
            if !word.is("endsolid") {
                self.facet(word)?;
                has_facets = true;
            } else if !self.skip_name()? {
                return Ok(());
            }
        }
    }

    /// Skips a name, which is the rest of the line with any content; true if a facet begins in the
    /// line.
    fn skip_name(&mut self) -> Result<bool, IoError> {
        let mut last: VecDeque<Word> = VecDeque::new();
        while let Some(word) = self.source.word_of_line()? {
            last.push_back(word);
            if last.len() > 3 {
                last.pop_front();
            }
            let [Some(first), Some(second), Some(third)] = [0, 1, 2].map(|at| last.get(at)) else { continue };
            let is_normal = second.is("normal") && third.text.parse::<f32>().is_ok();
            if first.is("facet") && (is_normal || second.is("outer") && third.is("loop")) {
                self.lookahead = last;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn word(&mut self) -> Result<Option<Word>, IoError> {
        match self.lookahead.pop_front() {
            Some(word) => Ok(Some(word)),
            None => self.source.word(),
        }
    }

    fn facet(&mut self, word: Word) -> Result<(), IoError> {
        let at = word.at;
        self.check_word(word, "facet")?;
        let mut word = self.expect_word("normal or outer")?;
        let mut normal = [0.0; 3];
        if word.is("normal") {
            for part in &mut normal {
                // Writers put "nan" or "-nan(ind)" for a facet without area.
                let word = self.expect_word("a number of the normal")?;
                *part = word.text.parse::<f32>().ok().filter(|part| part.is_finite()).unwrap_or(0.0);
            }
            word = self.expect_word("outer")?;
        }
        self.check_word(word, "outer")?;
        let word = self.expect_word("loop")?;
        self.check_word(word, "loop")?;
        let mut corners = Vec::new();
        loop {
            let word = self.expect_word("vertex or endloop")?;
            if word.is("endloop") {
                break;
            }
            self.check_word(word, "vertex")?;
            let mut position = [0.0; 3];
            for part in &mut position {
                let word = self.expect_word("a coordinate")?;
                let wrong = || IoError::malformed(self.source.path, word.at, word.wrong("a number"));
                *part = word.text.parse().map_err(|_| wrong())?;
            }
            corners.push(self.positions.len() as u64);
            self.positions.push(position);
            self.mesh.normals.get_or_insert_default().push(normal);
        }
        let word = self.expect_word("endfacet")?;
        self.check_word(word, "endfacet")?;
        if corners.len() < 3 {
            return self.source.malformed(at, format!("a facet of {} corners; it has at least 3", corners.len()));
        }
        self.faces.push(&corners, at);
        Ok(())
    }

    fn expect_word(&mut self, wanted: &str) -> Result<Word, IoError> {
        match self.word()? {
            Some(word) => Ok(word),
            None => {
                let message = format!("the file ends where {wanted} is expected; it is truncated");
                self.source.malformed(self.source.length, message)
            }
        }
    }

    fn check_word(&self, word: Word, wanted: &str) -> Result<(), IoError> {
        if word.is(wanted) { Ok(()) } else { self.source.malformed(word.at, word.wrong(&quoted(wanted))) }
    }
}
