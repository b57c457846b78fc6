//! Products, determinants and inverses of matrices, in column-major order.

use std::rc::Rc;

use naga::{Scalar, TypeInner, VectorSize};

use super::Lowering;
use super::builder::Builder;
use crate::ir::Value;

impl<'m> Lowering<'m> {
    pub(super) fn matrix_product(
        &mut self,
        scalar: Scalar,
        (left, a): (&TypeInner, &[Value]),
        (right, b): (&TypeInner, &[Value]),
    ) -> Option<Rc<[Value]>> {
        let builder = &mut self.builder;
        match (left, right) {
            (TypeInner::Matrix { rows, .. }, TypeInner::Vector { .. }) => {
                Some(builder.columns_times_vector(scalar, *rows as usize, a, b).into())
            }
            (TypeInner::Vector { .. }, TypeInner::Matrix { rows, .. }) => {
                Some(b.chunks(*rows as usize).map(|column| builder.dot(scalar, a, column)).collect())
            }
            (TypeInner::Matrix { rows, .. }, TypeInner::Matrix { rows: inner, .. }) => {
                let columns = b.chunks(*inner as usize);
                Some(columns.flat_map(|b| builder.columns_times_vector(scalar, *rows as usize, a, b)).collect())
            }
            _ => None,
        }
    }

    pub(super) fn transpose(rows: VectorSize, values: &[Value]) -> Rc<[Value]> {
        let rows = rows as usize;
        (0..rows).flat_map(|row| values.iter().skip(row).step_by(rows)).copied().collect()
    }
}

impl Builder {
    fn columns_times_vector(&mut self, scalar: Scalar, rows: usize, columns: &[Value], vector: &[Value]) -> Vec<Value> {
        (0..rows)
            .map(|row| {
                let row: Vec<_> = columns.iter().skip(row).step_by(rows).copied().collect();
                self.dot(scalar, &row, vector)
            })
            .collect()
    }

    /// Determinant of a square matrix with `size` columns, expanded along its first column.
    pub(super) fn determinant(&mut self, scalar: Scalar, size: usize, values: &[Value]) -> Value {
        if let ([value], 1) = (values, size) {
            return *value;
        }
        let mut sum = None;
        for row in 0..size {
            let minor = self.minor(scalar, size, values, (0, row));
            let product = self.multiply(scalar, values[row], minor);
            sum = Some(match sum {
                None => product,
                Some(sum) if row % 2 == 0 => self.add(scalar, sum, product),
                Some(sum) => self.subtract(scalar, sum, product),
            });
        }
        sum.unwrap_or_else(|| self.zero(crate::ir::Type::F32))
    }

    fn minor(&mut self, scalar: Scalar, size: usize, values: &[Value], (column, row): (usize, usize)) -> Value {
        let kept: Vec<_> = (0..size * size)
            .filter(|index| index / size != column && index % size != row)
            .map(|index| values[index])
            .collect();
        self.determinant(scalar, size - 1, &kept)
    }

    /// Inverse of a square matrix: the adjugate divided by the determinant.
    pub(super) fn inverse(&mut self, scalar: Scalar, size: usize, values: &[Value]) -> Rc<[Value]> {
        let determinant = self.determinant(scalar, size, values);
        let mut results = Vec::with_capacity(values.len());
        for column in 0..size {
            for row in 0..size {
                let minor = self.minor(scalar, size, values, (row, column));
                let cofactor = if (row + column) % 2 == 0 { minor } else { self.negate(scalar, minor) };
                results.push(self.divide(scalar, cofactor, determinant));
            }
        }
        results.into()
    }
}
