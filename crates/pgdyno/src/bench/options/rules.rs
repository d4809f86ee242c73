//! Combination rules of the options

use super::table::Draft;
use super::value::INT_MAX;
use super::{
    ArrivalModel, BenchCommand, BenchOptions, HttpOptions, InitOptions, LogForm, LogOptions,
    OptionDiagnostic, ProgressReport, RunEnd, SaveOptions, SeedOption, Source, TargetOptions, Vacuum,
    WeightedScript,
};
use crate::fleet::options::{FleetOptions, NatsArgs};
use crate::run_name;
use load::script::builtin;
use model::plan::Load;
use model::summary::PartitionMethod;
use model::{Nanos, Spacing};
use report::lang::english;
use wire::http::Method;

/// Default busy-wait time: about the longest delay with which the kernel wakes a sleeping thread.
const DEFAULT_SPIN: Nanos = Nanos::from_micros(30);

/// Command that `draft` describes. The command is valid only if no diagnostics were added.
pub fn resolve(mut draft: Draft, diagnostics: &mut Vec<OptionDiagnostic>) -> BenchCommand {
    draft.target.database = draft.operands.first().cloned();
    if draft.init {
        BenchCommand::Initialise(Box::new(initialise(draft, diagnostics)))
    } else {
        run(draft, diagnostics)
    }
}

fn initialise(draft: Draft, diagnostics: &mut Vec<OptionDiagnostic>) -> InitOptions {
    if let Some(option) = draft.first_of_run {
        diagnostics.push(OptionDiagnostic::new(
            "some of the specified options cannot be used in initialization (-i) mode",
            format!("leave --{option} out, or -i"),
        ));
    }
    if draft.partitions == 0 && draft.partition_method.is_some() {
        diagnostics.push(OptionDiagnostic::new(
            "--partition-method requires greater than zero --partitions",
            "say how many, as in --partitions=10",
        ));
    }
    let mut steps: Vec<char> = draft.steps.as_deref().unwrap_or("dtgvp").chars().collect();
    steps.retain(|&it| it != ' ' && !(it == 'v' && draft.no_vacuum));
    if draft.foreign_keys && !steps.contains(&'f') {
        steps.push('f');
    }
    let method = draft.partition_method.unwrap_or(PartitionMethod::Range);
    InitOptions {
        target: draft.target,
        yes_load: draft.yes_load,
        steps,
        scale: draft.scale.unwrap_or(1),
        fill_factor: draft.fill_factor.unwrap_or(100),
        quiet: draft.quiet,
        lang: draft.lang.unwrap_or(english()),
        unlogged: draft.unlogged,
        tablespace: draft.tablespace,
        index_tablespace: draft.index_tablespace,
        partitions: (draft.partitions > 0).then_some((method, draft.partitions)),
    }
}

fn run(mut draft: Draft, diagnostics: &mut Vec<OptionDiagnostic>) -> BenchCommand {
    if let Some(option) = draft.first_of_init {
        diagnostics.push(OptionDiagnostic::new(
            "some of the specified options cannot be used in benchmarking mode",
            format!("leave --{option} out, or add -i"),
        ));
    }
    let http = http(&mut draft, diagnostics);
    if draft.scripts.is_empty() {
        draft.scripts.push(WeightedScript { source: Source::Builtin(&builtin::ALL[0]), weight: 1 });
    }
    if draft.scripts.iter().all(|it| it.weight == 0) {
        diagnostics.push(OptionDiagnostic::new(
            "total script weight must not be zero",
            "give one script a weight above 0, as in -b select-only@1",
        ));
    }
    let clients = draft.clients.unwrap_or(1);
    let end = run_end(&draft, diagnostics);
    let pace = pace(&draft, diagnostics);
    let max_tries = draft.max_tries.unwrap_or(1);
    if max_tries == 0 && draft.latency_limit.is_none() && matches!(end, RunEnd::Transactions(_)) {
        diagnostics.push(OptionDiagnostic::new(
            "an unlimited number of transaction tries can only be used with --latency-limit or a duration (-T)",
            "add -T 60, or give a number, as in --max-tries=10",
        ));
    }
    let fleet = fleet(&mut draft, diagnostics);
    let (spin, slack) = spin_and_slack(&draft, diagnostics);
    BenchCommand::Run(Box::new(BenchOptions {
        fleet,
        log: log(&draft, end, diagnostics),
        progress: progress(&draft, diagnostics),
        save: save(&mut draft, diagnostics),
        clients,
        threads: draft.threads.unwrap_or(1).min(clients),
        target: draft.target,
        http,
        scripts: draft.scripts,
        mode: draft.mode,
        pace,
        max_backlog: draft.max_backlog.unwrap_or(1_000_000),
        end,
        latency_limit: draft.latency_limit,
        max_tries,
        reconnect: draft.reconnect,
        max_connecting: draft.max_connecting.unwrap_or(64),
        vacuum: match (draft.no_vacuum, draft.vacuum_all) {
            (true, _) => Vacuum::Nothing,
            (false, true) => Vacuum::All,
            (false, false) => Vacuum::Small,
        },
        scale: draft.scale,
        defines: draft.defines,
        seed: draft.seed.unwrap_or(SeedOption::Time { explicit: false }),
        driver: draft.driver,
        spin,
        slack,
        per_command: draft.per_command,
        arguments: draft.arguments,
        objectives: draft.objectives,
        failures_detailed: draft.failures_detailed,
        verbose_errors: draft.verbose_errors,
        exit_on_abort: draft.exit_on_abort,
        debug: draft.debug,
        json: draft.json,
        strict: draft.strict,
        allow_shell: draft.allow_shell,
        as_pgbench: false,
        yes_load: draft.yes_load,
        lang: draft.lang.unwrap_or(english()),
    }))
}

/// Agents that generate the load; `None` without agents.
fn fleet(draft: &mut Draft, diagnostics: &mut Vec<OptionDiagnostic>) -> Option<FleetOptions> {
    let mut wrong = |message: &str, hint: &str| diagnostics.push(OptionDiagnostic::new(message, hint));
    let local = draft.local_agents.is_some();
    let Some(agents) = draft.local_agents.or(draft.agents) else {
        if draft.nats != NatsArgs::default() || !draft.select.is_empty() {
            wrong("--nats, --creds and --label are allowed only with --agents", "add --agents=3");
        }
        return None;
    };
    if local && (draft.agents.is_some() || draft.nats != NatsArgs::default() || !draft.select.is_empty()) {
        wrong(
            "--local-agents cannot be used with --agents, --nats, --creds or --label",
            "leave them out: --local-agents starts a server and agents of its own",
        );
    }
    for (option, _) in [("-l", draft.log), ("--allow-shell", draft.allow_shell)].into_iter().filter(|it| it.1)
    {
        wrong(&format!("{option} cannot be used with agents"), "leave it out, or generate the load here");
    }
    if draft.clients.unwrap_or(1) < u32::from(agents) {
        wrong("fewer clients (-c) than agents", &format!("write -c {agents} or more, or use fewer agents"));
    }
    if draft.threads.is_some_and(|it| it < u32::from(agents)) {
        wrong(
            "fewer threads (-j) than agents",
            &format!("-j is the number of threads of all agents together: write -j {agents} or more"),
        );
    }
    let (select, nats) = (std::mem::take(&mut draft.select), std::mem::take(&mut draft.nats));
    Some(FleetOptions { agents, grows: false, local, select, nats })
}

fn http(draft: &mut Draft, diagnostics: &mut Vec<OptionDiagnostic>) -> Option<HttpOptions> {
    let Some(url) = draft.url.take() else {
        if let Some(option) = draft.first_of_http.filter(|_| !draft.has_http) {
            diagnostics.push(OptionDiagnostic::new(
                format!("--{option} is allowed only with --http"),
                "add --http=http://127.0.0.1:8080/path, or leave it out",
            ));
        }
        return None;
    };
    let of_sql = [
        ("-b, -f, -S and -N", !draft.scripts.is_empty()),
        ("a database's name", draft.target != TargetOptions::default()),
        ("-v", draft.vacuum_all),
        ("--max-tries", draft.max_tries.is_some()),
    ];
    for (option, _) in of_sql.into_iter().filter(|it| it.1) {
        diagnostics.push(OptionDiagnostic::new(
            format!("{option} cannot be used with --http"),
            "leave it out: with --http no PostgreSQL is asked",
        ));
    }
    if draft.insecure && draft.roots.is_some() {
        diagnostics
            .push(OptionDiagnostic::new("--insecure cannot be used with --cacert", "leave one of them out"));
    }
    // As in curl, a request with a body uses POST.
    let method = if draft.body.is_some() { Method::Post } else { Method::Get };
    Some(HttpOptions {
        url,
        method: draft.method.unwrap_or(method),
        headers: std::mem::take(&mut draft.headers),
        body: draft.body.take(),
        expect: std::mem::take(&mut draft.expect),
        first_byte_timeout: draft.begin_within,
        response_timeout: draft.end_within,
        roots: draft.roots.take(),
        insecure: draft.insecure,
    })
}

fn run_end(draft: &Draft, diagnostics: &mut Vec<OptionDiagnostic>) -> RunEnd {
    if draft.transactions.is_some() && draft.seconds.is_some() {
        diagnostics.push(OptionDiagnostic::new(
            "specify either a number of transactions (-t) or a duration (-T), not both",
            "leave -t out, or -T",
        ));
    }
    if draft.schedule.is_some() {
        let ends = [("-t", draft.transactions.is_some()), ("-T", draft.seconds.is_some())];
        for (option, _) in ends.into_iter().filter(|(_, given)| *given) {
            diagnostics.push(OptionDiagnostic::new(
                format!("{option} cannot be used with --schedule"),
                "leave it out: the schedule says how long the run lasts",
            ));
        }
        return RunEnd::ScheduleEnds;
    }
    match draft.seconds {
        Some(seconds) => RunEnd::Seconds(seconds),
        None => RunEnd::Transactions(draft.transactions.unwrap_or(10)),
    }
}

fn pace(draft: &Draft, diagnostics: &mut Vec<OptionDiagnostic>) -> ArrivalModel {
    let pace = match (&draft.schedule, draft.rate) {
        (Some((text, curve)), rate) => {
            if rate.is_some() {
                diagnostics.push(OptionDiagnostic::new(
                    "-R cannot be used with --schedule",
                    "leave it out: a steady rate is --schedule='const(1000,60s)'",
                ));
            }
            let (text, curve) = (text.clone(), curve.clone());
            ArrivalModel::Schedule { text, curve, spacing: draft.arrivals.unwrap_or(Spacing::Even) }
        }
        (None, Some(rate)) => {
            ArrivalModel::Rate { rate, spacing: draft.arrivals.unwrap_or(Spacing::Poisson) }
        }
        (None, None) => ArrivalModel::Closed { think: draft.think.unwrap_or_default() },
    };
    let of_open = [
        ("--arrivals", draft.arrivals.is_some()),
        ("--max-backlog", draft.max_backlog.is_some()),
        ("--slack", draft.slack.is_some()),
    ];
    for (option, _) in of_open.into_iter().filter(|(_, given)| *given && !pace.is_open()) {
        diagnostics.push(OptionDiagnostic::new(
            format!("{option} is allowed only in the open model"),
            "add -R 1000 or --schedule='line(1,1000,60s)', or leave it out",
        ));
    }
    if draft.think.is_some() && pace.is_open() {
        diagnostics.push(OptionDiagnostic::new(
            "--think is allowed only in the closed model",
            "leave it out: in the open model arrivals do not wait for answers",
        ));
    }
    pace
}

/// Busy-wait before a due time, and minimum time between two wake-ups. A thread that busy-waits does not need to wake up.
fn spin_and_slack(draft: &Draft, diagnostics: &mut Vec<OptionDiagnostic>) -> (Nanos, Nanos) {
    let slack = draft.slack.unwrap_or_default();
    if slack > Load::SLACK_MAX {
        diagnostics.push(OptionDiagnostic::new(
            "--slack must be at most 100ms",
            "give a shorter time, such as --slack=200us",
        ));
    }
    if slack == Nanos::ZERO {
        return (draft.spin.unwrap_or(DEFAULT_SPIN), slack);
    }
    if draft.spin.is_some_and(|it| it > Nanos::ZERO) {
        diagnostics.push(OptionDiagnostic::new(
            "--slack cannot be used with --spin",
            "leave one of them out: --slack saves CPU time, --spin costs CPU time",
        ));
    }
    (Nanos::ZERO, slack)
}

fn progress(draft: &Draft, diagnostics: &mut Vec<OptionDiagnostic>) -> Option<ProgressReport> {
    if draft.progress_timestamp && draft.progress.is_none() {
        diagnostics
            .push(OptionDiagnostic::new("--progress-timestamp is allowed only under --progress", "add -P 5"));
    }
    draft.progress.map(|every| ProgressReport { every, timestamp: draft.progress_timestamp })
}

fn save(draft: &mut Draft, diagnostics: &mut Vec<OptionDiagnostic>) -> Option<SaveOptions> {
    let (name, directory) = (draft.save.take(), draft.out.take());
    if name.is_none() && directory.is_some() {
        diagnostics
            .push(OptionDiagnostic::new("--out is allowed only with --save", "add --save, or leave it out"));
    }
    Some(SaveOptions { name: name?, directory: directory.unwrap_or_else(|| run_name::DIRECTORY.into()) })
}

fn log(draft: &Draft, end: RunEnd, diagnostics: &mut Vec<OptionDiagnostic>) -> Option<LogOptions> {
    let mut wrong = |message: &str, hint: &str| diagnostics.push(OptionDiagnostic::new(message, hint));
    if draft.sampling.is_some() && !draft.log {
        wrong("log sampling (--sampling-rate) is allowed only when logging transactions (-l)", "add -l");
    }
    if draft.sampling.is_some() && draft.aggregate.is_some() {
        wrong(
            "log sampling (--sampling-rate) and aggregation (--aggregate-interval) cannot be used at the same time",
            "leave one of them out",
        );
    }
    if draft.aggregate.is_some() && !draft.log {
        wrong("log aggregation is allowed only when actually logging transactions", "add -l");
    }
    if draft.log_prefix.is_some() && !draft.log {
        wrong("log file prefix (--log-prefix) is allowed only when logging transactions (-l)", "add -l");
    }
    if let (Some(every), RunEnd::Seconds(seconds)) = (draft.aggregate, end) {
        let divisor = (1..=every.min(seconds)).rev().find(|it| seconds.is_multiple_of(*it)).unwrap_or(1);
        let hint = format!("write --aggregate-interval={divisor}");
        if every > seconds {
            wrong(
                &format!(
                    "number of seconds for aggregation ({every}) must not be higher than test duration ({seconds})"
                ),
                &hint,
            );
        } else if !seconds.is_multiple_of(every) {
            wrong(
                &format!("duration ({seconds}) must be a multiple of aggregation interval ({every})"),
                &hint,
            );
        }
    }
    let form = match (draft.sampling, draft.aggregate) {
        (Some(share), _) => LogForm::Sampled(share),
        (None, Some(seconds)) => LogForm::Aggregated(seconds.min(INT_MAX)),
        (None, None) => LogForm::All,
    };
    let prefix = draft.log_prefix.clone().unwrap_or_else(|| "pgbench_log".to_owned());
    draft.log.then_some(LogOptions { prefix, form })
}
