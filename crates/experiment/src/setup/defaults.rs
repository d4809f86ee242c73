//! The section `defaults`.

use super::SetupBuilder;
use super::http::Variables;
use crate::file::{self, OneOrMany};
use model::message;
use model::plan::{Operation, OperationKind};

/// Defaults for requests, which are valid or reported.
#[derive(Clone, Debug, Default)]
pub struct RequestDefaults {
    source: file::Defaults,
    /// True if an error in the variables is reported.
    has_wrong_variables: bool,
}

impl SetupBuilder<'_> {
    /// Stores the defaults for the requests that are built later.
    pub(super) fn defaults(&mut self, source: Option<file::Defaults>) {
        let Some(mut source) = source else { return };
        for (name, value) in &mut source.headers.0 {
            value.0 = self.header("defaults", name, &value.0);
        }
        if let Some(expect) = &mut source.expect {
            for (key, texts) in
                [("contains", &mut expect.contains), ("not_contains", &mut expect.not_contains)]
            {
                let valid = self.texts(&format!("defaults.expect.{key}"), texts.take());
                let valid: Vec<String> = valid.into_iter().filter(|it| !it.is_empty()).collect();
                *texts = (!valid.is_empty()).then_some(OneOrMany::Many(valid));
            }
        }
        self.defaults.source = source;
    }

    /// Completes a request with the defaults, and checks that `operation` defines their variables. Returns the headers that
    /// the request does not have itself.
    pub(super) fn complete(
        &mut self,
        request: &mut file::Request,
        operation: &str,
        variables: &mut Variables,
    ) -> Vec<(String, String)> {
        let file::Defaults { headers, expect, redirects, decompress } = self.defaults.source.clone();
        let is_own = |name: &str| request.headers.0.iter().any(|it| it.0.eq_ignore_ascii_case(name));
        let headers = headers.0.into_iter().filter(|it| !is_own(&it.0)).map(|(name, value)| (name, value.0));
        let headers: Vec<(String, String)> = headers.collect();
        let mut used: Vec<String> = headers.iter().map(|it| format!("headers.{}", it.0)).collect();
        if let Some(default) = expect {
            let expect = request.expect.get_or_insert_default();
            expect.status = expect.status.take().or(default.status);
            if expect.contains.is_none() {
                used.push("expect.contains".to_owned());
                expect.contains = default.contains;
            }
            if expect.not_contains.is_none() {
                used.push("expect.not_contains".to_owned());
                expect.not_contains = default.not_contains;
            }
        }
        request.redirects = request.redirects.or(redirects);
        request.decompress = request.decompress.or(decompress);
        // One error is enough for all requests.
        if !self.defaults.has_wrong_variables {
            let before = self.diagnostics.len();
            for key in used {
                self.check_variables(&format!("defaults.{key}"), operation, variables);
            }
            self.defaults.has_wrong_variables = self.diagnostics.len() > before;
        }
        headers
    }

    /// Reports defaults that no operation uses.
    pub(super) fn check_defaults(&mut self, on_start: Option<&Operation>, operations: &[Operation]) {
        let mut all = operations.iter().chain(on_start);
        let is_given = crate::path::node(self.tree, "defaults").is_some();
        if is_given
            && !operations.is_empty()
            && !all.any(|it| matches!(it.kind, OperationKind::Http(_)) || it.kind.is_ammo())
        {
            self.report("defaults", message!("experiment-defaults-unused"));
        }
    }
}
