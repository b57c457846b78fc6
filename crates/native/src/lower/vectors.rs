use std::rc::Rc;

use naga::{MathFunction, Scalar};

use super::builder::Builder;
use crate::ir::{Unary, Value};

impl Builder {
    pub(super) fn vector_function(
        &mut self,
        function: MathFunction,
        scalar: Scalar,
        arguments: &[Rc<[Value]>],
    ) -> Vec<Value> {
        use MathFunction as M;
        let a = &arguments[0];
        let second = arguments.get(1).unwrap_or(a);
        let third = arguments.get(2).unwrap_or(a);
        match function {
            M::Dot => vec![self.dot(scalar, a, second)],
            M::Outer => second.iter().flat_map(|b| self.scaled(scalar, a, *b)).collect(),
            M::Cross => self.cross(scalar, a, second),
            M::Distance => {
                let difference: Vec<_> =
                    a.iter().zip(second.iter()).map(|(a, b)| self.subtract(scalar, *a, *b)).collect();
                vec![self.length_of(scalar, &difference)]
            }
            M::Length => vec![self.length_of(scalar, a)],
            M::Normalize => {
                let length = self.length_of(scalar, a);
                a.iter().map(|value| self.divide(scalar, *value, length)).collect()
            }
            M::FaceForward => {
                let dot = self.dot(scalar, second, third);
                let zero = self.number(scalar, dot, 0.0);
                let kept = self.less(scalar, dot, zero);
                a.iter()
                    .map(|value| {
                        let negated = self.negate(scalar, *value);
                        self.select(kept, *value, negated)
                    })
                    .collect()
            }
            M::Reflect => {
                let dot = self.dot(scalar, second, a);
                let two = self.number(scalar, dot, 2.0);
                let double = self.multiply(scalar, two, dot);
                let along = self.scaled(scalar, second, double);
                a.iter().zip(along).map(|(value, along)| self.subtract(scalar, *value, along)).collect()
            }
            M::Refract => self.refract(scalar, a, second, third[0]),
            _ => a.to_vec(),
        }
    }

    fn scaled(&mut self, scalar: Scalar, vector: &[Value], factor: Value) -> Vec<Value> {
        vector.iter().map(|value| self.multiply(scalar, factor, *value)).collect()
    }

    fn cross(&mut self, scalar: Scalar, a: &[Value], b: &[Value]) -> Vec<Value> {
        [(1, 2), (2, 0), (0, 1)]
            .into_iter()
            .map(|(i, j)| {
                let (x, y) = (self.multiply(scalar, a[i], b[j]), self.multiply(scalar, a[j], b[i]));
                self.subtract(scalar, x, y)
            })
            .collect()
    }

    fn length_of(&mut self, scalar: Scalar, vector: &[Value]) -> Value {
        if let [value] = vector {
            return self.unary(Unary::FloatAbs, *value);
        }
        let square = self.dot(scalar, vector, vector);
        self.unary(Unary::Sqrt, square)
    }

    /// Refraction of `incident` at a surface with the normal `normal`; zero at total reflection.
    fn refract(&mut self, scalar: Scalar, incident: &[Value], normal: &[Value], ratio: Value) -> Vec<Value> {
        let dot = self.dot(scalar, normal, incident);
        let (zero, one) = (self.number(scalar, dot, 0.0), self.number(scalar, dot, 1.0));
        let dot_square = self.multiply(scalar, dot, dot);
        let sine_square = self.subtract(scalar, one, dot_square);
        let ratio_square = self.multiply(scalar, ratio, ratio);
        let product = self.multiply(scalar, ratio_square, sine_square);
        let k = self.subtract(scalar, one, product);
        let root = self.unary(Unary::Sqrt, k);
        let along = self.multiply(scalar, ratio, dot);
        let factor = self.add(scalar, along, root);
        let reflected = self.less(scalar, k, zero);
        incident
            .iter()
            .zip(normal)
            .map(|(incident, normal)| {
                let x = self.multiply(scalar, ratio, *incident);
                let y = self.multiply(scalar, factor, *normal);
                let refracted = self.subtract(scalar, x, y);
                self.select(reflected, zero, refracted)
            })
            .collect()
    }
}
