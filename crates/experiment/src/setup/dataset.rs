//! The section `dataset`.

use super::SetupBuilder;
use crate::diagnostic::{any_of, quote};
use crate::file::{self, DatasetName, OneOrMany};
use model::message::Message;
use model::plan::{
    CacheState, Column, ColumnGenerator, Content, Dataset, DumpFile, Extract, NodeKind, SourceDatabase,
    Stack, Table,
};
use model::product::Role;
use model::{message, parse_utc};

const ROWS: u64 = 100_000;
const BOOKS: u64 = 1_000_000;
const SOCIAL: u64 = 100_000;
/// Default scale of `delivery`: four million receivers.
const DELIVERY: f64 = 0.025;
const USERS: u64 = 5;
const PER_USER: u64 = 2;
const ZIPF: f64 = 1.1;

/// Dataset that has a certain key, and the dataset's name in the file.
type Owner = (DatasetName, &'static str);

impl SetupBuilder<'_> {
    pub(super) fn dataset(&mut self, source: file::Dataset, seed: u64, stack: &Stack) -> Dataset {
        use DatasetName::{Books, Delivery, Pgbench, Profiles, Tickets, Users};
        let keys: [(&str, bool, &[Owner]); 4] = [
            ("rows", source.rows.is_some(), &[(Tickets, "tickets"), (Books, "books")]),
            ("users", source.users.is_some(), &[(Profiles, "profiles"), (Users, "users")]),
            ("per_user", source.per_user.is_some(), &[(Profiles, "profiles")]),
            ("scale", source.scale.is_some(), &[(Pgbench, "pgbench"), (Delivery, "delivery")]),
        ];
        for (key, _, owners) in keys.iter().filter(|key| key.1) {
            if owners.iter().any(|owner| source.name == Some(owner.0)) {
                continue;
            }
            let names: Vec<&str> = owners.iter().map(|it| it.1).collect();
            let message = match source.name {
                Some(_) => message!("experiment-dataset-key", key = *key, datasets = any_of(names)),
                None => message!("experiment-dataset-unnamed", key = *key, example = names[0]),
            };
            self.report(&format!("dataset.{key}"), message);
        }
        if let Some(scale) = source.scale {
            let value = scale.to_string();
            let fits = |min: f64, max: f64| (min..=max).contains(&scale);
            if source.name == Some(Delivery) {
                if !fits(1e-6, 100.0) {
                    let (key, min, max) = ("scale", "0.000001", "100");
                    self.report("dataset.scale", message!("experiment-out-of-range", key, value, min, max));
                }
            } else if !fits(1.0, 1e5) || scale.fract() != 0.0 {
                self.report("dataset.scale", message!("experiment-dataset-scale", value, max = "100000"));
            }
        }
        let sources = [
            ("name", source.name.is_some()),
            ("tables", source.tables.is_some()),
            ("restore", source.restore.is_some()),
            ("template", source.template.is_some()),
            ("from", source.from.is_some()),
        ];
        let mut given = sources.iter().filter(|it| it.1).map(|it| it.0);
        if let Some(first) = given.next() {
            for second in given {
                let message = message!("experiment-conflicting-keys", first, second);
                self.report(&format!("dataset.{second}"), message);
            }
        }
        let restore = source.restore.map(|dumps| self.dumps(dumps));
        let from = source.from.map(|it| self.source(it, stack));
        let server = &stack.nodes.last().expect("a stack has a node");
        if server.kind.role() != Role::Server {
            let (node, is_template) = (&server.name, source.template.is_some());
            self.report("dataset", message!("experiment-dataset-server", node, is_template));
        }
        let content = match (source.name, source.tables) {
            _ if restore.is_some() => Content::Dump { files: restore.unwrap_or_default() },
            _ if from.is_some() => Content::Source(from.expect("the guard checks it")),
            _ if source.template.is_some() => {
                Content::Template { database: self.template(source.template.unwrap_or_default(), stack) }
            }
            (_, Some(tables)) => Content::Declared(self.tables(tables.0)),
            (Some(Tickets), _) => Content::Tickets { rows: source.rows.unwrap_or(ROWS) },
            (Some(Delivery), _) => Content::Delivery { scale: source.scale.unwrap_or(DELIVERY) },
            (Some(Users), _) => Content::Users { users: source.users.unwrap_or(SOCIAL) },
            (Some(Books), _) => Content::Books { rows: source.rows.unwrap_or(BOOKS) },
            (Some(Profiles), _) => Content::Profiles {
                users: source.users.unwrap_or(USERS),
                per_user: source.per_user.unwrap_or(PER_USER),
            },
            (Some(Pgbench), _) => Content::Pgbench { scale: source.scale.map_or(1, |it| it as u32) },
            (None, None) => {
                if !keys.iter().any(|it| it.1) {
                    self.report("dataset", message!("experiment-dataset-name"));
                }
                Content::Declared(Vec::new())
            }
        };
        if source.seed.is_some()
            && let Some(key) = seedless_key(&content)
        {
            self.report("dataset.seed", message!("experiment-dataset-seed", key));
        }
        if source.cache == Some(file::Cache::Cold) && matches!(server.kind, NodeKind::Attached(_)) {
            self.warnings.push(message!("experiment-cold-attached"));
        }
        let cache = match source.cache {
            None | Some(file::Cache::Warm) => CacheState::Warm,
            Some(file::Cache::Cold) => CacheState::Cold,
            Some(file::Cache::AsIs) => CacheState::AsIs,
        };
        let (keep, between) = (source.keep, source.between);
        if !between.is_empty() && !keep {
            self.report("dataset.between", message!("experiment-between-restored"));
        }
        Dataset { seed: source.seed.unwrap_or(seed), content, post_load: source.after, cache, keep, between }
    }

    /// Source database, and the part of it that is copied.
    fn source(&mut self, source: file::SourceAddress, stack: &Stack) -> SourceDatabase {
        let (path, part) = match source {
            file::SourceAddress::Plain(dsn) => {
                ("dataset.from", file::SourcePart { source: dsn, schema_only: false, sample: None })
            }
            file::SourceAddress::Full(part) => ("dataset.from.source", part),
        };
        self.check_address(path, &part.source);
        let address = |dsn: &str| (self.request.grammars.dsn)(dsn).map(|server| server.address);
        if let Some(NodeKind::Attached(attached)) = stack.nodes.last().map(|it| &it.kind)
            && let Some(measured) = address(&attached.dsn)
            && address(&part.source).is_some_and(|it| it == measured)
        {
            self.report(path, message!("experiment-source-itself", address = measured));
        }
        let extract = match (part.schema_only, part.sample) {
            (true, Some(_)) => {
                let message =
                    message!("experiment-conflicting-keys", first = "schema_only", second = "sample");
                self.report("dataset.from.sample", message);
                Extract::Schema
            }
            (true, None) => Extract::Schema,
            (false, Some(share)) => {
                if !(1e-4..=1.0).contains(&share.0) {
                    let (key, value, min, max) = ("sample", format!("{}%", share.0 * 100.0), "0.01%", "100%");
                    self.report(
                        "dataset.from.sample",
                        message!("experiment-out-of-range", key, value, min, max),
                    );
                }
                Extract::Sample { fraction: share.0 }
            }
            (false, None) => Extract::All,
        };
        SourceDatabase { dsn: part.source, extract }
    }

    /// Name of the template database, which only an attached server can contain.
    fn template(&mut self, name: String, stack: &Stack) -> String {
        let server = stack.nodes.last().expect("a stack has a node");
        if server.kind.role() == Role::Server && !matches!(server.kind, NodeKind::Attached(_)) {
            self.report("dataset.template", message!("experiment-template-own-server", name = quote(&name)));
        }
        if let NodeKind::Attached(attached) = &server.kind
            && let Some(target) = (self.request.grammars.dsn)(&attached.dsn)
            && target.address.rsplit_once('/').is_some_and(|it| it.1 == name)
        {
            self.report("dataset.template", message!("experiment-template-itself"));
        }
        if name.is_empty() || name.len() > 63 {
            self.report("dataset.template", message!("experiment-template-name"));
        }
        name
    }

    /// Dumps with their sizes and hashes. Unreadable dumps are reported and left out.
    fn dumps(&mut self, source: OneOrMany<String>) -> Vec<DumpFile> {
        let (paths, is_list) = match source {
            OneOrMany::One(path) => (vec![path], false),
            OneOrMany::Many(paths) => (paths, true),
        };
        if paths.is_empty() {
            self.report("dataset.restore", message!("experiment-dumps-empty"));
        }
        let folder = self.request.path.parent().unwrap_or("".as_ref());
        let mut files = Vec::new();
        for (i, path) in paths.iter().enumerate() {
            match (self.request.dump)(&folder.join(path)) {
                Ok(file) => files.push(file),
                Err(error) => {
                    let at =
                        if is_list { format!("dataset.restore[{i}]") } else { "dataset.restore".to_owned() };
                    let error = Message::from(&error);
                    self.report(&at, message!("experiment-dump-unreadable", file = quote(path), error));
                }
            }
        }
        files
    }

    fn tables(&mut self, tables: Vec<(String, file::Table)>) -> Vec<Table> {
        if tables.is_empty() {
            self.report("dataset.tables", message!("experiment-tables-empty"));
        }
        tables.into_iter().map(|(name, it)| self.table(name, it)).collect()
    }

    fn table(&mut self, name: String, source: file::Table) -> Table {
        let path = format!("dataset.tables.{name}");
        let parts: Vec<&str> = name.split('.').collect();
        if parts.len() > 2 || !parts.iter().all(|it| is_name(it)) {
            self.report(&path, message!("experiment-table-name", name = quote(&name)));
        }
        if source.columns.0.is_empty() {
            self.report(&format!("{path}.columns"), message!("experiment-columns-empty"));
        }
        for key in &source.primary_key {
            if source.columns.0.iter().all(|column| column.0 != *key) {
                let names = source.columns.0.iter().map(|it| it.0.as_str());
                let (nearest, column) = (crate::diagnostic::nearest(key, names), quote(key));
                let message = message!("experiment-unknown-column", column, nearest);
                self.report(&format!("{path}.primary_key"), message);
            }
        }
        let columns = source.columns.0.into_iter().map(|(name, it)| self.column(&path, name, it)).collect();
        Table { name, rows: source.rows, columns, primary_key: source.primary_key, indexes: source.indexes }
    }

    fn column(&mut self, table: &str, name: String, source: file::Column) -> Column {
        let path = format!("{table}.columns.{name}");
        if !is_name(&name) {
            self.report(&path, message!("experiment-column-name", name = quote(&name)));
        }
        let (generator, sql_type, nulls) = match source {
            file::Column::Plain(generator) => (generator, None, 0.0),
            file::Column::Full(it) => (it.generator, it.sql_type, it.nulls.map_or(0.0, |it| it.0)),
        };
        Column { name, sql_type, generator: self.generator(&path, generator), null_fraction: nulls }
    }

    fn generator(&mut self, path: &str, source: file::Generator) -> ColumnGenerator {
        use file::Generator as From;
        match source {
            From::Serial => ColumnGenerator::Serial,
            From::RussianName => ColumnGenerator::RussianName,
            From::EnglishName => ColumnGenerator::EnglishName,
            From::Uniform(bounds) => {
                self.ordered(path, bounds.min <= bounds.max);
                ColumnGenerator::Uniform { min: bounds.min, max: bounds.max }
            }
            From::Zipfian(zipfian) => {
                self.ordered(path, zipfian.min <= zipfian.max);
                let s = zipfian.s.unwrap_or(ZIPF);
                if !(1.001..=1000.0).contains(&s) {
                    let (key, value) = ("s", s.to_string());
                    let (min, max) = ("1.001", "1000");
                    self.report(path, message!("experiment-out-of-range", key, value, min, max));
                }
                ColumnGenerator::Zipfian { min: zipfian.min, max: zipfian.max, s }
            }
            From::Words(words) => {
                self.ordered(path, words.min <= words.max);
                ColumnGenerator::Words { min: words.min, max: words.max }
            }
            From::Text(it) => ColumnGenerator::Text { length: it.length },
            From::Timestamp(moments) => {
                let mut parse = |text: &String| {
                    let moment = parse_utc(text);
                    if moment.is_none() {
                        self.report(path, message!("experiment-timestamp", text = quote(text)));
                    }
                    moment
                };
                if let (Some(from), Some(to)) = (parse(&moments.from), parse(&moments.to)) {
                    self.ordered(path, from <= to);
                }
                ColumnGenerator::Timestamp { from: moments.from, to: moments.to }
            }
            From::Point(it) => ColumnGenerator::Point { from: it.from.into(), to: it.to.into() },
            From::Json(fields) => {
                let field = |(name, member)| {
                    let generator = self.generator(path, member);
                    (name, generator)
                };
                ColumnGenerator::Json(fields.0.into_iter().map(field).collect())
            }
            From::Constant(it) => ColumnGenerator::Constant(it.0),
            From::OneOf(list) => {
                if list.is_empty() {
                    self.report(path, message!("experiment-one-of-empty"));
                }
                ColumnGenerator::OneOf(list.into_iter().map(|it| it.0).collect())
            }
        }
    }

    fn ordered(&mut self, path: &str, is_ordered: bool) {
        if !is_ordered {
            self.report(path, message!("experiment-range-order"));
        }
    }
}

/// Key of a content that does not depend on the seed.
fn seedless_key(content: &Content) -> Option<&'static str> {
    match content {
        Content::Dump { .. } => Some("restore"),
        Content::Template { .. } => Some("template"),
        Content::Source(SourceDatabase { extract: Extract::All | Extract::Schema, .. }) => Some("from"),
        _ => None,
    }
}

/// True for a name that needs no quotes in SQL, apart from letter case.
fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    let first = letters.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    first && text.len() <= 63 && letters.all(|c| c.is_alphanumeric() || c == '_')
}
