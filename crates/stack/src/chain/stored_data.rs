//! Stored data of the chain's server: where they come from, and how they are stored

use super::{Chain, ChainError, NodeHandle, node_error};
use crate::component::postgres::{Postgres, Settings};
use crate::data_cache::{DataCache, StoreResult};
use crate::find::Installation;
use crate::supervisor::{End, NodeError, Supervisor};
use model::message;
use std::time::{Duration, Instant};

/// Data from which a new server starts if the cache has them.
#[derive(Clone, Debug)]
pub struct DataSource {
    pub cache: DataCache,
    /// Identifies the content that is loaded into the application's database.
    pub content: String,
}

/// Copy of data between the cache and a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataCopy {
    pub bytes: u64,
    pub took: Duration,
}

impl Chain {
    /// Sets the data from which the next new server starts; `None` for an empty server.
    pub fn set_data_source(&mut self, source: Option<DataSource>) {
        self.data_source = source;
    }

    /// Copy from which the server was started since the last call; `None` if it started empty or runs already.
    pub fn take_data_copy(&mut self) -> Option<DataCopy> {
        self.data_copy.take()
    }

    /// Starts a server from stored data; `None` if the cache does not have them, or if the server does not start from
    /// them.
    pub(super) fn start_from_cache(
        &mut self,
        supervisor: &mut Supervisor,
        installation: &Installation,
        settings: &Settings,
    ) -> Result<Option<Postgres>, NodeError> {
        let Some((source, key)) = self.data_key(installation, settings) else { return Ok(None) };
        let Some(stored) = source.cache.find(&key) else { return Ok(None) };
        let begun = Instant::now();
        let copied = Postgres::from_stored(supervisor, installation, settings, &stored);
        let bytes = stored.bytes;
        drop(stored);
        // Without the copy, the data are loaded again.
        let Ok(mut postgres) = copied else { return Ok(None) };
        if postgres.start_stored(supervisor).is_err() {
            if !crate::interrupt::is_interrupted() {
                source.cache.discard(&key);
            }
            return Ok(None);
        }
        let app = &self.users.app;
        let failure =
            |it: crate::client::Error| node_error(&settings.name, message!("attempt-create-database"), &it);
        let verifier = app.verifier.as_ref().unwrap_or(&app.password).reveal();
        let mut connection = postgres.target().open(super::READY_TIMEOUT).map_err(failure)?;
        connection.query(&format!("alter role {} password '{verifier}'", app.name)).map_err(failure)?;
        self.data_copy = Some(DataCopy { bytes, took: begun.elapsed() });
        Ok(Some(postgres))
    }

    /// Stores the data of the server, which must contain exactly the content of the data source. Restarts the server.
    /// `None` if the data are not stored: they cannot be stored, there is no space, or another run stored them.
    pub fn store_data(&mut self, supervisor: &mut Supervisor) -> Result<Option<DataCopy>, ChainError> {
        let begun = Instant::now();
        let Some(server) = self.nodes.last() else { return Ok(None) };
        let NodeHandle::Postgres(postgres) = &server.handle else { return Ok(None) };
        let Some((source, key)) = self.data_key(&postgres.installation, postgres.settings()) else {
            return Ok(None);
        };
        let name = server.plan.name.clone();
        let failure = |it: crate::client::Error| node_error(&name, message!("attempt-copy-data"), &it);
        let database = postgres.target().in_database(&self.users.database);
        let Some(files) = Postgres::required_files(&database).map_err(failure)? else { return Ok(None) };
        let server = self.nodes.last_mut().expect("it was found");
        let NodeHandle::Postgres(postgres) = &mut server.handle else { return Ok(None) };
        let end = postgres.stop(supervisor)?;
        // Storing is an optimisation. If it fails, the run continues without it.
        let stored = if end == End::Exit(0) {
            source.cache.store(&key, &postgres.local_data, &files).ok()
        } else {
            None
        };
        postgres.restart(supervisor)?;
        server.node = Some(postgres.node);
        Ok(match stored {
            Some(StoreResult::Stored(bytes)) => Some(DataCopy { bytes, took: begun.elapsed() }),
            Some(StoreResult::Exists | StoreResult::NoSpace) | None => None,
        })
    }

    /// Data source and key of a server's data; `None` if they are neither looked up nor stored.
    fn data_key(&self, installation: &Installation, settings: &Settings) -> Option<(DataSource, String)> {
        // A separate disk has a size of its own.
        let source = self.data_source.clone().filter(|_| settings.disk.is_none())?;
        let users = format!("{} {}", self.users.app.name, self.users.database);
        let key = Postgres::data_key(installation, settings, (&source.content, &users)).ok()?;
        Some((source, key))
    }
}
