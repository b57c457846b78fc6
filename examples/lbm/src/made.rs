//! A run's case, made from what the command line, a file or a checkpoint says.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use zippy::{Error, Result, World};
use zippy_lbm::cases::Case;
use zippy_lbm::described::{Described, Probe, Source};
use zippy_lbm::solids::Room;
use zippy_lbm::{Units, VelocitySet};

use crate::inputs::FromFile;
use crate::setup::Setup;
use crate::solid;

/// A solid that takes a larger part of a stream's cross-section feels its sides.
const CROWDED: f64 = 0.2;

/// A case with what else is known of it.
pub struct Made {
    pub case: Case,
    /// As a person calls it.
    pub title: String,
    /// Where it has physical numbers.
    pub units: Option<Units>,
    pub probes: Vec<Probe>,
    /// Steps from line to line of tables.
    pub line: Option<u64>,
    /// Beside those of the case.
    pub warnings: Vec<String>,
    /// Files of solids.
    pub files: Vec<PathBuf>,
}

impl Made {
    /// Collective.
    pub fn new(world: &World, setup: &Setup) -> Result<Self> {
        let mut made = match &setup.text {
            Some(text) => Self::described(world, setup, text),
            None => Self::named(world, setup),
        }?;
        let is_told = made.warnings.iter().any(|warning| warning.contains("no side has a pressure"));
        // Rank 0 reports it.
        if !is_told && world.rank() == 0 {
            made.warnings.extend(made.case.problem.closed_in());
        }
        Ok(made)
    }

    fn named(world: &World, setup: &Setup) -> Result<Self> {
        let mut choices = setup.choices();
        if let Some(from) = &setup.solid {
            if setup.case != "object" {
                let wrong = format!("--solid is for the case object, not for {}", setup.case);
                return Err(Error::program(wrong));
            }
            let shape = solid::shape(world, from)?;
            let placement = choices.placement(&*shape, from.size);
            let room = Room {
                is_plane: choices.set == Some(VelocitySet::D2Q9),
                thicken: from.thicken,
                ..choices.stream().into()
            };
            let made = shape.solid(world, &placement, &room);
            choices.solid = Some(made.map_err(|error| Error::program(format!("{}: {error}", from.file.display())))?);
        }
        let case = Case::named(&setup.case, &choices).map_err(|error| match setup.case.as_str() {
            "object" if choices.solid.is_none() => Error::program(format!("{error}: --solid FILE")),
            _ => error.into(),
        })?;
        let units = setup.physical.map(|physical| physical.units(case.length, case.speed));
        let title = case.name.to_owned();
        let [_, y, z] = choices.stream().map(|n| n as f64);
        let taken = choices.solid.map_or(0.0, |solid| solid.shadow(0) as f64 / (y * z));
        let warning = (taken > CROWDED).then(|| {
            format!(
                "the solid takes {:.0}% of the stream's width: its sides are near; take more cells around it",
                100.0 * taken
            )
        });
        let warnings = warning.into_iter().collect();
        let files = setup.solid.iter().map(|from| from.file.clone()).collect();
        Ok(Self { case, title, units, probes: Vec::new(), line: None, warnings, files })
    }

    fn described(world: &World, setup: &Setup, text: &str) -> Result<Self> {
        let place = |error: &dyn std::fmt::Display| Error::program(format!("{}: {error}", setup.case));
        for (given, name) in [
            (setup.n != [0; 3], "--n"),
            (setup.lattice.is_some(), "--lattice"),
            (setup.collision.is_some(), "--collision"),
            (setup.smagorinsky.is_some(), "--smagorinsky"),
            (setup.solid.is_some(), "--solid"),
            (setup.physical.is_some(), "--length"),
        ] {
            if given {
                return Err(place(&format!("{name} is for named cases; here the file says it")));
            }
        }
        let described = Described::parse(text).map_err(|error| place(&error))?;
        let folder = Path::new(&setup.case).parent().unwrap_or(Path::new("."));
        let files = RefCell::new(Vec::new());
        let load = |world: &World, source: &Source| match source {
            Source::Scan { file, above, below, axes } => {
                let (file, axes) = (folder.join(file), axes.clone());
                files.borrow_mut().push(file.clone());
                let above_this = Some(*above);
                let from =
                    FromFile { file, above: above_this, below: *below, size: None, raw: None, axes, thicken: false };
                solid::scan(world, &from, *above)
            }
            Source::Surface { file } => {
                let file = folder.join(file);
                files.borrow_mut().push(file.clone());
                solid::surface(world, &file)
            }
        };
        let case = described.case(world, &load)?;
        Ok(Self {
            case: setup.speed.map_or(case.clone(), |speed| case.driven(speed)),
            title: described.name().to_owned(),
            units: described.units(),
            probes: described.probes().to_vec(),
            line: described.every(),
            warnings: described.warnings().to_vec(),
            files: files.into_inner(),
        })
    }
}
