//! Generator of random experiment files, in which most values are plausible and some are odd

use load::random::Prng;

/// Percentage of odd values: zero, huge, or of another type.
const ODD_PERCENT: u64 = 1;

/// Text of an experiment file. Equal seeds give equal texts.
pub fn file(seed: u64) -> String {
    Generator { rng: Prng::seeded(seed) }.file()
}

struct Generator {
    rng: Prng,
}

/// A feed with the names of its columns.
struct Feed {
    name: &'static str,
    text: String,
    columns: &'static [&'static str],
}

impl Generator {
    fn chance(&mut self, percent: u64) -> bool {
        self.rng.u64_range(0, 99) < percent
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.rng.u64_range(0, all.len() as u64 - 1) as usize]
    }

    /// One of the usual values, or rarely an odd value.
    fn value<'a>(&mut self, usual: &[&'a str]) -> &'a str {
        match self.chance(ODD_PERCENT) {
            true => self.pick(&[
                "0",
                "-1",
                "1.5",
                "4294967296",
                "1e300",
                "10000000",
                "''",
                "0s",
                "100d",
                "0%",
                ".nan",
            ]),
            false => self.pick(usual),
        }
    }

    /// Adds `key: value` with a probability of `percent`.
    fn maybe(&mut self, parts: &mut Vec<String>, percent: u64, key: &str, usual: &[&str]) {
        if self.chance(percent) {
            let value = self.value(usual);
            parts.push(format!("{key}: {value}"));
        }
    }

    fn file(&mut self) -> String {
        let has_service = self.chance(40);
        let has_replicas = self.chance(15);
        let is_open = self.chance(55);
        let has_rows = self.chance(30);
        let searches = self.chance(20);
        let stack = self.stack(has_service, has_replicas);
        let feeds = self.feeds();
        // Open model: weights under the load's schedule, rates, or a schedule for each operation.
        let share = if is_open { self.pick(&["weights", "rates", "own"]) } else { "weights" };
        let share = if searches && share == "own" { "weights" } else { share };
        let count = self.rng.u64_range(1, 5);
        let operations: Vec<String> = (0..count)
            .map(|n| {
                let operation = self.operation(n, &feeds, (has_service, has_replicas, has_rows));
                let share = self.share(share, is_open, n == 0);
                format!("  op{n}: {{ {} }}", [share, operation].concat().join(", "))
            })
            .collect();
        let mut lines = vec![stack];
        if has_rows {
            lines.push(format!("dataset: {{ name: tickets, rows: {} }}", self.value(&["1", "1000"])));
        }
        if !feeds.is_empty() {
            lines.push("feeds:".to_owned());
            lines.extend(feeds.iter().map(|it| format!("  {}: {}", it.name, it.text)));
        }
        lines.push("operations:".to_owned());
        lines.extend(operations);
        lines.push(self.load(is_open, share, searches, has_service));
        if searches {
            lines.push(self.find());
        }
        if self.chance(30) {
            lines.push("objectives: [\"p99 < 200ms\", \"errors < 1%\"]".to_owned());
        }
        if self.chance(20) {
            lines.push("stop: [\"net(xx,25,10)\"]".to_owned());
        }
        if self.chance(15) {
            lines.push("matrix: { load.threads: [1, 1] }".replace("[1, 1]", self.pick(&["[1]", "[1, 2]"])));
        }
        if self.chance(20) {
            lines.push(format!("seed: {}", self.value(&["1", "7", "18446744073709551615"])));
        }
        if self.chance(10) {
            lines.push(format!("repeat: {}", self.value(&["1", "3"])));
        }
        lines.join("\n")
    }

    fn stack(&mut self, has_service: bool, has_replicas: bool) -> String {
        let mut parts = Vec::new();
        if has_service {
            parts.push("service: { command: [serve] }".to_owned());
        }
        if has_replicas {
            parts.push("balancer: { kind: haproxy }".to_owned());
            let sync = self.pick(&["async", "first 1", "any 1"]);
            parts.push(format!("replicas: {{ count: {}, sync: {sync} }}", self.value(&["1", "2"])));
        } else if self.chance(30) {
            let kind = self.pick(&["pgbouncer", "odyssey"]);
            let mode = self.pick(&["session", "transaction"]);
            let size = self.value(&["1", "20"]);
            parts.push(format!("pooler: {{ kind: {kind}, mode: {mode}, size: {size} }}"));
        }
        let connections = self.value(&["100", "1000"]);
        parts.push(format!("postgres: {{ max_connections: {connections} }}"));
        format!("stack: {{ {} }}", parts.join(", "))
    }

    fn feeds(&mut self) -> Vec<Feed> {
        const ALL: [(&str, &str, &[&str]); 5] = [
            (
                "r",
                "rows: [{ id: 1, name: a }, { id: 2, name: b }, { id: 3, name: \"ж $ '\" }]",
                &["id", "name"],
            ),
            ("q", "sql: \"SELECT 1 AS id, 2 AS name\", columns: [id]", &["id"]),
            ("u", "sql: \"SELECT 1 AS id, 2 AS name\"", &["id", "name"]),
            ("w", "sql: \"SELECT 1 AS id, 2 AS name\", columns: [name, id]", &["id", "name"]),
            ("s", "rows: [{ id: 5 }]", &["id"]),
        ];
        let mut feeds = Vec::new();
        for (name, source, columns) in ALL {
            if !self.chance(30) {
                continue;
            }
            let mut parts = vec![source.to_owned()];
            let orders = ["sequential", "shuffled", "random", "zipfian(1.2)", "zipfian(1000)", "once"];
            self.maybe(&mut parts, 60, "order", &orders);
            feeds.push(Feed { name, text: format!("{{ {} }}", parts.join(", ")), columns });
        }
        feeds
    }

    /// Weight, rate or schedule of an operation.
    fn share(&mut self, share: &str, is_open: bool, is_first: bool) -> Vec<String> {
        let mut parts = Vec::new();
        match share {
            "own" => parts.push(format!("schedule: \"{}\"", self.schedule())),
            _ if is_open && !is_first && self.chance(25) => {
                parts.push(format!("schedule: \"{}\"", self.schedule()));
            }
            "rates" => {
                parts.push(format!("rate: {}", self.value(&["1", "0.5", "0.000001", "333.333333", "40"])));
            }
            _ if is_first => self.maybe(&mut parts, 50, "weight", &["1", "3"]),
            _ => self.maybe(&mut parts, 50, "weight", &["1", "7", "0", "4294967295"]),
        }
        parts
    }

    /// Schedule of at most three seconds, so that it is not longer than the load.
    fn schedule(&mut self) -> String {
        let count = self.rng.u64_range(1, 3);
        let part = |generator: &mut Generator| {
            let rates = ["0", "1", "0.5", "17", "100", "0.000001", "1000"];
            let (from, to) = (generator.pick(&rates), generator.pick(&rates));
            match generator.rng.u64_range(0, 2) {
                0 => format!("const({from}, 1s)"),
                1 => format!("line({from}, {to}, 1s)"),
                _ => format!("step({from}, {from}, 1, 1s)"),
            }
        };
        (0..count).map(|_| part(self)).collect::<Vec<_>>().join(" ")
    }

    fn operation(
        &mut self,
        n: u64,
        feeds: &[Feed],
        (has_service, has_replicas, has_rows): (bool, bool, bool),
    ) -> Vec<String> {
        let mut parts = Vec::new();
        let feed = (!feeds.is_empty() && self.chance(60))
            .then(|| &feeds[self.rng.u64_range(0, feeds.len() as u64 - 1) as usize]);
        parts.extend(feed.map(|it| format!("feed: {}", it.name)));
        let mut names: Vec<&str> = feed.map_or(Vec::new(), |it| it.columns.to_vec());
        names.extend(["client_id", "random_seed"]);
        if has_rows {
            names.push("rows");
        }
        if has_service && self.chance(60) {
            parts.extend(self.requests(&names));
            return parts;
        }
        if has_replicas {
            self.maybe(&mut parts, 50, "target", &["primary", "replica", "any"]);
        }
        if self.chance(10) {
            parts.push(format!("ledger: \"SELECT token FROM t{n}\""));
            parts.push(format!("sql: \"INSERT INTO t{n} VALUES (:token)\""));
            return parts;
        }
        parts.push(format!("sql: \"{}\"", self.script(&names).replace('\\', "\\\\").replace('\n', "\\n")));
        parts
    }

    fn script(&mut self, names: &[&str]) -> String {
        let name = if self.chance(2) { "nobody" } else { self.pick(names) };
        let select = format!("SELECT :{name};\n");
        match self.rng.u64_range(0, 9) {
            0..3 => select,
            3 => format!("\\set x random(1, 100 * 3)\nBEGIN;\n{select}UPDATE t SET a = :x;\nEND;\n"),
            4 => format!(
                "\\set x random_zipfian(1, 10, 1.5) + :client_id\n\\if :x > 3\n{select}\\else\nSELECT :x;\n\\endif\n"
            ),
            5 => "SELECT 1 AS one \\gset\nSELECT :one;\n".replace(":one", self.pick(&[":one", ":client_id"])),
            6 => format!("\\sleep {}\n{select}", self.pick(&["1 ms", "0 us", "1 s", "100d", "-5 s"])),
            7 => format!("\\startpipeline\n{select}\\syncpipeline\n{select}\\endpipeline\n"),
            8 => format!(
                "\\set x {}\nSELECT :x;\n",
                self.pick(&["1 / 0", "9223372036854775807 + 1", "NULL", "-1 % 0"])
            ),
            _ => {
                format!("{select}\\; SELECT 2;\nSELECT '{}'::text;\n", self.pick(&["a", "ж", "it''s", "::"]))
            }
        }
    }

    fn requests(&mut self, names: &[&str]) -> Vec<String> {
        let name = if self.chance(2) { "nobody" } else { self.pick(names) };
        let mut parts = Vec::new();
        let mut known = name;
        if self.chance(30) {
            parts.push("set: { x: \"random(1, 9) * 2\" }".to_owned());
            known = "x";
        }
        if self.chance(25) {
            let capture = self.pick(&["json: /a", "header: Location", "regex: 'x+'"]);
            parts.push(format!(
                "steps: [{{ name: one, get: \"/${{{name}}}\", capture: {{ c: {{ {capture} }} }} }}, \
                 {{ post: /b, body: \"${{c}} ${{{known}}}\" }}]"
            ));
            return parts;
        }
        parts.push(match self.rng.u64_range(0, 4) {
            0 => format!("get: \"/a/${{{name}}}?b=${{{known}}}\""),
            1 => format!("get: /a, query: {{ b: \"${{{name}}}\" }}, headers: {{ X-Y: \"${{{known}}}\" }}"),
            2 => format!("post: /a, json: {{ id: \"${{{name}}}\", n: [1, ~, true] }}"),
            3 => format!("put: /a, form: {{ id: \"${{{name}}}\", \"b c\": \"&\" }}"),
            _ => "head: /".to_owned(),
        });
        self.maybe(
            &mut parts,
            20,
            "expect",
            &["{ status: 2xx }", "{ status: [200, 404] }", "{ contains: x }"],
        );
        self.maybe(&mut parts, 15, "redirects", &["1", "20"]);
        self.maybe(&mut parts, 15, "decompress", &["true"]);
        parts
    }

    fn load(&mut self, is_open: bool, share: &str, searches: bool, has_service: bool) -> String {
        let mut parts = vec![format!("model: {}", if is_open { "open" } else { "closed" })];
        let few = ["1", "2", "7", "50"];
        if is_open {
            parts.push(format!("max_in_flight: {}", self.value(&few)));
            match share {
                "weights" if !searches => {
                    parts.push(format!("schedule: \"{} const(0, 3s)\"", self.schedule()));
                }
                "rates" => {
                    parts.push(format!("duration: {}", self.value(&["3s", "1m", "1h"])));
                    self.maybe(&mut parts, 40, "coefficient", &["0.5", "3", "10000"]);
                }
                _ => {}
            }
            self.maybe(&mut parts, 50, "arrivals", &["even", "poisson"]);
            self.maybe(&mut parts, 15, "slack", &["1us", "200us", "100ms"]);
        } else if self.chance(35) && !searches {
            let stages = [
                "{ users: 5, duration: 1s }",
                "{ users: 20, spawn_rate: 40, duration: 2s }",
                "{ users: 0, duration: 1s }",
            ];
            let count = self.rng.u64_range(1, 4);
            let all: Vec<&str> = (0..count).map(|_| self.pick(&stages)).collect();
            parts.push(format!("users: [{{ users: 1, duration: 100ms }}, {}]", all.join(", ")));
        } else {
            parts.push(format!("clients: {}", self.value(&few)));
            parts.push(format!("duration: {}", self.value(&["1s", "3s", "1ms", "1h"])));
        }
        if !is_open {
            self.maybe(&mut parts, 30, "think", &["10ms", "exponential(5ms)", "lognormal(1ms, 0.5)", "1h"]);
            self.maybe(&mut parts, 20, "pacing", &["1ms", "100ms"]);
            self.maybe(&mut parts, 20, "max_rate", &["0.5", "100", "1000000"]);
        }
        self.maybe(&mut parts, 15, "warmup", &["1s", "1ms"]);
        self.maybe(&mut parts, 20, "threads", &["1", "1", "2"]);
        self.maybe(&mut parts, 50, "query_mode", &["simple", "extended", "prepared"]);
        self.maybe(&mut parts, 15, "reconnect", &["true", "false"]);
        self.maybe(&mut parts, 20, "timeout", &["1ns", "1ms", "5s"]);
        self.maybe(&mut parts, 15, "connect_timeout", &["1ns", "1s"]);
        self.maybe(&mut parts, 15, "max_tries", &["1", "3", "65535"]);
        if has_service {
            self.maybe(&mut parts, 5, "cookies", &["true"]);
            self.maybe(&mut parts, 5, "first_byte_timeout", &["1ns", "1s"]);
        }
        format!("load: {{ {} }}", parts.join(", "))
    }

    fn find(&mut self) -> String {
        let max =
            self.pick(&["{}", "{ from: 20, limit: 400, window: 2s }", "{ from: 0.5, precision: 0.5% }"]);
        let find = match self.rng.u64_range(0, 4) {
            0 => "max".to_owned(),
            1 => format!("{{ max: {max} }}"),
            2 => format!("{{ soak: {{ level: {}, duration: 5s }} }}", self.value(&["3", "100", "0.001"])),
            3 => format!(
                "{{ confirm: {{ level: {}, ramp: 1s, hold: 2s }} }}",
                self.value(&["3", "100", "0.5"])
            ),
            _ => format!("{{ sweep: {{ max: {max} }} }}"),
        };
        format!("find: {find}")
    }
}
