//! Speed, vorticity and Q-criterion, computed on the device.

use zippy::error::CallSite;
use zippy::kernel::WgslComposer;
use zippy::{GlobalArray, Kernel, KernelSource, Result, wgsl_module};

use super::fields::Fields;
use super::lattice_arrays::scalar_layout;
use super::running_flow::Flow;
use crate::cell_kind::CellKind;

/// A scalar quantity of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Magnitude of the velocity.
    Speed,
    /// Magnitude of the curl of the velocity: twice the rate of rotation.
    Vorticity,
    /// Q-criterion (Hunt, Wray, Moin 1988): positive where rotation exceeds strain.
    QCriterion,
}

const QUANTITY_NAMES: [(&str, Quantity); 3] =
    [("SPEED", Quantity::Speed), ("VORTICITY", Quantity::Vorticity), ("Q_CRITERION", Quantity::QCriterion)];

fn quantity_kernel() -> Result<KernelSource> {
    let composer = WgslComposer::new()
        .used_constants(CellKind::wgsl_constants())
        .used_constants(QUANTITY_NAMES.map(|(name, quantity)| (name, quantity as u32)))
        .module(wgsl_module!("../../shaders/quantity.wgsl"));
    Ok(KernelSource::text("quantity.wgsl", composer.compose()?))
}

impl Flow<'_> {
    /// Creates an array with one number per cell of the lattice, for example for
    /// [`compute_quantity`](Self::compute_quantity). Collective.
    ///
    /// # Errors
    /// A name that is taken; no memory.
    #[track_caller]
    pub fn scalar_array(&self, name: &str) -> Result<GlobalArray<f32, 3>> {
        let _call = CallSite::enter();
        self.create_array(name, &scalar_layout(&self.problem, &self.parts))
    }

    /// Writes a quantity of the current state to `values`, and density and velocity to `fields`.
    /// Derivatives are central differences. Collective.
    ///
    /// * Cells without fluid are zero.
    /// * The velocity is zero in walls, that of the cell itself beyond open sides, and the mirror
    ///   image beyond free-slip sides.
    ///
    /// # Errors
    /// [`FlowError::ForeignArray`](crate::FlowError::ForeignArray); a failure of any rank.
    #[track_caller]
    pub fn compute_quantity(
        &mut self,
        quantity: Quantity,
        fields: &Fields,
        values: &GlobalArray<f32, 3>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let checked = self.check_array(values).map_err(Into::into);
        self.world.agree("checking the array of a quantity", checked)?;
        self.update_fields(fields)?;
        self.world.ghosts(&fields.velocity)?;
        let kernel: Kernel = self.world.kernel(quantity_kernel()?)?;
        for (kinds, velocity, values) in zippy::zip_chunks((&self.kinds, &fields.velocity, values))? {
            let call = kernel.call().read("kinds", kinds.all()).read("velocity", velocity.all());
            call.write("values", values.all()).param("quantity", quantity as u32).run()?;
        }
        Ok(())
    }
}
