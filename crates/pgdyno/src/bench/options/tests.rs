use super::*;

fn args(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn named(name: &str) -> &'static Builtin {
    load::script::builtin::find(name).expect(name)
}

fn no_env(_: &str) -> Option<String> {
    None
}

#[track_caller]
fn run(line: &str) -> BenchOptions {
    match parse(&args(line), &no_env) {
        Ok(BenchCommand::Run(it)) => *it,
        other => panic!("{line}: {other:?}"),
    }
}

/// Checks the `message` of each diagnostic, in order.
#[track_caller]
fn check_diagnostics(line: &str, expected: &[&str]) {
    let diagnostics = parse(&args(line), &no_env).expect_err(line);
    let got: Vec<&str> = diagnostics.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(got, expected, "{line}");
    for diagnostic in &diagnostics {
        assert!(!diagnostic.hint.is_empty(), "{diagnostic:?}");
    }
}

#[test]
fn fills_in_defaults() {
    let options = run("");
    let script = WeightedScript { source: Source::Builtin(named("tpcb-like")), weight: 1 };
    assert_eq!(options.scripts, [script]);
    assert_eq!((options.clients, options.threads, options.max_tries), (1, 1, 1));
    assert_eq!(options.end, RunEnd::Transactions(10));
    assert_eq!(options.pace, ArrivalModel::Closed { think: Nanos::ZERO });
    assert_eq!(options.vacuum, Vacuum::Small);
    assert_eq!(options.seed, SeedOption::Time { explicit: false });
    assert_eq!(options.log, None);
}

#[test]
fn accepts_pgbench_options() {
    let options =
        run("-c8 -j 16 db -S -b tpcb@2 -f a@b.sql@3 -M prepared -T 5 -R 2.5 -L 0.5 -h /tmp -p 5433 -U me");
    assert_eq!((options.clients, options.threads), (8, 8), "no more threads than clients");
    assert_eq!(options.target.database.as_deref(), Some("db"));
    assert_eq!(run("--dbname=shop").target.database.as_deref(), Some("shop"));
    assert_eq!(options.target.host.as_deref(), Some("/tmp"));
    assert_eq!(options.scripts.iter().map(|it| it.weight).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(options.scripts[2].source, Source::File("a@b.sql".to_owned()));
    assert_eq!(options.pace, ArrivalModel::Rate { rate: PerSecond(2.5), spacing: Spacing::Poisson });
    assert_eq!(options.latency_limit, Some(Nanos::from_micros(500)));
    assert_eq!(options.end, RunEnd::Seconds(5));
    assert_eq!(run("-n -v -n").vacuum, Vacuum::Nothing);
    assert_eq!(run("-Dfoo=-10.1 --define n=a=b").defines[1], ("n".to_owned(), "a=b".to_owned()));
    assert_eq!(run("--max-tries 0 -T 1").max_tries, 0);
    let log = LogOptions { prefix: "x".to_owned(), form: LogForm::Aggregated(5) };
    assert_eq!(run("-l --log-prefix=x --aggregate-interval=5 -T 10").log, Some(log));
}

#[test]
fn accepts_pgdyno_options() {
    let options =
        run("--schedule line(1,200,200s) --max-in-flight 100 --max-backlog 0 --no-spin --json --strict");
    let text = "line(1,200,200s)".to_owned();
    let curve = load::schedule::parse(&text).expect("a schedule");
    assert_eq!(options.pace, ArrivalModel::Schedule { text, curve, spacing: Spacing::Even });
    assert_eq!((options.clients, options.max_backlog), (100, 0));
    assert_eq!((options.end, options.spin), (RunEnd::ScheduleEnds, Nanos::ZERO));
    assert!(options.json && options.strict && !options.allow_shell);
    assert_eq!(run("--think 1.5s").pace, ArrivalModel::Closed { think: Nanos::from_millis(1500) });
    let even = ArrivalModel::Rate { rate: PerSecond(10.0), spacing: Spacing::Even };
    assert_eq!(run("-R 10 --arrivals=even --driver io_uring").pace, even);
    assert_eq!(run("--spin 10us").spin, Nanos::from_micros(10));
    // A thread that busy-waits would not need to wake up.
    let coalescing = run("-R 10 --slack 200us");
    assert_eq!((coalescing.spin, coalescing.slack), (Nanos::ZERO, Nanos::from_micros(200)));
    assert_eq!(run("-R 10 --slack 0us").spin, run("-R 10").spin);
    for driver in Driver::ALL {
        assert_eq!(run(&format!("--driver {}", driver.name())).driver, Some(driver));
    }
    assert_eq!(run("--driver epoll --driver auto").driver, None);
}

/// Abbreviations that pgbench accepts have the same meaning.
#[test]
fn accepts_unambiguous_abbreviations() {
    assert!(run("--conn").reconnect);
    assert_eq!(run("--max 3").max_tries, 3);
    assert_eq!(run("--sc 3").scale, Some(3));
    check_diagnostics(
        "--s 1",
        &["option '--s' is ambiguous; possibilities: '--scale' '--skip-some-updates' '--select-only' \
                      '--sampling-rate' '--show-script' '--schedule' '--spin' '--slack' '--save' '--strict'"],
    );
}

#[test]
fn help_and_version_take_precedence() {
    for (line, expected) in [
        ("--help", BenchCommand::Help),
        ("-n -? --bad", BenchCommand::Help),
        ("-V", BenchCommand::Version),
        ("-b list", BenchCommand::ListBuiltins),
        ("--show-script se", BenchCommand::ShowScript(named("select-only"))),
    ] {
        assert_eq!(parse(&args(line), &no_env), Ok(expected), "{line}");
    }
}

#[test]
fn parses_initialisation_options() {
    let init = |line: &str| match parse(&args(line), &no_env) {
        Ok(BenchCommand::Initialise(it)) => it,
        other => panic!("{line}: {other:?}"),
    };
    let steps = |line: &str| init(line).steps.iter().collect::<String>();
    assert_eq!(steps("-i"), "dtgvp");
    assert_eq!(steps("-i -n --foreign-keys"), "dtgpf");
    assert_eq!(steps("-i --init-steps=dtpvGvv --no-vacuum --foreign-keys"), "dtpGf");
    assert_eq!(init("-i --partitions=3").partitions, Some((PartitionMethod::Range, 3)));
    assert_eq!(
        init("-i --partitions=2 --partition-method=HASH -s 5").partitions,
        Some((PartitionMethod::Hash, 2))
    );
}

#[test]
fn refuses_what_agents_cannot_do() {
    for (line, expected) in [
        ("--agents=auto", "--agents=auto is not possible, because a benchmark is measured once"),
        ("--agents 0", "--agents must be in range 1..4096"),
        ("-c 2 --agents 3", "fewer clients (-c) than agents"),
        ("-c 3 -j 2 --agents 3", "fewer threads (-j) than agents"),
        ("-c 2 -l --agents 2", "-l cannot be used with agents"),
        ("--nats nats://a", "--nats, --creds and --label are allowed only with --agents"),
    ] {
        check_diagnostics(line, &[expected]);
    }
    let http = run("-c 2 --agents 2 --http http://127.0.0.1/");
    assert!(http.fleet.is_some() && http.http.is_some());
}

#[test]
fn diagnostics_have_pgbench_texts() {
    let range = "must be in range 1..2147483647";
    for (line, expected) in [
        ("-h home -d --bad-option", "unrecognized option '--bad-option'"),
        ("-b no-such", "no builtin script found for name \"no-such\""),
        ("--builtin=select-only@one", "invalid weight specification: @one"),
        ("-b select-only@-1", "weight specification out of range (0 .. 2147483647): -1"),
        (&"-S ".repeat(129), "at most 128 SQL scripts are allowed"),
        ("-c three", "invalid value \"three\" for option -c/--clients"),
        ("-c 0", &format!("-c/--clients {range}")),
        ("-j eleven", "invalid value \"eleven\" for option -j/--jobs"),
        ("-i -s two", "invalid value \"two\" for option -s/--scale"),
        ("-t zil", "invalid value \"zil\" for option -t/--transactions"),
        ("-T 99999999999", &format!("-T/--time {range}")),
        ("-t 1 -T 1", "specify either a number of transactions (-t) or a duration (-T), not both"),
        ("--define foobla", "invalid variable definition: \"foobla\""),
        ("-i -F 1", "-F/--fillfactor must be in range 10..100"),
        ("-M no-such-mode", "invalid query mode (-M): \"no-such-mode\""),
        ("--rate=0.0", "invalid rate limit: \"0.0\""),
        ("--rate=1O0", "invalid rate limit: \"1O0\""),
        ("-R 1e308", "invalid rate limit: \"1e308\""),
        ("-R 10000001", "invalid rate limit: \"10000001\""),
        ("-R nan", "invalid rate limit: \"nan\""),
        ("--latency-limit=0.0", "invalid latency limit: \"0.0\""),
        ("--latency-limit=1e300", "invalid latency limit: \"1e300\""),
        ("--think 1e300s", "invalid duration \"1e300s\" for option --think"),
        ("-R 1 --max-backlog 2147483647", "--max-backlog must be in range 0..10000000"),
        ("--slack 1ms", "--slack is allowed only in the open model"),
        ("-R 1 --slack 101ms", "--slack must be at most 100ms"),
        ("-R 1 --slack 1ms --spin 1us", "--slack cannot be used with --spin"),
        ("-l --sampling-rate=1.5", "invalid sampling rate: \"1.5\""),
        ("-b se@0 -b si@0", "total script weight must not be zero"),
        ("-i -S", "some of the specified options cannot be used in initialization (-i) mode"),
        ("-S -F 90", "some of the specified options cannot be used in benchmarking mode"),
        ("-b s", "ambiguous builtin name: 2 builtin scripts found for prefix \"s\""),
        ("--progress-timestamp", "--progress-timestamp is allowed only under --progress"),
        ("-i -I dta", "unrecognized initialization step \"a\""),
        ("--random-seed=one", "unrecognized random seed option \"one\""),
        (
            "-i --partition-method=BAD --partitions=1",
            "invalid partition method, expecting \"range\" or \"hash\", got: \"BAD\"",
        ),
        ("-i --partitions -1", "--partitions must be in range 0..2147483647"),
        ("-i --partition-method=hash", "--partition-method requires greater than zero --partitions"),
        ("--max-tries -10", "invalid number of maximum tries: \"-10\""),
        (
            "--max-tries 0",
            "an unlimited number of transaction tries can only be used with --latency-limit or a duration (-T)",
        ),
        ("--log-prefix=x", "log file prefix (--log-prefix) is allowed only when logging transactions (-l)"),
        (
            "-l -T 1 --aggregate-interval=3",
            "number of seconds for aggregation (3) must not be higher than test duration (1)",
        ),
        ("-l -T 5 --aggregate-interval=3", "duration (5) must be a multiple of aggregation interval (3)"),
        ("one two three", "too many command-line arguments (first is \"two\")"),
        ("-R 5 --think 1ms", "--think is allowed only in the closed model"),
        ("--think 1", "invalid duration \"1\" for option --think"),
        ("--max-backlog 5", "--max-backlog is allowed only in the open model"),
        ("--schedule const(1,1.5s)", "invalid schedule: \"const(1,1.5s)\""),
        ("--schedule const(1,1s) -R 5", "-R cannot be used with --schedule"),
    ] {
        check_diagnostics(line, &[expected]);
    }
}

#[test]
fn reports_all_diagnostics_at_once() {
    check_diagnostics(
        "-c three --no-vacum -T ten -i one two",
        &[
            "invalid value \"three\" for option -c/--clients",
            "unrecognized option '--no-vacum'",
            "invalid value \"ten\" for option -T/--time",
            "too many command-line arguments (first is \"two\")",
            "some of the specified options cannot be used in initialization (-i) mode",
        ],
    );
    let diagnostics = parse(&args("--no-vacum"), &no_env).unwrap_err();
    assert_eq!(diagnostics[0].hint, "did you mean --no-vacuum?");
    let diagnostics = parse(&args("-c three"), &no_env).unwrap_err();
    assert_eq!(diagnostics[0].hint, "write a whole number from 1 to 2147483647, as in --client=8");
}

#[test]
fn reads_the_seed_from_the_environment() {
    let env = |seed: &'static str| move |name: &str| (name == "PGBENCH_RANDOM_SEED").then(|| seed.to_owned());
    let seed = |line: &str, value| match parse(&args(line), &env(value)) {
        Ok(BenchCommand::Run(it)) => it.seed,
        other => panic!("{other:?}"),
    };
    assert_eq!(seed("", "7"), SeedOption::Fixed(7));
    assert_eq!(seed("--random-seed=8", "7"), SeedOption::Fixed(8));
    assert!(parse(&[], &env("x")).unwrap_err()[0].hint.contains("PGBENCH_RANDOM_SEED"));
}

#[test]
fn reads_the_language_from_the_environment() {
    let env = |code: &'static str| move |name: &str| (name == "PGDYNO_LANG").then(|| code.to_owned());
    let lang = |line: &str, value| match parse(&args(line), &env(value)) {
        Ok(BenchCommand::Run(it)) => it.lang.code(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (lang("", ""), lang("", "ru"), lang("--lang=en", "ru"), lang("--lang ru", "")),
        ("en", "ru", "en", "ru")
    );
    for refused in [parse(&[], &env("de")), parse(&args("--lang de"), &no_env)] {
        assert_eq!(refused.unwrap_err()[0].hint, "write one of en, ru");
    }
}

#[test]
fn help_names_every_option_within_80_columns() {
    let help = usage("pgbench");
    for option in table::TABLE {
        assert!(help.contains(&format!("--{}", option.long)), "{}", option.long);
    }
    for line in help.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}
