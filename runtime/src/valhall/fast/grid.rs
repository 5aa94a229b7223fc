//! Where threads are: in the grid of a launch, and in a dispatch.

/// The layout of a launch's threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// The number of workgroups along each axis.
    pub groups: [u32; 3],
    /// The number of threads of a workgroup along each axis.
    pub size: [u32; 3],
    /// The number of workgroups of a dispatch, which are consecutive along x.
    pub together: u32,
}

/// The position of a bundle's warp.
#[derive(Clone, Copy, Debug, Default)]
pub struct Home {
    /// Its workgroup, counted among those that run together.
    pub group: usize,
    /// Its number in the workgroup.
    pub number: usize,
}
