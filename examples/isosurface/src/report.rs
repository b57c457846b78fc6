//! Report of a surface.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use zippy_isosurface::{Mesh, Statistics};

use crate::options::Options;
use crate::units::Level;

/// Line of the report about the picture, as text or as JSON.
pub(crate) fn picture(options: &Options, path: &Path, secs: f64) -> String {
    if options.json {
        json!({ "picture": path.display().to_string(), "render_secs": secs }).to_string()
    } else {
        format!("{} rendered in {:.1} ms", path.display(), 1e3 * secs)
    }
}

pub(crate) struct Report {
    pub isovalue: Level,
    /// Label of the surface, with `--label`.
    pub label: Option<i64>,
    pub shape: [i64; 3],
    pub ranks: usize,
    /// Time to build the tree over bricks, for all surfaces.
    pub prepare_secs: f64,
    /// Time to extract all surfaces together.
    pub extract_secs: f64,
    /// Number of surfaces extracted together.
    pub extracted_together: usize,
    pub vertices: u64,
    pub interior_vertices: u64,
    pub triangles: u64,
    /// Smallest and largest value of the field, if there are no triangles.
    pub values: Option<[f64; 2]>,
    pub verified: Option<Statistics>,
    /// Bounding box of the surface in space, with `--verify`.
    pub bounds: Option<[[f64; 3]; 2]>,
    /// Output file and seconds to write it, with `--output`.
    pub written: Option<(PathBuf, f64)>,
}

impl Report {
    pub(crate) fn new(mesh: &Mesh, isovalue: Level, shape: [i64; 3], ranks: usize, secs: [f64; 2]) -> Self {
        Self {
            isovalue,
            label: None,
            shape,
            ranks,
            prepare_secs: secs[0],
            extract_secs: secs[1],
            extracted_together: 1,
            vertices: mesh.vertices(),
            interior_vertices: mesh.interior_vertices(),
            triangles: mesh.triangle_count(),
            values: None,
            verified: None,
            bounds: None,
            written: None,
        }
    }

    fn megavoxels_per_sec(&self, secs: f64) -> f64 {
        self.shape.iter().map(|&n| n as f64).product::<f64>() / secs / 1e6
    }

    /// The report as a JSON object on one line.
    pub(crate) fn json(&self) -> String {
        let mut all = Map::new();
        let mut put = |name: &str, value: Value| all.insert(name.into(), value);
        match self.label {
            Some(label) => put("label", json!(label)),
            None => put("isovalue", self.isovalue.json()),
        };
        put("shape", json!(self.shape));
        put("ranks", json!(self.ranks));
        put("prepare_secs", json!(self.prepare_secs));
        put("extract_secs", json!(self.extract_secs));
        if self.extracted_together > 1 {
            put("extracted_together", json!(self.extracted_together));
        }
        put("vertices", json!(self.vertices));
        put("interior_vertices", json!(self.interior_vertices));
        put("triangles", json!(self.triangles));
        if let Some(values) = self.values {
            put("values", json!(values));
        }
        if let Some(found) = &self.verified {
            put("edges", json!(found.edges));
            put("euler", json!(found.euler));
            put("components", json!(found.components));
            put("open_edges", json!(found.open_edges));
            put("nonmanifold_edges", json!(found.nonmanifold_edges));
            put("area", json!(found.area));
            put("volume", json!(found.volume));
            put("bounds", json!(self.bounds));
        }
        if let Some((path, secs)) = &self.written {
            put("output", json!(path.display().to_string()));
            put("write_secs", json!(secs));
        }
        Value::Object(all).to_string()
    }

    pub(crate) fn text(&self) -> String {
        let [x, y, z] = self.shape;
        let mut text = format!(
            "{}: {} triangles, {} vertices, {} of them inside cells\n  \
             {} in {:.1} ms, {:.0} Mvoxel/s; tree of {x} x {y} x {z} samples in {:.1} ms, {:.0} Mvoxel/s",
            self.label.map_or_else(|| format!("isovalue {}", self.isovalue), |label| format!("label {label}")),
            self.triangles,
            self.vertices,
            self.interior_vertices,
            if self.extracted_together > 1 {
                format!("{} surfaces extracted", self.extracted_together)
            } else {
                "extracted".into()
            },
            1e3 * self.extract_secs,
            self.megavoxels_per_sec(self.extract_secs),
            1e3 * self.prepare_secs,
            self.megavoxels_per_sec(self.prepare_secs),
        );
        match self.values {
            _ if self.triangles > 0 => {}
            Some([_, greatest]) if self.label.is_some() && greatest == 0.0 => {
                text += "\n  no surface: no sample has this label";
            }
            Some([_, _]) if self.label.is_some() => {
                text += "\n  no surface: all samples have this label; --pad adds a layer of others";
            }
            Some([least, greatest]) => {
                text += &format!("\n  no surface: the values of the field are from {least} to {greatest}");
            }
            None => text += "\n  no surface: all values of the field are NaN",
        }
        if let Some(found) = &self.verified {
            text += &format!(
                "\n  Euler characteristic {}, {} components, {} open and {} non-manifold edges of {}\n  area {}, volume {}",
                found.euler,
                found.components,
                found.open_edges,
                found.nonmanifold_edges,
                found.edges,
                found.area,
                found.volume,
            );
        }
        if let Some((path, secs)) = &self.written {
            text += &format!("\n  {} written in {:.1} ms", path.display(), 1e3 * secs);
        }
        text
    }
}
