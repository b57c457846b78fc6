//! Looks in other units.

use zippy_render::volume::{Camera, ClipPlane, Crop, Look, Projection, TransferFunction};

/// Look with lengths multiplied by `length` and values by `value`.
pub(crate) fn scaled(look: &Look, length: f64, value: f64) -> Look {
    let long = |p: [f64; 3]| p.map(|part| part * length);
    let Camera { position, focal_point, view_up, projection } = look.camera;
    let projection = match projection {
        Projection::Parallel { half_height } => Projection::Parallel { half_height: half_height * length },
        perspective @ Projection::Perspective { .. } => perspective,
    };
    let TransferFunction { opacity, colour, unit_distance } = look.transfer.clone();
    Look {
        camera: Camera { position: long(position), focal_point: long(focal_point), view_up, projection },
        transfer: TransferFunction {
            opacity: opacity.into_iter().map(|[v, opacity]| [v * value, opacity]).collect(),
            colour: colour.into_iter().map(|[v, red, green, blue]| [v * value, red, green, blue]).collect(),
            unit_distance: unit_distance * length,
        },
        step: look.step * length,
        clip: look.clip.iter().map(|plane| ClipPlane { offset: plane.offset * length, ..*plane }).collect(),
        crop: look.crop.map(|Crop { low, high }| Crop { low: long(low), high: long(high) }),
        ..look.clone()
    }
}
