//! What a cell is made of, for viewers.

use super::protocol::{ElementType, Numbers, ScalarType};
use crate::element::ElementInfo;

pub(super) fn element_type(_: &ElementInfo) -> ElementType {
    let numbers = vec![Numbers { name: String::new(), offset: 0, scalar: ScalarType::F32, components: 1 }];
    ElementType { name: String::new(), bytes: 4, numbers }
}
