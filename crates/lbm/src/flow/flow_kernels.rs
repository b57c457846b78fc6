//! The kernels of a flow.

use zippy::{Kernel, Result, World};

use crate::shader::{self, KernelForm};

pub(super) struct FlowKernels {
    pub step: Kernel,
    pub moving_wall: Kernel,
    pub mirror: Kernel,
    pub open_side: Kernel,
    pub outlet_input: Kernel,
    pub fields: Kernel,
    pub open_fields: Kernel,
    pub body_force: Kernel,
    pub mass: Kernel,
    pub open_mass: Kernel,
}

impl FlowKernels {
    pub(super) fn new(world: &World, form: &KernelForm) -> Result<Self> {
        Ok(Self {
            step: world.kernel(shader::step_kernel(form)?)?,
            moving_wall: world.kernel(shader::moving_wall_kernel(form)?)?,
            mirror: world.kernel(shader::mirror_kernel(form)?)?,
            open_side: world.kernel(shader::open_side_kernel(form)?)?,
            outlet_input: world.kernel(shader::outlet_input_kernel(form)?)?,
            fields: world.kernel(shader::fields_kernel(form)?)?,
            open_fields: world.kernel(shader::open_fields_kernel(form)?)?,
            body_force: world.kernel(shader::body_force_kernel(form)?)?,
            mass: world.kernel(shader::mass_kernel(form)?)?,
            open_mass: world.kernel(shader::open_mass_kernel(form)?)?,
        })
    }
}
