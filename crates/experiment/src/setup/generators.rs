//! Agents that generate the load.

use super::SetupBuilder;
use crate::file;
use model::message;
use model::plan::{AgentCount, Generators, Goal, Load};

impl SetupBuilder<'_> {
    pub(super) fn generators(
        &mut self,
        given: Option<file::Generators>,
        find: &Goal,
        load: &Load,
    ) -> Option<Generators> {
        let file::Generators { agents, nats, select, lost } = given?;
        if *find == Goal::Failover {
            self.report("generators", message!("experiment-generators-failover"));
        }
        if load.is_recorded() {
            self.report("generators", message!("experiment-generators-recorded"));
        }
        // A password in the address would be stored with the run.
        if nats.as_ref().is_some_and(|it| it.contains('@')) {
            self.report("generators.nats", message!("experiment-generators-password"));
        }
        if let Some(lost) = lost.filter(|it| it != "invalid") {
            let other = Some(lost).filter(|it| it != "continue");
            self.report("generators.lost", message!("experiment-generators-lost", other));
        }
        let agents = match agents {
            file::AgentCount::Fixed(count) => AgentCount::Fixed(count),
            file::AgentCount::Auto(_) => AgentCount::AUTO,
        };
        let values = |values: file::OneOrMany<crate::unit::Word>| match values {
            file::OneOrMany::One(value) => vec![value.0],
            file::OneOrMany::Many(values) => values.into_iter().map(|it| it.0).collect(),
        };
        let select = select.0.into_iter().map(|(label, it)| (label, values(it))).collect();
        Some(Generators { agents, nats, select, local: false })
    }
}
