//! Data of a trial: loaded once, and restored before each later trial

use super::{FEED_QUERY_TIMEOUT, SetupError, TABLE_QUERY_TIMEOUT, TestBed, Update, failed};
use model::copied_data::{CopiedData, CopiedTable, DataOrigin, SampledRows};
use model::message;
use model::message::Message;
use model::plan::{CacheState, Content, Dataset, Setup, SourceDatabase};
use model::table_sizes::TableSizes;
use model::target::ServerIdentity;
use stack::chain::{Chain, RunningNode};
use stack::data_cache::DataCache;
use stack::dataset::{self, DumpLoader, Loader};
use stack::interrupt::without_interrupt;
use stack::plans;
use stack::restore::{self, DatabaseState, ServerOwnership, Template};
use stack::source::{self, SourceDump, SourceReader};
use stack::supervisor::NodeId;
use std::path::PathBuf;

/// Number of connections that load a dataset in parallel.
const WORKERS: u16 = 2;

/// A dataset and the server that contains it.
#[derive(Debug)]
pub(super) struct LoadedDataset {
    /// Node whose data directory contains the dataset (`None` if the server is attached), and address of the server.
    server: (Option<NodeId>, String),
    /// Loaded dataset, without its post-load statements and cache state.
    dataset: Dataset,
    /// `None` if trials keep the data.
    template: Option<Template>,
    /// Database from which the data were copied; `None` for other datasets.
    origin: Option<DataOrigin>,
    /// Rows of each table in a sample; empty without a sample.
    sampled: Vec<(String, SampledRows)>,
    /// Tables before the current trial; `None` if they could not be examined.
    before: Option<DatabaseState>,
    /// True if a trial has used the data.
    is_used: bool,
    /// Snapshot `xmax` (first unassigned transaction ID) at the start of the last trial, from
    /// [`Template::end_sessions_and_read_xmax`]. `None` if that trial's data differed from the template, or if the
    /// trial had to keep the caches as they were: a restored copy starts with empty caches.
    untouched: Option<u64>,
}

impl LoadedDataset {
    /// Data that no trial has used.
    fn new(
        server: (Option<NodeId>, String),
        dataset: Dataset,
        template: Option<Template>,
        origin: Option<DataOrigin>,
    ) -> LoadedDataset {
        LoadedDataset {
            server,
            dataset,
            template,
            origin,
            before: None,
            is_used: false,
            untouched: None,
            sampled: Vec::new(),
        }
    }
}

impl Drop for LoadedDataset {
    /// Drops the template on an attached server. If a run is killed, the next run drops its template.
    fn drop(&mut self) {
        if let Some(template) = self.template.as_ref().filter(|it| it.is_attached()) {
            let _ = template.drop_template();
        }
    }
}

impl TestBed {
    /// Loads the dataset, or restores it to its state after loading.
    pub(super) fn load_dataset(
        &mut self,
        dataset: &Dataset,
        setup: &Setup,
        on_update: &mut dyn FnMut(Update<'_>),
    ) -> Result<(), SetupError> {
        let chain = self.chain.as_ref().expect("its server is up");
        let postgres =
            chain.postgres().ok_or_else(|| SetupError::Failed(message!("failure-dataset-needs-server")))?;
        let server = (postgres.cluster_id(), postgres.endpoint.address.to_string());
        let server = if server.0.is_some() { (server.0, String::new()) } else { server };
        let base = Dataset {
            post_load: Vec::new(),
            cache: CacheState::AsIs,
            between: Vec::new(),
            ..dataset.clone()
        };
        // Statements that prepare the data for this trial.
        let mut statements = &dataset.post_load;
        let same = |it: &LoadedDataset| it.server == server && it.dataset == base;
        match self.dataset.as_mut().filter(|it| same(it)) {
            Some(LoadedDataset { template: Some(template), untouched, .. }) => {
                let before = untouched.take().filter(|_| dataset.cache != CacheState::AsIs);
                if before.is_some() && before == template.end_sessions_and_read_xmax().map_err(failed)? {
                    on_update(Update::DataUnchanged);
                } else {
                    // Do not interrupt the restore, because an incomplete restore leaves no database.
                    let restored = without_interrupt(|| template.restore());
                    on_update(Update::Restored(&restored.map_err(failed)?));
                }
            }
            Some(kept) => {
                statements = if kept.is_used { &dataset.between } else { const { &Vec::new() } };
            }
            None => self.load_new(base, server, on_update)?,
        }
        self.build(statements)?;
        let before = self.chain.as_ref().and_then(table_state);
        if let Some(filled) = &mut self.dataset {
            filled.before = before;
        }
        // Read the feeds before the caches are cleared, because their queries fill the caches.
        self.feeds(setup).map_err(|it| SetupError::Failed(it.message))?;
        let (chain, cache) = (self.chain.as_mut().expect("its server is up"), dataset.cache);
        on_update(Update::Warmed(&chain.prepare_cache(&mut self.supervisor, cache).map_err(failed)?));
        if let Some(LoadedDataset { template: Some(template), untouched, .. }) =
            self.dataset.as_mut().filter(|_| dataset.post_load.is_empty() && cache != CacheState::AsIs)
        {
            *untouched = template.end_sessions_and_read_xmax().map_err(failed)?;
        }
        Ok(())
    }

    /// Ends a trial on the data. Returns the sizes of the dataset's tables before and after it; empty without a dataset, or if
    /// the tables cannot be examined.
    pub fn end_trial(&mut self) -> Vec<TableSizes> {
        let now = self.chain.as_ref().and_then(table_state);
        let Some(filled) = &mut self.dataset else { return Vec::new() };
        filled.is_used = true;
        let both = filled.before.as_ref().zip(now);
        both.map(|(before, now)| now.sizes_since(before)).unwrap_or_default()
    }

    /// Origin and tables of the data before the trial, if they were copied from a database.
    pub fn copied_data(&self) -> Option<CopiedData> {
        let loaded = self.dataset.as_ref()?;
        let tables = loaded.before.iter().flat_map(|it| &it.tables).map(|table| CopiedTable {
            table: table.name.clone(),
            bytes: table.heap + table.indexes,
            rows: table.rows,
        });
        let (origin, sampled) = (loaded.origin.clone()?, loaded.sampled.clone());
        Some(CopiedData { origin, sampled, tables: tables.collect() })
    }

    /// Loads a dataset that the server does not contain, and copies it to a template.
    fn load_new(
        &mut self,
        base: Dataset,
        server: (Option<NodeId>, String),
        on_update: &mut dyn FnMut(Update<'_>),
    ) -> Result<(), SetupError> {
        let chain = self.chain.as_ref().expect("its server is up");
        let postgres = chain.postgres().expect("the chain ends with a server");
        // Only a dataset on the same server has left data there.
        let previous = self.dataset.take().filter(|it| it.server == server).map(|it| it.dataset.clone());
        self.feeds.forget_queries();
        let target = postgres.endpoint.clone();
        let loader = Loader { target, workers: WORKERS, force: false };
        // Restore an attached server as a superuser if the user supplied one.
        let superuser = &postgres.admin.as_ref().unwrap_or(&postgres.endpoint).clone();
        let database = &chain.users().database.clone();
        let ownership =
            if postgres.is_attached() { ServerOwnership::Attached } else { ServerOwnership::Ours };
        // Check first, because pgdyno loads only data that it can restore later.
        Template::check(superuser, database, ownership).map_err(failed)?;
        let read = match &base.content {
            Content::Source(source) => Some(self.read_source(source, base.seed, on_update)?),
            _ => None,
        };
        // The borrow ended while the source was read.
        let chain = self.chain.as_ref().expect("its server is up");
        let postgres = chain.postgres().expect("the chain ends with a server");
        if let Content::Template { database: name } = &base.content {
            let template = Template::of_user(superuser, database, name).map_err(failed)?;
            let restored = without_interrupt(|| template.restore()).map_err(failed)?;
            on_update(Update::Restored(&restored));
            let origin = Some(DataOrigin::Template { database: name.clone() });
            let template = (!base.keep).then_some(template);
            self.dataset = Some(LoadedDataset::new(server, base, template, origin));
            return Ok(());
        }
        let is_dump =
            |dataset: &Dataset| matches!(dataset.content, Content::Dump { .. } | Content::Source(_));
        if ownership == ServerOwnership::Ours
            && previous.as_ref().is_some_and(|it| is_dump(it) || is_dump(&base))
        {
            chain.recreate_database().map_err(failed)?;
        }
        if ownership == ServerOwnership::Attached {
            restore::empty_filled_database(superuser, database).map_err(failed)?;
            if is_dump(&base) {
                restore::mark_filled(superuser, database).map_err(failed)?;
            }
        }
        let rows = dataset::total_rows(&base.content).unwrap_or(0);
        let on_stage = &mut |it| on_update(Update::Loading(it, rows));
        let files = match (&base.content, &read) {
            (Content::Dump { files }, _) => Some(files),
            (_, Some(dump)) => Some(&dump.files),
            _ => None,
        };
        let loaded = match files {
            Some(files) => dataset::restore_dump(
                files,
                &mut DumpLoader {
                    supervisor: &mut self.supervisor,
                    login: superuser.in_database(database),
                    role: &chain.users().app.name,
                    programs: programs(postgres),
                    jobs: WORKERS,
                    creates_roles: ownership == ServerOwnership::Ours,
                },
                on_stage,
            ),
            None => dataset::load(&base, &loader, on_stage),
        };
        let loaded = loaded.map_err(failed)?;
        on_update(Update::Loaded(&loaded));
        let is_stored = |it: &DataCache| !loaded.reused && previous.is_none() && loaded.took >= it.minimum;
        if ownership == ServerOwnership::Ours && self.data_cache.as_ref().is_some_and(is_stored) {
            let chain = self.chain.as_mut().expect("its server is up");
            if let Some(copy) = chain.store_data(&mut self.supervisor)? {
                on_update(Update::DataStored(copy));
            }
        }
        let create = || without_interrupt(|| Template::create(superuser, database, ownership));
        let template = (!base.keep).then(create).transpose().map_err(|refused| {
            let left = match loaded.reused || is_dump(&base) {
                true => Ok(()),
                false => dataset::unload(&loader),
            };
            let error = Message::from(&refused);
            SetupError::Failed(match left {
                Ok(()) => error,
                Err(left) => error.and(message!("failure-data-left", error = Message::from(&left))),
            })
        })?;
        let mut loaded = LoadedDataset::new(server, base, template, None);
        if let Some(dump) = read {
            (loaded.origin, loaded.sampled) = (Some(DataOrigin::Snapshot(dump.snapshot)), dump.sampled);
        }
        self.dataset = Some(loaded);
        Ok(())
    }

    /// Reads a source database, once per run.
    fn read_source(
        &mut self,
        source: &SourceDatabase,
        seed: u64,
        on_update: &mut dyn FnMut(Update<'_>),
    ) -> Result<SourceDump, SetupError> {
        if let Some((_, _, dump)) = self.sources.iter().find(|it| it.0 == *source && it.1 == seed) {
            return Ok(dump.clone());
        }
        on_update(Update::ReadingSource);
        let postgres = self.chain().postgres().expect("the chain ends with a server");
        let mut connection = postgres.endpoint.open(TABLE_QUERY_TIMEOUT).map_err(failed)?;
        let (major_version, programs) = (connection.server_version() / 10_000, programs(postgres));
        let supervisor = &mut self.supervisor;
        let mut reader = SourceReader { supervisor, programs, major_version, seed };
        let dump = source::dump(source, &mut reader).map_err(failed)?;
        let measured = self.chain().server_identity()?;
        let is_measured = |server: &ServerIdentity| {
            server.system.is_some()
                && (&server.system, &server.database) == (&dump.snapshot.system, &dump.snapshot.database)
        };
        if measured.as_ref().is_some_and(is_measured) {
            return Err(SetupError::Failed(message!(
                "source-is-measured",
                database = &dump.snapshot.database
            )));
        }
        on_update(Update::SourceRead(&dump));
        dump.sampled.iter().for_each(|(table, rows)| on_update(Update::Sampled(table, *rows)));
        self.sources.push((source.clone(), seed, dump.clone()));
        Ok(dump)
    }

    /// Executes statements that prepare the data, such as CREATE INDEX, as the owner of the tables.
    fn build(&mut self, statements: &[String]) -> Result<(), SetupError> {
        self.built.clear();
        if statements.is_empty() {
            return Ok(());
        }
        let postgres = self.chain().postgres().expect("its data are there");
        let mut connection = postgres.endpoint.open(TABLE_QUERY_TIMEOUT).map_err(failed)?;
        connection.set_timeout(Some(FEED_QUERY_TIMEOUT));
        let mut built = Vec::new();
        for statement in statements {
            let index = plans::build_index(&mut connection, statement);
            built.push(index.map_err(|error| {
                failed(message!("failure-post-load", statement, error = Message::from(&error)))
            })?);
        }
        if let Some(admin) = postgres.admin.as_ref().filter(|_| !postgres.is_attached()) {
            // Run a checkpoint, so that the writes of the statements do not affect the trial.
            admin.open(TABLE_QUERY_TIMEOUT).and_then(|mut it| it.query("checkpoint")).map_err(failed)?;
        }
        self.built = built;
        Ok(())
    }
}

/// Directory of the programs of a server that pgdyno started.
fn programs(postgres: &RunningNode) -> Option<PathBuf> {
    postgres.program.as_ref().and_then(|it| Some(it.parent()?.to_owned()))
}

/// State of the tables of the database under test; `None` if they cannot be examined.
pub(super) fn table_state(chain: &Chain) -> Option<DatabaseState> {
    let postgres = chain.postgres()?;
    let target = postgres.admin.as_ref().unwrap_or(&postgres.endpoint).in_database(&chain.users().database);
    target.open(TABLE_QUERY_TIMEOUT).and_then(|mut it| restore::query_state(&mut it)).ok()
}
