//! Reasons for rendering a picture on the CPU engine although the device is a GPU.

use std::fmt;

/// The reason why the CPU engine rendered a whole picture although the device is a GPU. All but the first three concern pictures that need a
/// BVH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CpuFallback {
    /// The picture has ambient occlusion.
    AmbientOcclusion,
    /// A body has a texture, a built-in surface or a graticule.
    Surface,
    /// The light's limb darkening is not quadratic.
    LimbDarkening,
    /// The GPU fails the [probe](crate::Device::probe).
    Probe,
    /// A body is a spheroid.
    Spheroid,
    /// The spheres do not fit into the largest binding of the GPU.
    SphereCount,
    /// The light is narrower than 10⁻⁹ rad, but not a point.
    NarrowLight,
}

impl fmt::Display for CpuFallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AmbientOcclusion => "it has ambient_samples",
            Self::Surface => "a body has a texture, a surface or a graticule",
            Self::LimbDarkening => "the light's limb darkening is not quadratic",
            Self::Probe => "it needs a BVH, and the GPU fails the probe",
            Self::Spheroid => "it needs a BVH, and a body is a spheroid",
            Self::SphereCount => "it needs a BVH, and its spheres do not fit into the largest binding of the GPU",
            Self::NarrowLight => "it needs a BVH, and the light is narrower than 1e-9 rad",
        })
    }
}
