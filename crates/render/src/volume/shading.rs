//! Shading: gradients of the values, and their effect on colours. Equivalent to
//! `shaders/volume/shading.wgsl`.

use super::decay::power_of;
use super::look::Shading;

/// Weights of four voxels along an axis (the voxel before a cell, its two ends, the voxel after it)
/// for the derivative at a fraction of the cell's length: interpolated central differences,
/// one-sided at the border of the volume.
pub(super) fn weights_of(cell: i32, cells: i32, share: f32) -> [f32; 4] {
    let (near, far) = (0.5 * (1.0 - share), 0.5 * share);
    let [mut before, mut low, mut high, mut behind] = [-near, -far, near, far];
    if cell == 0 {
        (before, low, high) = (0.0, low - 2.0 * near, high + near);
    }
    if cell == cells - 1 {
        (low, high, behind) = (low - far, high + 2.0 * far, 0.0);
    }
    [before, low, high, behind]
}

/// Gradient of trilinearly interpolated values, per voxel along each axis. Reads 4 x 4 x 4 voxels
/// from the one before `cell`, restricted to lines with an edge of the cell.
pub(super) fn gradient_of(
    voxel: impl Fn([i32; 3]) -> f32,
    cell: [i32; 3],
    cells: [i32; 3],
    share: [f32; 3],
) -> [f32; 3] {
    let along = |axis: usize| {
        let (second, third) = ((axis + 1) % 3, (axis + 2) % 3);
        let [first_axis, last_axis] = [second.min(third), second.max(third)];
        let weights = weights_of(cell[axis], cells[axis], share[axis]);
        let mix = |a: f32, b: f32, s: f32| a + s * (b - a);
        let mut sum = 0.0;
        for (index, weight) in weights.into_iter().enumerate() {
            let at = |i: i32, j: i32| {
                let mut p = cell;
                p[axis] = (cell[axis] + index as i32 - 1).clamp(0, cells[axis]);
                p[first_axis] += i;
                p[last_axis] += j;
                voxel(p)
            };
            let near = mix(at(0, 0), at(1, 0), share[first_axis]);
            let far = mix(at(0, 1), at(1, 1), share[first_axis]);
            sum += weight * mix(near, far, share[last_axis]);
        }
        sum
    };
    [along(0), along(1), along(2)]
}

/// Shades a premultiplied colour in the light of the camera, on both sides of a surface. `gradient`
/// is per length, in any unit; `towards` is a unit vector along the ray. Without a gradient only
/// the ambient light remains.
pub(super) fn lit(
    [red, green, blue, alpha]: [f32; 4],
    gradient: [f32; 3],
    towards: [f32; 3],
    light: &Shading,
) -> [f32; 4] {
    let dot = |a: [f32; 3], b: [f32; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    // Scales the largest component to 1, so that squares neither vanish nor overflow; clamped to
    // numbers with a normal reciprocal.
    let most = gradient.iter().fold(0.0_f32, |most, part| most.max(part.abs()));
    let scale = 1.0 / most.clamp(f32::MIN_POSITIVE, 2.0_f32.powi(126));
    let normal = gradient.map(|part| part * scale);
    let square = dot(normal, normal);
    let cosine = if square > 0.0 { dot(normal, towards).abs() / square.sqrt() } else { 0.0 };
    let shown = light.ambient as f32 + light.diffuse as f32 * cosine;
    let mirrored = light.specular as f32 * power_of(cosine, light.shininess as f32) * alpha;
    [red * shown + mirrored, green * shown + mirrored, blue * shown + mirrored, alpha]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_of_linear_and_bilinear_fields_are_exact_up_to_the_border() {
        let field = |[x, y, z]: [i32; 3]| (3 * x - 2 * y + 5 * z + 2 * x * y) as f32;
        let cells = [4, 3, 1];
        for cell in [[0, 0, 0], [1, 1, 0], [3, 2, 0], [3, 0, 0], [0, 2, 0]] {
            let share = [0.25, 0.5, 0.75];
            let inside = |p: [i32; 3]| {
                assert!((0..3).all(|a| (0..=cells[a]).contains(&p[a])), "{p:?} is outside");
                field(p)
            };
            let found = gradient_of(inside, cell, cells, share);
            let [x, y] = [0, 1].map(|a| cell[a] as f32 + share[a]);
            let wanted = [3.0 + 2.0 * y, -2.0 + 2.0 * x, 5.0];
            assert!((0..3).all(|a| (found[a] - wanted[a]).abs() < 1e-5), "{cell:?}: {found:?}, not {wanted:?}");
        }
    }

    #[test]
    fn differences_are_central_inside_and_one_sided_at_the_border() {
        let squares = |[x, _, _]: [i32; 3]| (x * x) as f32;
        let slope = |cell: i32, share: f32| gradient_of(squares, [cell, 0, 0], [5, 1, 1], [share, 0.0, 0.0])[0];
        assert_eq!(
            [slope(0, 0.0), slope(0, 1.0), slope(2, 0.5), slope(4, 0.0), slope(4, 1.0)],
            [1.0, 2.0, 5.0, 8.0, 9.0]
        );
    }

    #[test]
    fn light_is_that_of_the_camera() {
        let light = Shading { ambient: 0.1, diffuse: 0.7, specular: 0.2, shininess: 10.0 };
        let colour = [0.2, 0.1, 0.0, 0.5];
        let ahead = [0.0, 0.0, 1.0];
        for facing in [2.0, -0.01] {
            let [red, green, blue, alpha] = lit(colour, [0.0, 0.0, facing], ahead, &light);
            assert!((red - (0.16 + 0.1)).abs() < 1e-6 && (green - (0.08 + 0.1)).abs() < 1e-6);
            assert!((blue - 0.1).abs() < 1e-6 && alpha == 0.5);
        }
        // At 60 degrees the cosine is 1/2 and the mirrored light 2^-10.
        let slanted = lit(colour, [3.0_f32.sqrt(), 0.0, 1.0], ahead, &light);
        assert!((slanted[0] - (0.2 * 0.45 + 0.2 * 0.5 / 1024.0)).abs() < 1e-6, "{slanted:?}");
        // Any unit of the values, from the smallest normal numbers to the largest.
        for unit in [1e-37, 1e-24, 1e-19, 1e19, 1e24, 1e38] {
            let same = lit(colour, [unit * 3.0_f32.sqrt(), 0.0, unit], ahead, &light);
            assert!((0..4).all(|c| (same[c] - slanted[c]).abs() < 1e-6), "{unit}: {same:?}, not {slanted:?}");
        }
        let flat = lit(colour, [0.0; 3], ahead, &light);
        assert!((flat[0] - 0.02).abs() < 1e-8 && (flat[1] - 0.01).abs() < 1e-8 && flat[2] < 1e-20, "{flat:?}");
    }
}
