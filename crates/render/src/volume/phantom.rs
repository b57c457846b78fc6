//! Analytic test volume: a head of ellipsoids after Shepp and Logan, with a skull, soft tissue and
//! an inner lattice.

/// Analytic head phantom of any size. Every voxel is a function of its position only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phantom {
    /// Number of voxels along each axis.
    pub shape: [i64; 3],
}

/// Centre, half axes, rotation about axis 2 in radians, and density that is added inside.
struct Ellipsoid([f64; 3], [f64; 3], f64, f64);

/// Ellipsoids of the phantom. The objects in the brain are denser than the skull: a transfer
/// function can separate them although values blur at every surface.
const ELLIPSOIDS: [Ellipsoid; 9] = [
    Ellipsoid([0.0, 0.0, 0.0], [0.69, 0.92, 0.81], 0.0, 0.32),
    Ellipsoid([0.0, -0.0184, 0.0], [0.63, 0.85, 0.745], 0.0, -0.20),
    Ellipsoid([0.22, 0.0, 0.0], [0.11, 0.31, 0.22], -0.314, -0.09),
    Ellipsoid([-0.22, 0.0, 0.0], [0.16, 0.41, 0.28], 0.314, -0.09),
    Ellipsoid([0.0, 0.35, -0.15], [0.21, 0.25, 0.41], 0.0, 0.36),
    Ellipsoid([0.0, 0.1, 0.25], [0.09, 0.09, 0.09], 0.0, 0.60),
    Ellipsoid([-0.08, -0.605, 0.0], [0.08, 0.05, 0.09], 0.0, 0.80),
    Ellipsoid([0.10, -0.605, 0.0], [0.05, 0.08, 0.09], 0.0, 0.80),
    Ellipsoid([0.0, -0.2, -0.35], [0.28, 0.22, 0.16], 0.0, 0.55),
];

impl Phantom {
    /// Maximum value.
    pub const MAX: u16 = 4095;

    /// Value of a voxel, 0 to [`Self::MAX`]; defined for every coordinate, 0 outside the head.
    pub fn value(&self, voxel: [i64; 3]) -> u16 {
        let p: [f64; 3] =
            std::array::from_fn(|axis| (2.0 * voxel[axis] as f64 + 1.0) / self.shape[axis].max(1) as f64 - 1.0);
        // Surfaces are blurred over one voxel, so that images of any size are similar.
        let soft = 2.0 / *self.shape.iter().max().unwrap_or(&1).max(&1) as f64;
        let mut density = 0.0;
        for Ellipsoid(centre, axes, angle, amount) in &ELLIPSOIDS {
            // Most ellipsoids are not rotated, and `sin_cos` would dominate the cost.
            let (sin, cos) = if *angle == 0.0 { (0.0, 1.0) } else { angle.sin_cos() };
            let d: [f64; 3] = std::array::from_fn(|axis| p[axis] - centre[axis]);
            let turned = [cos * d[0] + sin * d[1], cos * d[1] - sin * d[0], d[2]];
            let radius = (0..3).map(|axis| (turned[axis] / axes[axis]).powi(2)).sum::<f64>().sqrt();
            let smallest = axes[0].min(axes[1]).min(axes[2]);
            density += amount * (0.5 + (1.0 - radius) * smallest / (2.0 * soft)).clamp(0.0, 1.0);
        }
        // A gyroid in the soft tissue adds a texture that makes interpolation visible.
        let (rises, falls) = ((density / 0.12).clamp(0.0, 1.0), ((0.8 - density) / 0.2).clamp(0.0, 1.0));
        if rises > 0.0 && falls > 0.0 {
            let [x, y, z] = p.map(|v| v * 21.0);
            let gyroid = x.sin() * y.cos() + y.sin() * z.cos() + z.sin() * x.cos();
            density += 0.05 * gyroid * rises * falls;
        }
        (density.clamp(0.0, 1.0) * f64::from(Self::MAX)).round() as u16
    }
}
