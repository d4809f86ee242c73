//! Section with the agents that generated the load

use super::context::PageContext;
use super::figure_table::{FigureColumn, non_empty_columns};
use crate::say;
use crate::view::{Block, Column, Tone};
use model::{AgentPart, Nanos};

/// Builds a table with one row per agent; empty without agents.
pub fn blocks(case: &PageContext<'_>) -> Vec<Block> {
    let mut agents: Vec<AgentParts<'_>> = Vec::new();
    for part in case.account.trials.iter().flat_map(|it| &it.agents) {
        match agents.iter_mut().find(|it| it.name == part.agent) {
            Some(agent) => agent.parts.push(part),
            None => agents.push(AgentParts { name: &part.agent, parts: vec![part] }),
        }
    }
    if agents.is_empty() {
        return Vec::new();
    }
    let lang = case.lang;
    let count = |it: u64| lang.number(&it.to_string());
    let worst = |time: Option<Nanos>| time.map_or(String::new(), |time| lang.time(time));
    let figures: Vec<FigureColumn<'_, AgentParts<'_>>> = vec![
        (say!(lang, "agents-column-host"), 4, Box::new(|it| it.parts[0].host.clone())),
        (say!(lang, "agents-column-threads"), 5, Box::new(move |it| count(it.parts[0].threads.into()))),
        (say!(lang, "agents-column-trials"), 6, Box::new(move |it| count(it.parts.len() as u64))),
        (say!(lang, "agents-column-ok"), 0, Box::new(move |it| count(it.sum(|part| part.ok)))),
        (
            say!(lang, "agents-column-other"),
            1,
            Box::new(move |it| count(it.sum(|part| part.arrivals - part.ok))),
        ),
        (say!(lang, "agents-column-p99"), 1, Box::new(move |it| worst(it.worst(|part| part.p99)))),
        (say!(lang, "agents-column-send-lag"), 1, Box::new(move |it| worst(it.worst(|part| part.send_lag)))),
        (
            say!(lang, "agents-column-busy"),
            2,
            Box::new(move |it| it.busiest().map_or(String::new(), |share| lang.numbers().percent(share, 0))),
        ),
        (say!(lang, "agents-column-jitter"), 3, Box::new(move |it| worst(it.worst(|part| part.jitter)))),
        (
            say!(lang, "agents-column-clock"),
            2,
            Box::new(move |it| worst(it.worst(|part| part.clock_uncertainty))),
        ),
        (say!(lang, "agents-column-lost"), 1, Box::new(move |it| count(it.lost()))),
    ];
    let rows: Vec<&AgentParts<'_>> = agents.iter().collect();
    let name = Column { heading: say!(lang, "agents-column-agent"), ..Column::default() };
    let mut table = non_empty_columns((name, |it: &AgentParts<'_>| it.name.to_owned()), figures, &rows);
    for (row, agent) in table.rows.iter_mut().zip(&agents) {
        row.tone = if agent.lost() > 0 { Tone::Bad } else { Tone::Plain };
    }
    table.caption = say!(lang, "agents-caption");
    vec![Block::Table(table)]
}

/// Parts of one agent in all trials.
struct AgentParts<'a> {
    name: &'a str,
    /// At least one.
    parts: Vec<&'a AgentPart>,
}

impl AgentParts<'_> {
    fn sum(&self, figure: impl Fn(&AgentPart) -> u64) -> u64 {
        self.parts.iter().map(|it| figure(it)).sum()
    }

    /// Largest value in a trial.
    fn worst(&self, figure: impl Fn(&AgentPart) -> Option<Nanos>) -> Option<Nanos> {
        self.parts.iter().filter_map(|it| figure(it)).max()
    }

    fn busiest(&self) -> Option<f64> {
        self.parts.iter().filter_map(|it| it.busy).reduce(f64::max)
    }

    fn lost(&self) -> u64 {
        self.parts.iter().filter(|it| it.lost.is_some()).count() as u64
    }
}
