//! Plan of a simulated run

use crate::load_plan::{InitialValue, LoadPlan, RngSeeds};
use crate::random::SeedSequence;
use crate::script::{Mode, Program};
use model::{Nanos, Schedule};

/// Closed-loop schedule without think time.
pub const CLOSED: Schedule = Schedule::Closed { think: Nanos::ZERO };

/// Plan of a simulated run, without limits. The variable `client_id`, if the program has it, is the client's number.
pub fn plan(program: Program, mode: Mode, clients: u32, threads: u16, schedule: Schedule) -> LoadPlan {
    let mut seeds = SeedSequence::new(7);
    let seeds = RngSeeds {
        clients: (0..clients).map(|_| seeds.client_rng()).collect(),
        script_rngs: (0..threads).map(|_| seeds.thread_rngs().choose).collect(),
        arrivals: 7,
        other: 7,
        variables: program.slot("client_id").map(|slot| (slot, InitialValue::Client)).into_iter().collect(),
    };
    LoadPlan {
        program,
        mode,
        schedule,
        duration: None,
        transactions: None,
        clients,
        threads,
        max_tries: 1,
        latency_limit: None,
        backlog_max: 1_000_000,
        drain: Nanos::from_secs(100),
        reconnect: false,
        connecting_max: 1000,
        connect_timeout: Nanos::from_secs(10),
        timeout: None,
        abandon_max: None,
        verbose: false,
        reports_steps: false,
        measured: crate::MeasuredCommands::None,
        seeds,
    }
}
