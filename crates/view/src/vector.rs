//! Vectors of three numbers.

pub type Vector = [f64; 3];

pub fn add(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|axis| a[axis] + b[axis])
}

pub fn sub(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

pub fn scaled(a: Vector, by: f64) -> Vector {
    a.map(|part| part * by)
}

pub fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub fn length(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

/// `None` for a vector without a direction.
pub fn unit(a: Vector) -> Option<Vector> {
    let length = length(a);
    (length > 1e-12 && length.is_finite()).then(|| scaled(a, 1.0 / length))
}

/// `a` turned about the unit vector `axis`, counter-clockwise as seen from its tip (Rodrigues).
pub fn turned(a: Vector, axis: Vector, angle: f64) -> Vector {
    let (sin, cos) = angle.sin_cos();
    let along = scaled(axis, dot(axis, a) * (1.0 - cos));
    add(add(scaled(a, cos), scaled(cross(axis, a), sin)), along)
}
