// Positions of samples, and normals. Equivalent Rust code: src/grid.rs and, for gradients,
// src/extract/vertices.rs.

struct Grid {
    origin: vec3<f32>,
    steps: mat3x3<f32>, // between consecutive samples along each axis
    normals: mat3x3<f32>, // from a gradient per index to a direction in space, towards lower values
}

@group(0) @binding(8) var<uniform> grid: Grid;

// Position in space of a point in the cell that begins at a sample.
fn position(at: vec3<i32>, in_cell: vec3<f32>) -> vec3<f32> {
    return grid.origin + grid.steps * vec3<f32>(part.start + at) + grid.steps * in_cell;
}

// Central differences, one-sided at the ends of the field, divided by eight to avoid overflow; only
// the direction matters.
fn gradient(at: vec3<i32>) -> vec3<f32> {
    let low = max(at - 1, part.first);
    let high = min(at + 1, part.last);
    var slopes = vec3<f32>(0.0);
    for (var axis = 0; axis < 3; axis++) {
        var before = at;
        var after = at;
        before[axis] = low[axis];
        after[axis] = high[axis];
        let lower = value(before);
        let upper = value(after);
        var difference = 0.125 * upper - 0.125 * lower;
        if max(abs(lower), abs(upper)) > LARGE { difference = scaled(upper, -3) - scaled(lower, -3); }
        slopes[axis] = difference / f32(max(high[axis] - low[axis], 1));
    }
    return slopes;
}

// Unit vector towards lower values; zero for a gradient of zero or NaN.
fn normal(gradient: vec3<f32>) -> vec3<f32> {
    let down = grid.normals * gradient;
    if !(is_finite(down.x) && is_finite(down.y) && is_finite(down.z)) { return vec3<f32>(0.0); }
    let most = max(max(abs(down.x), abs(down.y)), abs(down.z));
    if most == 0.0 { return vec3<f32>(0.0); }
    // Devices may flush the inverse of a large divisor to zero.
    if most > LARGE {
        let smaller = vec3<f32>(scaled(down.x, -64), scaled(down.y, -64), scaled(down.z, -64));
        return normalize(smaller / scaled(most, -64));
    }
    return normalize(down / most);
}
