//! Case of a run with its solids, units and warnings.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use zippy::{Error, Result, World};
use zippy_lbm::case_file::{BodyFile, CaseFile, Probe};
use zippy_lbm::cases::Case;
use zippy_lbm::solids::VoxelizationBox;
use zippy_lbm::{Units, VelocitySet};

use crate::inputs::SolidSource;
use crate::setup::Setup;
use crate::solid;

/// Maximum fraction of the cross-section of a stream that a solid may fill without a warning.
const MAX_BLOCKAGE: f64 = 0.2;

/// Case of a run, ready to start.
pub(crate) struct PreparedCase {
    pub case: Case,
    /// Name of the case for reports.
    pub title: String,
    /// Physical units, if the case has them.
    pub units: Option<Units>,
    pub probes: Vec<Probe>,
    /// Steps between lines of tables, from the case file.
    pub table_interval: Option<u64>,
    /// Warnings in addition to those of the case.
    pub warnings: Vec<String>,
    /// Paths of the files of the solids.
    pub files: Vec<PathBuf>,
}

impl PreparedCase {
    /// Reads solids and builds the case. Collective.
    pub(crate) fn new(world: &World, setup: &Setup) -> Result<Self> {
        let mut prepared = match &setup.text {
            Some(text) => Self::from_case_file(world, setup, text),
            None => Self::from_case_name(world, setup),
        }?;
        let is_reported = prepared.warnings.iter().any(|warning| warning.contains("no side has a pressure"));
        // Only rank 0 reports warnings.
        if !is_reported && world.rank() == 0 {
            prepared.warnings.extend(prepared.case.problem.closed_region_warning());
        }
        Ok(prepared)
    }

    fn from_case_name(world: &World, setup: &Setup) -> Result<Self> {
        let mut case_options = setup.case_options();
        if let Some(source) = &setup.solid {
            if setup.case != "object" {
                let message = format!("--solid is for the case object, not for {}", setup.case);
                return Err(Error::program(message));
            }
            let shape = solid::open_shape(world, source)?;
            let placement = case_options.placement(&*shape, source.size);
            let voxelization_box = VoxelizationBox {
                is_plane: case_options.set == Some(VelocitySet::D2Q9),
                thicken: source.thicken,
                ..case_options.stream_extents().into()
            };
            let solid = shape.voxelize(world, &placement, &voxelization_box);
            case_options.solid =
                Some(solid.map_err(|error| Error::program(format!("{}: {error}", source.file.display())))?);
        }
        let case = Case::by_name(&setup.case, &case_options).map_err(|error| match setup.case.as_str() {
            "object" if case_options.solid.is_none() => Error::program(format!("{error}: --solid FILE")),
            _ => error.into(),
        })?;
        let units = setup.physical.map(|physical| physical.units(case.length, case.speed));
        let title = case.name.to_owned();
        let [_, y, z] = case_options.stream_extents().map(|n| n as f64);
        let blockage = case_options.solid.map_or(0.0, |solid| solid.shadow_area(0) as f64 / (y * z));
        let warning = (blockage > MAX_BLOCKAGE).then(|| {
            format!(
                "the solid covers {:.0}% of the cross-section, so that the sides affect the flow; use more cells around it",
                100.0 * blockage
            )
        });
        let warnings = warning.into_iter().collect();
        let files = setup.solid.iter().map(|source| source.file.clone()).collect();
        Ok(Self { case, title, units, probes: Vec::new(), table_interval: None, warnings, files })
    }

    fn from_case_file(world: &World, setup: &Setup, text: &str) -> Result<Self> {
        let with_file = |error: &dyn std::fmt::Display| Error::program(format!("{}: {error}", setup.case));
        for (is_given, name) in [
            (setup.n != [0; 3], "--n"),
            (setup.lattice.is_some(), "--lattice"),
            (setup.collision.is_some(), "--collision"),
            (setup.smagorinsky.is_some(), "--smagorinsky"),
            (setup.solid.is_some(), "--solid"),
            (setup.physical.is_some(), "--length"),
        ] {
            if is_given {
                return Err(with_file(&format!("{name} is for named cases; the file contains this value")));
            }
        }
        let described = CaseFile::parse(text).map_err(|error| with_file(&error))?;
        let folder = Path::new(&setup.case).parent().unwrap_or(Path::new("."));
        let files = RefCell::new(Vec::new());
        let load = |world: &World, source: &BodyFile| match source {
            BodyFile::Scan { file, above, below, axes } => {
                let (file, axes) = (folder.join(file), axes.clone());
                files.borrow_mut().push(file.clone());
                let source = SolidSource {
                    file,
                    above: Some(*above),
                    below: *below,
                    size: None,
                    raw: None,
                    axes,
                    thicken: false,
                };
                solid::open_scan(world, &source, *above)
            }
            BodyFile::Surface { file } => {
                let file = folder.join(file);
                files.borrow_mut().push(file.clone());
                solid::read_surface(world, &file)
            }
        };
        let case = described.build_case(world, &load)?;
        Ok(Self {
            case: setup.speed.map_or(case.clone(), |speed| case.with_speed(speed)),
            title: described.name().to_owned(),
            units: described.units(),
            probes: described.probes().to_vec(),
            table_interval: described.every(),
            warnings: described.warnings().to_vec(),
            files: files.into_inner(),
        })
    }
}
