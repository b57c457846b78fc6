//! Whole frames: division of their time, compared with the arithmetic of their samples and with
//! VTK.

use std::cell::RefCell;
use std::time::Instant;

use serde_json::json;
use zippy::Result;
use zippy::extents::Index;
use zippy::region::Region;
use zippy_io::image::difference_8bit;
use zippy_render::volume::{Frame, Look, Mode, RendererOptions, Shading, View, VolumeRenderer};

use super::super::common::{Contender, Run, Spread, contender};
use super::super::reference::vtk::{Scene, Vtk};
use super::limit::{arithmetic, visible_samples};
use super::subject::{Subject, subjects};

/// Pixels along each side of a picture of a scan.
const SIDE: u32 = 1024;
/// Pixels along each side of a picture in weak scaling.
const WEAK_SIDE: u32 = 512;

/// Voxels of a rank along each axis in weak scaling.
const WEAK: i64 = 128;

pub(crate) fn scans(run: &Run<'_>) -> Result<()> {
    for subject in subjects()? {
        for shading in [None, Some(Shading::default())] {
            for mode in [Mode::Reproducible, Mode::Fast] {
                let shading_name = if shading.is_some() { "shaded" } else { "unshaded" };
                let case = format!("frame of {}, {shading_name}, {}", subject.name, name(mode));
                frame(run, &case, &subject, &FrameSettings { shading, mode, side: SIDE })?;
            }
        }
    }
    Ok(())
}

/// Measures frames of a volume that grows with the number of ranks.
pub(crate) fn weak(run: &Run<'_>) -> Result<()> {
    let subject = Subject::phantom([WEAK, WEAK, WEAK * run.world.size() as i64]);
    for mode in [Mode::Reproducible, Mode::Fast] {
        let settings = FrameSettings { shading: None, mode, side: WEAK_SIDE };
        frame(run, &format!("weak scaling, {WEAK}^3 a rank, {}", name(mode)), &subject, &settings)?;
    }
    Ok(())
}

fn name(mode: Mode) -> &'static str {
    match mode {
        Mode::Reproducible => "reproducible",
        Mode::Fast => "fast",
    }
}

struct FrameSettings {
    shading: Option<Shading>,
    mode: Mode,
    side: u32,
}

#[derive(Clone, Copy)]
struct FrameSecs {
    total: f64,
    cast: f64,
    composite: f64,
}

fn frame(run: &Run<'_>, case: &str, subject: &Subject, settings: &FrameSettings) -> Result<()> {
    let &FrameSettings { shading, mode, side } = settings;
    let named = run.named(case);
    if !run.options.selects(&named) {
        return Ok(());
    }
    let world = run.world;
    let array = subject.array(world)?;
    let spacing = [1.0; 3];
    let renderer = VolumeRenderer::new(world, &array, spacing, RendererOptions { mode, ..Default::default() })?;
    let look = Look { size: (side, side), shading, ..Look::new(subject.camera.clone(), subject.transfer.clone()) };
    if shading.is_some() && !is_lit(run, &renderer, &look)? {
        println!("{named}: not measured, because shading does not change the picture");
        return Ok(());
    }
    let view = View::new(&look.camera, look.size, subject.shape, spacing, look.step)?;
    let table = look.transfer.table(look.step)?;
    // Rank 0 counts the samples of all ranks.
    let count = || visible_samples(subject, &view, &table, 1.0 - look.ends_at());
    let counted = world.agree("counting samples", if world.rank() == 0 { count() } else { Ok(0) })?;
    let mut samples = [counted];
    world.group().all_reduce(&mut samples, |most, other| *most = (*most).max(*other))?;
    let [samples] = samples;

    let vtk = (Vtk::wanted() && world.size() == 1).then(|| start(subject, &look)).transpose()?;
    let vtk = vtk.map(RefCell::new);
    let (frames, last) = (RefCell::new(Vec::new()), RefCell::new(None));
    let library = || {
        let start = Instant::now();
        let Frame { image, cast_secs, composite_secs, .. } = renderer.render(&look)?;
        let total = start.elapsed().as_secs_f64();
        frames.borrow_mut().push(FrameSecs { total, cast: cast_secs, composite: composite_secs });
        *last.borrow_mut() = image;
        Ok(())
    };
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let threads = cores.div_ceil(world.size());
    let share = samples / world.size() as u64;
    let mut contenders: Vec<Contender<'_>> = vec![contender("zippy", library)];
    contenders.push(contender("its samples in cache", || {
        arithmetic(share, threads, &table);
        Ok(())
    }));
    if let Some(vtk) = &vtk {
        let shaded = shading.is_some();
        for (name, mapper) in [("VTK, GPU mapper", "gpu"), ("VTK, CPU mapper", "cpu")] {
            contenders.push(contender(name, move || vtk.borrow_mut().render(mapper, shaded).map_err(failed)));
        }
    }
    let bytes = subject.shape.iter().product::<i64>() as u64 / world.size() as u64;
    run.compare(case, bytes, None, contenders)?;

    report_shares(run, &named, &frames.take(), samples)?;
    if let (Some(vtk), Some(image)) = (&vtk, last.take()) {
        println!("    {}", vtk.borrow().about);
        let ours = image.over_background([0.0; 3]);
        for mapper in ["gpu", "cpu"] {
            let theirs = vtk.borrow_mut().picture(mapper, shading.is_some()).map_err(failed)?;
            let psnr_db = difference_8bit(&ours, &theirs).psnr_db;
            println!("    {psnr_db:.1} dB from the picture of the {mapper} mapper");
            run.add(json!({ "case": named, "mapper": mapper, "psnr_db": psnr_db, "vtk": vtk.borrow().about }));
        }
    }
    if let Some(note) = subject.note.filter(|_| world.rank() == 0) {
        println!("    note: {note}");
    }
    Ok(())
}

/// True if shading changes the picture on any rank. Collective.
fn is_lit(run: &Run<'_>, renderer: &VolumeRenderer<'_, u8>, look: &Look) -> Result<bool> {
    let small = Look { size: (64, 64), ..look.clone() };
    let lit = renderer.render(&small)?.image;
    let plain = renderer.render(&Look { shading: None, ..small })?.image;
    let mut differs = [u32::from(lit != plain)];
    run.world.group().all_reduce(&mut differs, |max, other| *max = (*max).max(*other))?;
    Ok(differs[0] > 0)
}

fn start(subject: &Subject, look: &Look) -> Result<Vtk> {
    let voxels = subject.read(&Region::whole(Index::new(&subject.shape)))?;
    let scene = Scene {
        voxels: &voxels,
        shape: subject.shape,
        spacing: [1.0; 3],
        camera: &look.camera,
        transfer: &look.transfer,
        size: look.size,
        step: look.step,
    };
    Vtk::start(&scene).map_err(failed)
}

fn failed(message: String) -> zippy::Error {
    zippy_render::RenderError::Setting(message).into()
}

/// Reports casting, compositing and remaining seconds as means over frames and ranks.
fn report_shares(run: &Run<'_>, case: &str, frames: &[FrameSecs], samples: u64) -> Result<()> {
    let world = run.world;
    let slowest = Spread::of(&run.slowest(frames.iter().map(|frame| frame.total).collect())?);
    let mut sums =
        frames.iter().fold([0.0; 3], |s, frame| [s[0] + frame.total, s[1] + frame.cast, s[2] + frame.composite]);
    world.group().all_reduce(&mut sums, |sum, more| *sum += more)?;
    let [total, cast, composite] = sums.map(|sum| sum / (frames.len() * world.size()) as f64);
    if world.rank() != 0 {
        return Ok(());
    }
    let rest = (total - cast - composite).max(0.0);
    let millis = |secs: f64| secs * 1e3;
    println!(
        "    {:.1} ms casting, {:.1} ms compositing, {:.1} ms for the rest; {:.1} million samples, {:.1} million a second",
        millis(cast),
        millis(composite),
        millis(rest),
        samples as f64 * 1e-6,
        samples as f64 * 1e-6 / slowest.median
    );
    run.add(json!({
        "case": case,
        "casting_secs": cast,
        "compositing_secs": composite,
        "rest_secs": rest,
        "visible_samples": samples,
        "median_frame_secs": slowest.median,
        "quartiles_frame_secs": [slowest.low, slowest.high],
    }));
    Ok(())
}
