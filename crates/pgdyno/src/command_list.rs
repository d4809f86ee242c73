//! Names, descriptions and examples of all commands

/// Commands that are listed together.
pub struct CommandGroup {
    pub heading: &'static str,
    pub commands: &'static [CommandDescription],
}

pub struct CommandDescription {
    pub name: &'static str,
    /// Description in the list of commands.
    pub about: &'static str,
    pub examples: &'static [&'static str],
    /// Documentation, relative to the root of the project.
    pub page: &'static str,
}

/// All commands, in the order of `pgdyno --help`.
pub const GROUPS: [CommandGroup; 4] = [
    CommandGroup {
        heading: "First steps",
        commands: &[
            CommandDescription {
                name: "demo",
                about: "Start a temporary server, measure it, and stop it",
                examples: &["pgdyno demo"],
                page: "docs/demo.md",
            },
            CommandDescription {
                name: "init",
                about: "Write a commented experiment file as a template",
                examples: &[
                    "pgdyno init shop.yaml --find max",
                    "pgdyno init shop.yaml --attach postgres://127.0.0.1/shop",
                ],
                page: "docs/experiment.md",
            },
            CommandDescription {
                name: "bench",
                about: "Benchmark a server, with the options and scripts of pgbench",
                examples: &["pgdyno bench -c 20 -T 30 postgres://127.0.0.1/shop"],
                page: "docs/bench.md",
            },
            CommandDescription {
                name: "doctor",
                about: "List the capabilities of this machine",
                examples: &["pgdyno doctor", "pgdyno doctor --report bug.md"],
                page: "docs/doctor.md",
            },
        ],
    },
    CommandGroup {
        heading: "Experiments",
        commands: &[
            CommandDescription {
                name: "check",
                about: "Check an experiment file: report all errors, or what a run would do",
                examples: &["pgdyno check shop.yaml", "pgdyno check shop.yaml --connect"],
                page: "docs/experiment.md",
            },
            CommandDescription {
                name: "try",
                about: "Execute each operation of an experiment file once, and print the answers",
                examples: &["pgdyno try shop.yaml", "pgdyno try shop.yaml order"],
                page: "docs/operations.md",
            },
            CommandDescription {
                name: "run",
                about: "Run an experiment file",
                examples: &[
                    "pgdyno run shop.yaml --live",
                    "pgdyno run shop.yaml --set pooler.size=24",
                    "pgdyno run --resume last",
                ],
                page: "docs/run.md",
            },
            CommandDescription {
                name: "agent",
                about: "Generate load for a coordinator on another machine",
                examples: &[
                    "pgdyno agent --nats nats://10.0.0.5:4222 --allow db.internal",
                    "pgdyno agent --labels zone=a",
                ],
                page: "docs/scale-out.md",
            },
            CommandDescription {
                name: "agents",
                about: "List the agents at a NATS server, or print a manifest that starts them",
                examples: &[
                    "pgdyno agents --nats nats://10.0.0.5:4222",
                    "pgdyno agents manifest --agents 20 > agents.yaml",
                ],
                page: "docs/scale-out.md",
            },
            CommandDescription {
                name: "stack",
                about: "Start the system of an experiment file and keep it running",
                examples: &["pgdyno stack up shop.yaml", "pgdyno stack status"],
                page: "docs/stack.md",
            },
            CommandDescription {
                name: "capture",
                about: "Write a recording from the statements in a server's logs",
                examples: &["pgdyno capture postgresql.csv -o shop.traffic"],
                page: "docs/replay.md",
            },
            CommandDescription {
                name: "record",
                about: "Write a recording of the requests that clients send through this proxy",
                examples: &[
                    "pgdyno record --listen 127.0.0.1:6433 --to postgres://127.0.0.1/shop -o shop.traffic",
                    "pgdyno record --http --to http://127.0.0.1:8080 -o shop.har",
                ],
                page: "docs/replay.md",
            },
            CommandDescription {
                name: "distil",
                about: "Write an experiment file from the statements in a server's logs",
                examples: &[
                    "pgdyno distil postgresql.csv -o shop.yaml",
                    "pgdyno distil --statements postgres://db/shop -o shop.yaml",
                ],
                page: "docs/distil.md",
            },
            CommandDescription {
                name: "import",
                about: "Write an experiment file from HTTP traffic: HAR, curl commands or OpenAPI",
                examples: &[
                    "pgdyno import shop.har -o shop.yaml",
                    "pgdyno import commands.txt -o shop.yaml --origin https://shop.test",
                ],
                page: "docs/import.md",
            },
            CommandDescription {
                name: "schedule",
                about: "Preview a schedule of arrivals",
                examples: &["pgdyno schedule 'line(1, 200, 60s) const(200, 5m)'"],
                page: "docs/schedule.md",
            },
            CommandDescription {
                name: "schema",
                about: "Print the JSON Schema of experiment files",
                examples: &["pgdyno schema > pgdyno.schema.json"],
                page: "docs/experiment.md",
            },
        ],
    },
    CommandGroup {
        heading: "Results",
        commands: &[
            CommandDescription {
                name: "report",
                about: "Write the report of a run as HTML, Markdown, JSON or JUnit, or several runs as a document",
                examples: &[
                    "pgdyno report last",
                    "pgdyno report last --format md --out -",
                    "pgdyno report --bind maximum confirm soak -o report.pdf",
                ],
                page: "docs/report.md",
            },
            CommandDescription {
                name: "compare",
                about: "Compare runs, with confidence intervals",
                examples: &["pgdyno compare last~1 last", "pgdyno compare shop"],
                page: "docs/comparing.md",
            },
            CommandDescription {
                name: "runs",
                about: "List, show and remove stored runs",
                examples: &["pgdyno runs", "pgdyno runs show last --trials"],
                page: "docs/store.md",
            },
            CommandDescription {
                name: "serve",
                about: "Show stored and current runs in a browser",
                examples: &["pgdyno serve --open"],
                page: "docs/live.md",
            },
            CommandDescription {
                name: "history",
                about: "Show the runs of an experiment over time, and where the results changed",
                examples: &["pgdyno history shop"],
                page: "docs/comparing.md",
            },
            CommandDescription {
                name: "advise",
                about: "Report indexes that would help the statements of a run",
                examples: &["pgdyno advise last"],
                page: "docs/advise.md",
            },
            CommandDescription {
                name: "judge",
                about: "Judge the durability of the writes in a ledger",
                examples: &["pgdyno judge runs/shop.1.ledger", "pgdyno judge history.txt --json"],
                page: "docs/durability.md",
            },
            CommandDescription {
                name: "export",
                about: "Export a run as CSV, JSON or HdrHistogram logs",
                examples: &["pgdyno export last --format csv --out tables"],
                page: "docs/store.md",
            },
        ],
    },
    CommandGroup {
        heading: "Help",
        commands: &[
            CommandDescription {
                name: "help",
                about: "Print this help, or that of a command",
                examples: &["pgdyno help run"],
                page: "docs/README.md",
            },
            CommandDescription {
                name: "manual",
                about: "Print the manual page of a command",
                examples: &["pgdyno manual run > pgdyno-run.1"],
                page: "docs/installing.md",
            },
            CommandDescription {
                name: "completions",
                about: "Print the script with which a shell completes command lines",
                examples: &["pgdyno completions bash > pgdyno.bash"],
                page: "docs/installing.md",
            },
        ],
    },
];

pub fn all() -> impl Iterator<Item = &'static CommandDescription> {
    GROUPS.iter().flat_map(|group| group.commands)
}

pub fn find(name: &str) -> Option<&'static CommandDescription> {
    all().find(|command| command.name == name)
}
