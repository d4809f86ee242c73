//! The section `feeds`: feeds and their columns.

use super::SetupBuilder;
use crate::GrammarDiagnostic;
use crate::diagnostic::quote;
use crate::file;
use crate::name::name_error;
use crate::template::is_name;
use model::message;
use model::plan::{Feed, FeedFormat, FeedOrder, FeedSource, NodeKind, Stack};
use std::path::Path;

/// Maximum number of rows in the experiment file. Larger feeds belong in a file of their own.
const MAX_ROWS: usize = 1000;

/// Properties of a feed that operations need.
#[derive(Clone, Debug)]
pub struct FeedInfo {
    pub name: String,
    /// Column names. `None` if only the query's result defines them.
    pub columns: Option<Vec<String>>,
    /// True if the feed's rows are whole requests.
    pub is_ammo: bool,
    /// Source of requests; `None` if the feed is no file or if its file cannot be read.
    pub source: Option<FeedSource>,
}

impl SetupBuilder<'_> {
    pub(super) fn feeds(&mut self, all: Vec<(String, file::Feed)>) -> (Vec<Feed>, Vec<FeedInfo>) {
        all.into_iter().map(|(name, it)| self.feed(name, it)).unzip()
    }

    /// Reports feeds with queries if the experiment has no database that could execute them.
    pub(super) fn check_feed_queries(&mut self, feeds: &[Feed], stack: &Stack) {
        let only_services =
            !stack.nodes.is_empty() && stack.nodes.iter().all(|it| matches!(it.kind, NodeKind::Service(_)));
        for feed in feeds.iter().filter(|it| only_services && matches!(it.source, FeedSource::Query(_))) {
            self.report(&format!("feeds.{}.sql", feed.name), message!("experiment-feed-query"));
        }
    }

    fn feed(&mut self, name: String, declared: file::Feed) -> (Feed, FeedInfo) {
        let path = format!("feeds.{name}");
        let at = |key: &str| format!("{path}.{key}");
        if let Some(message) = name_error(&name) {
            self.report(&path, message);
        }
        let given: Vec<&str> = [
            ("file", declared.file.is_some()),
            ("sql", declared.sql.is_some()),
            ("rows", declared.rows.is_some()),
        ]
        .iter()
        .filter(|it| it.1)
        .map(|it| it.0)
        .collect();
        match given.as_slice() {
            [] => self.report(&path, message!("experiment-feed-source", feed = quote(&name))),
            [_] => {}
            [first, second, ..] => {
                let message = message!("experiment-conflicting-keys", first = *first, second = *second);
                self.report(&at(second), message);
            }
        }
        if declared.format.is_some() && declared.file.is_none() {
            self.report(&at("format"), message!("experiment-feed-format-file"));
        }
        if let Some(log_format) = &declared.log_format {
            let span = self.span_of(&at("log_format"));
            if let Err(diagnostics) = (self.request.grammars.log_format)(log_format) {
                self.report_in_text(&span, log_format, diagnostics);
            }
        }
        for (i, column) in declared.columns.iter().flatten().enumerate() {
            let twice = declared.columns.iter().flatten().take(i).any(|it| it == column);
            if twice || !is_name(column) {
                let message = match twice {
                    true => message!("experiment-duplicate-column", column = quote(column)),
                    false => message!("experiment-variable-name", name = quote(column)),
                };
                self.report(&format!("{path}.columns[{i}]"), message);
            }
        }
        if let Some(column) = &declared.lookup_column {
            let parts: Vec<&str> = column.split('.').collect();
            if !(2..=3).contains(&parts.len()) || parts.iter().any(|it| it.is_empty()) {
                self.report(&at("lookup_column"), message!("experiment-feed-lookup", text = quote(column)));
            }
        }
        let mut known =
            FeedInfo { name: name.clone(), columns: declared.columns.clone(), is_ammo: false, source: None };
        let mut columns = declared.columns.clone();
        let source = match (declared.file, declared.sql, declared.rows) {
            (Some(file), ..) => {
                let default = || match declared.log_format {
                    Some(_) => Some(FeedFormat::Access),
                    None => FeedFormat::from_extension(&file),
                };
                let format = declared.format.map(feed_format).or_else(default);
                let read = self.file(&path, &file, format, declared.columns.as_deref());
                let format = format.unwrap_or(FeedFormat::Csv);
                known.is_ammo = format.is_ammo();
                let is_readable = read.is_some();
                known.columns = read.or(known.columns);
                let folder = self.request.path.parent().unwrap_or("".as_ref());
                let path = folder.join(&file);
                let fits = match &declared.log_format {
                    Some(log_format) => {
                        self.log_fits(&at("log_format"), &path, format, log_format, is_readable)
                    }
                    None => known.columns.is_some(),
                };
                let source = FeedSource::File { path, format, log_format: declared.log_format.clone() };
                known.source = Some(source.clone()).filter(|_| fits && known.is_ammo);
                source
            }
            (None, Some(sql), _) => {
                if sql.trim().is_empty() {
                    self.report(&at("sql"), message!("experiment-feed-query-empty"));
                }
                let span = self.span_of(&at("sql"));
                let fill_in = |span| GrammarDiagnostic { span, message: message!("experiment-fill-in") };
                self.report_in_text(&span, &sql, model::fill_in_places(&sql).map(fill_in).collect());
                FeedSource::Query(sql)
            }
            (None, None, Some(rows)) => {
                let rows = self.rows(&path, rows, &mut columns);
                known.columns.clone_from(&columns);
                FeedSource::Rows(rows)
            }
            (None, None, None) => FeedSource::Rows(Vec::new()),
        };
        if declared.log_format.is_some() && !matches!(source, FeedSource::File { .. }) {
            self.report(&at("log_format"), message!("experiment-log-format-file"));
        }
        let order = declared.order.map_or(FeedOrder::Sequential, |it| it.0);
        (Feed { name, source, columns, order, lookup_column: declared.lookup_column }, known)
    }

    /// True if the lines at the beginning of a log fit its format; otherwise the error is reported.
    fn log_fits(
        &mut self,
        at: &str,
        path: &Path,
        format: FeedFormat,
        log_format: &str,
        is_readable: bool,
    ) -> bool {
        if format != FeedFormat::Access {
            self.report(at, message!("experiment-log-format-file"));
            return false;
        }
        // A malformed format and an unreadable file are already reported.
        if (self.request.grammars.log_format)(log_format).is_err() || !is_readable {
            return false;
        }
        if let Err(reason) = (self.request.log_sample)(path, log_format) {
            let file = quote(&path.display().to_string());
            self.report(at, message!("experiment-log-format-fits", file, reason));
            return false;
        }
        true
    }

    /// Column names of a feed's file.
    fn file(
        &mut self,
        path: &str,
        file: &str,
        format: Option<FeedFormat>,
        columns: Option<&[String]>,
    ) -> Option<Vec<String>> {
        let at = format!("{path}.file");
        let Some(format) = format else {
            self.report(&at, message!("experiment-feed-format", file = quote(file)));
            return None;
        };
        if format.is_ammo() && columns.is_some() {
            self.report(&format!("{path}.columns"), message!("experiment-ammo-columns"));
        }
        let folder = self.request.path.parent().unwrap_or("".as_ref());
        let place = folder.join(file);
        match (self.request.columns)(&place, format, columns.filter(|_| !format.is_ammo())) {
            Ok(columns) => Some(columns),
            Err(reason) => {
                let at = if columns.is_some() { format!("{path}.columns") } else { at };
                let file = quote(&place.display().to_string());
                let has_columns = columns.is_some();
                self.report(&at, message!("experiment-feed-file", file, reason, has_columns));
                None
            }
        }
    }

    /// Checks the rows that the experiment file contains. All must have the same columns.
    fn rows(
        &mut self,
        path: &str,
        rows: Vec<crate::datum::OrderedMap<crate::unit::Word>>,
        columns: &mut Option<Vec<String>>,
    ) -> Vec<Vec<String>> {
        let at = format!("{path}.rows");
        if rows.is_empty() || rows.len() > MAX_ROWS {
            let (count, max) = (rows.len(), MAX_ROWS.to_string());
            self.report(&at, message!("experiment-feed-rows", count, max));
        }
        if columns.is_some() {
            let message = message!("experiment-conflicting-keys", first = "rows", second = "columns");
            self.report(&format!("{path}.columns"), message);
        }
        let first =
            rows.first().map_or(Vec::new(), |row| row.0.iter().map(|it| it.0.clone()).collect::<Vec<_>>());
        if let Some(name) = first.iter().find(|it| !is_name(it)) {
            let message = message!("experiment-variable-name", name = quote(name));
            self.report(&format!("{at}[0].{name}"), message);
        }
        if first.is_empty() && !rows.is_empty() {
            self.report(&at, message!("experiment-row-empty"));
        }
        let mut all = Vec::new();
        for (i, row) in rows.into_iter().enumerate() {
            let has = |name: &String| row.0.iter().any(|it| it.0 == *name);
            if let Some(name) = first.iter().find(|it| !has(it)) {
                let (row, column) = ((i + 1).to_string(), quote(name));
                self.report(&format!("{at}[{i}]"), message!("experiment-row-lacks-column", row, column));
            }
            if let Some((name, _)) = row.0.iter().find(|it| !first.contains(&it.0)) {
                let (row, column) = ((i + 1).to_string(), quote(name));
                let message = message!("experiment-row-extra-column", row, column);
                self.report(&format!("{at}[{i}].{name}"), message);
            }
            if let Some((name, _)) = row.0.iter().find(|it| it.1.0.contains('\0')) {
                let message = message!("experiment-row-nul", column = quote(name));
                self.report(&format!("{at}[{i}].{name}"), message);
            }
            let value = |name: &String| row.0.iter().find(|it| it.0 == *name).map(|it| it.1.0.clone());
            all.push(first.iter().map(|name| value(name).unwrap_or_default()).collect());
        }
        *columns = Some(first);
        all
    }
}

fn feed_format(format: file::FileFormat) -> FeedFormat {
    match format {
        file::FileFormat::Csv => FeedFormat::Csv,
        file::FileFormat::Tsv => FeedFormat::Tsv,
        file::FileFormat::JsonLines => FeedFormat::JsonLines,
        file::FileFormat::Uri => FeedFormat::Uri,
        file::FileFormat::UriPost => FeedFormat::UriPost,
        file::FileFormat::Raw => FeedFormat::Raw,
        file::FileFormat::Access => FeedFormat::Access,
    }
}
