//! Cache state of the chain's database before a trial

use super::{Chain, NodeHandle};
use crate::restore::{self, CachePreparation, Error};
use crate::supervisor::Supervisor;
use model::plan::CacheState;

impl Chain {
    /// Brings the caches of the application's database into the requested state.
    ///
    /// Cold caches require a restart of the server, which ends all sessions. Call this method before poolers start.
    pub fn prepare_cache(
        &mut self,
        supervisor: &mut Supervisor,
        state: CacheState,
    ) -> Result<CachePreparation, Error> {
        let Some(server) = self.nodes.last_mut() else { return Ok(CachePreparation::AsIs) };
        let target = server.admin.as_ref().unwrap_or(&server.endpoint).in_database(&self.users.database);
        let NodeHandle::Postgres(postgres) = &mut server.handle else {
            return restore::prepare_cache(state, &target, None);
        };
        let warmth = restore::prepare_cache(state, &target, Some((postgres, supervisor)));
        // If the server was restarted, it has a new id.
        server.node = Some(postgres.node);
        warmth
    }
}
