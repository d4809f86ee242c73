//! Do the caches of the chain's database hold what they should?

use super::{Chain, Kept};
use crate::restore::{self, Error, Warmth};
use crate::supervisor::Supervisor;
use model::plan::Cache;

impl Chain {
    /// Brings the caches of the application's database into the state asked for. Cold takes a restart, which ends all
    /// sessions: do it before poolers stand in front.
    pub fn cache(&mut self, supervisor: &mut Supervisor, how: Cache) -> Result<Warmth, Error> {
        let Some(server) = self.nodes.last_mut() else { return Ok(Warmth::AsIs) };
        let target = server.admin.as_ref().unwrap_or(&server.entrance).in_database(&self.users.database);
        let Kept::Postgres(postgres) = &mut server.kept else { return restore::cache(how, &target, None) };
        let warmth = restore::cache(how, &target, Some((postgres, supervisor)));
        // It may have been started anew.
        server.node = Some(postgres.node);
        warmth
    }
}
