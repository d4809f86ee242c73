//! Agents of a run: from the file and the options, and additional ones while the agents limit the load

use super::{Args, Runner, assigned};
use crate::cli::CommandError;
use crate::fleet::Fleet;
use crate::fleet::options::{FleetOptions, LabelSelector, NatsArgs};
use model::Summary;
use model::fact::Fact;
use model::message;
use model::message::Message;
use model::note::Note;
use model::plan::{AgentCount, Experiment, Generators};
use model::validity::InvalidReason;
use std::sync::atomic::Ordering;
use store::TrialId;

/// Largest number of agents.
const AGENTS_MAX: u16 = 4096;

pub(super) fn parse_agent_count(text: &str) -> Result<AgentCount, String> {
    if text == "auto" {
        return Ok(AgentCount::AUTO);
    }
    let count = text.parse().ok().filter(|it| (1..=AGENTS_MAX).contains(it));
    count.map(AgentCount::Fixed).ok_or_else(|| format!("write a number from 1 to {AGENTS_MAX}, or auto"))
}

impl Args {
    /// Agents of the experiment, with the options of the command line; `None` if this process generates the load.
    pub(super) fn generators(&self, experiment: &Experiment) -> Option<Generators> {
        let given = experiment.generators.clone();
        let agents = self.local_agents.map(AgentCount::Fixed).or(self.agents);
        let mut generators = agents.map(|agents| Generators { agents, ..given.clone().unwrap_or_default() });
        if let Some(generators) = &mut generators {
            generators.local = self.local_agents.is_some();
        }
        let mut generators = generators.or(given)?;
        if let Some(url) = &self.nats.url {
            generators.nats = Some(url.clone());
        }
        let selected = self.select.iter().map(|it| (it.label.clone(), it.values.clone()));
        generators.select.extend(selected);
        Some(generators)
    }

    /// Leases the agents of the experiment.
    pub(super) fn lease(&self, experiment: &Experiment) -> Result<Option<Fleet>, CommandError> {
        let Some(Generators { agents, nats, select, local }) = &experiment.generators else {
            return Ok(None);
        };
        if let Some(reason) = assigned::unsupported(experiment) {
            return Err(CommandError::usage(reason));
        }
        let select = select.iter().map(|(label, values)| {
            let (label, values) = (label.clone(), values.clone());
            LabelSelector { label, values }
        });
        let nats = NatsArgs { url: nats.clone(), credentials: self.nats.credentials.clone() };
        let options = FleetOptions {
            agents: agents.first(),
            grows: *agents == AgentCount::AUTO,
            local: *local,
            select: select.collect(),
            nats,
        };
        Fleet::lease(&options).map(Some)
    }
}

impl Runner {
    /// Adds idle agents if the `used` agents limited the load of a trial and the run may add agents. Returns the reason
    /// why the trial is repeated, or `None` if no agent was added.
    pub(super) fn add_agents(&mut self, id: TrialId, summary: &Summary, used: usize) -> Option<Message> {
        let limit = summary.validity.reasons.iter().find_map(|reason| match reason {
            InvalidReason::AgentsLimit { more, .. } => Some(*more),
            _ => None,
        });
        // A load with as few clients as agents cannot be spread over more of them.
        let may_grow = |fleet: &&mut Fleet| {
            fleet.grows() && usize::from(fleet.len()) == used && (used as u32) < summary.plan.clients
        };
        let (more, fleet) = limit.zip(self.test_bed.fleet.as_mut().filter(may_grow))?;
        if self.interrupted.load(Ordering::Relaxed) {
            return None;
        }
        self.repeats_trial = fleet.grow(more) > 0;
        let message = match self.repeats_trial {
            true => message!("agents-added", agents = u64::from(fleet.len())),
            false => message!("agents-none-left"),
        };
        self.display.print_diagnostic(&self.lang.message(&message));
        let note = Note { subject: message!("note-subject-agents"), message: message.clone() };
        self.writer.fact(Some(id), Fact::Note(note));
        self.repeats_trial.then_some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_agents_is_a_number_or_auto() {
        for (text, expected) in [
            ("3", Some(AgentCount::Fixed(3))),
            ("4096", Some(AgentCount::Fixed(4096))),
            ("auto", Some(AgentCount::AUTO)),
            ("0", None),
            ("4097", None),
            ("Auto", None),
            ("", None),
        ] {
            assert_eq!(parse_agent_count(text).ok(), expected, "{text}");
        }
    }

    /// Older runs stored a number.
    #[test]
    fn the_number_of_agents_is_stored_as_in_the_file() {
        for (text, expected) in [("3", AgentCount::Fixed(3)), ("\"auto\"", AgentCount::AUTO)] {
            assert_eq!(serde_json::from_str::<AgentCount>(text).ok(), Some(expected), "{text}");
            assert_eq!(serde_json::to_string(&expected).ok().as_deref(), Some(text));
        }
        assert!(serde_json::from_str::<AgentCount>("\"many\"").is_err());
    }
}
