//! Statistics: estimates, intervals, tests and fitted models

pub mod littles_law;
pub mod plateau;
pub mod quantile;
pub mod repeats;
pub mod slopes;
pub mod steady;
pub(crate) mod student;
pub mod usl;
