//! The section `on_start`.

use super::SetupBuilder;
use super::http::Variables;
use super::operations::Context;
use crate::file::OnStart;
use model::message;
use model::plan::{ON_START, Operation, OperationKind};

impl SetupBuilder<'_> {
    /// Requests at the start of each client, and the names of the variables that they define.
    pub(super) fn on_start(
        &mut self,
        source: Option<OnStart>,
        context: &Context<'_>,
    ) -> (Option<Box<Operation>>, Vec<String>) {
        let Some(OnStart { feed, set, steps }) = source else { return (None, Vec::new()) };
        let mut variables = Variables::default();
        if context.has_rows {
            variables.add("rows");
        }
        if let Some(known) = feed.as_ref().and_then(|name| self.find_feed(ON_START, "feed", name, context)) {
            variables.open = known.columns.is_none();
            known.columns.iter().flatten().for_each(|it| variables.add(it));
        }
        let sets = self.sets(ON_START, set.0, true, &mut variables, context.mode);
        let steps = self.steps("on_start.steps", steps, &mut variables);
        let operation =
            Operation { kind: OperationKind::Http(steps), feed, sets, ..Operation::script(ON_START, 0, "") };
        (Some(Box::new(operation)), variables.names)
    }

    /// Reports a start without an operation that sends requests.
    pub(super) fn check_on_start(&mut self, on_start: Option<&Operation>, operations: &[Operation]) {
        let sends = |it: &Operation| matches!(it.kind, OperationKind::Http(_)) || it.kind.is_ammo();
        if on_start.is_some() && !operations.is_empty() && !operations.iter().any(sends) {
            self.report(ON_START, message!("experiment-on-start-http"));
        }
    }
}
