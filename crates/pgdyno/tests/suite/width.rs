//! Width of the output of all commands that need no server
//!
//! `saved_bench` and `experiments` check the output of measurements with [`too_wide`].
//!
//! Every line of text fits into 80 columns, and into 120. A line may be longer only if it consists of one word, such as a
//! path or an address, because a broken word could not be copied. Documents (JSON, Markdown, CSV) have no width.

use report::live::width;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PGDYNO: &str = env!("CARGO_BIN_EXE_pgdyno");

/// Folder that is removed on drop. It has stored runs with names of usual length, an unreadable run, and experiment files.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("pgdyno-width-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("runs")).expect("there is room for temporary files");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/pgdyno");
        for name in ["bookshop-20261123T134158Z", "bookshop-20261123T151743Z"] {
            fs::copy(root.join("fixtures/runs/shop.dyno"), path.join(format!("runs/{name}.dyno")))
                .expect("the file can be copied");
        }
        fs::copy(root.join("fixtures/advice/books.dyno"), path.join("runs/books.dyno"))
            .expect("the file can be copied");
        fs::create_dir(path.join("bad")).expect("there is room for temporary files");
        for (name, text) in [
            ("bad/unreadable.dyno", "no database"),
            (
                "wrong.yaml",
                "stack: { postgers: {}, pooler: { product: pgbouncer, mode: transactional, size: many, cpu: lots } }\n",
            ),
            ("syntax.yaml", "stack: [ { postgres: {}\n"),
        ] {
            fs::write(path.join(name), text).expect("the file can be written");
        }
        symlink(PGDYNO, path.join("pgbench")).expect("the link can be created");
        Folder(path)
    }

    /// Output and errors of a command, without styles.
    fn output(&self, args: &[&str], columns: usize, lang: &str) -> String {
        let output = Command::new(PGDYNO)
            .args(args)
            .current_dir(&self.0)
            .env("COLUMNS", columns.to_string())
            .env("PGDYNO_LANG", lang)
            .env("XDG_RUNTIME_DIR", &self.0)
            .env_remove("PGDYNO_TOKEN")
            .stdin(Stdio::null())
            .output()
            .expect("the program can be started");
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const COMMANDS: [&str; 20] = [
    "run", "bench", "check", "try", "init", "schema", "stack", "runs", "serve", "report", "compare",
    "history", "advise", "export", "judge", "distil", "import", "schedule", "demo", "doctor",
];

/// Commands with their output for people, and their errors.
const ROWS: &[&str] = &[
    "",
    "--help",
    "--version",
    "help",
    "help runs show",
    "help nothing",
    "nothing",
    "runs",
    "runs list",
    "runs --dir bad",
    "runs --dir none",
    "runs show last",
    "runs show bookshop --trials",
    "runs show books --trials",
    "runs show none",
    "runs show --trials",
    "runs show --help",
    "runs stop last net(xx,25,10) quantile(99.9,1s,10)",
    "runs stop last nonsense(1,2,3)",
    "runs remove none",
    "compare last~1 last",
    "compare bookshop books",
    "compare bookshop",
    "compare books",
    "compare none last",
    "compare last~1 last --fail-if p99>10%,tps<5%,errors>nonsense",
    "history",
    "history bookshop",
    "history none",
    "advise books",
    "advise last",
    "advise none",
    "advise last --apply",
    "export last --format csv --out tables",
    "export last",
    "export last --format xml",
    "report last --out page.html",
    "report last --format xml",
    "report none",
    "doctor",
    "doctor --nonsense",
    "init compare.yaml",
    "init max.yaml --find max",
    "init confirm.yaml --find confirm",
    "init soak.yaml --find soak",
    "init failover.yaml --find failover",
    "init http.yaml --http http://127.0.0.1:8080/books?author=somebody",
    "init attached.yaml --attach postgres://me@127.0.0.1/shop",
    "init compare.yaml --find nothing",
    "init none/none.yaml",
    "init secret.yaml --attach postgres://me:secret@127.0.0.1/shop",
    "check compare.yaml",
    "check max.yaml",
    "check confirm.yaml",
    "check soak.yaml",
    "check failover.yaml",
    "check http.yaml",
    "check attached.yaml",
    "check compare.yaml --quick --set repeat=2",
    "check compare.yaml --set nothing.at.all=24",
    "check wrong.yaml",
    "check syntax.yaml",
    "check none.yaml",
    "check",
    "try none.yaml",
    "try compare.yaml nothing",
    "try wrong.yaml",
    "run none.yaml",
    "run wrong.yaml",
    "run --resume none",
    "run --resume last",
    "run compare.yaml --set nothing=1",
    "run compare.yaml --port 1",
    "stack",
    "stack up none.yaml",
    "stack up wrong.yaml",
    "stack status",
    "stack status none",
    "stack down none",
    "stack down --nonsense",
    "schedule line(1,200,200s)",
    "schedule line(1,200,200s)const(200,1m) --times --arrivals poisson --seed 1",
    "schedule line(1,200)const(200,1m)",
    "schedule",
    "serve --dir none",
    "serve --host 0.0.0.0 --port 0",
    "serve --token-file none",
    "schema --nonsense",
    "demo --nonsense",
    "bench -c three --no-vacum",
    "bench --http localhost:8080",
    "bench -h 127.0.0.1 -p 1 -U somebody shop",
    "bench -b list",
    "bench -b nothing",
    "bench --show-script tpcb-like",
    "bench -f none.sql postgres://127.0.0.1:1/shop",
];

/// Lines that do not fit into the terminal, with their widths.
pub fn too_wide(output: &str, columns: usize) -> Vec<String> {
    let is_breakable = |line: &&str| line.trim().contains(' ');
    let lines = output.lines().filter(|line| width(line) > columns).filter(is_breakable);
    lines.map(|line| format!("{} of {columns}: {line}", width(line))).collect()
}

#[test]
fn every_line_fits_into_the_terminal() {
    let folder = Folder::new("lines");
    let helps = COMMANDS.iter().flat_map(|name| [vec![*name, "--help"], vec!["help", *name]]);
    let rows = ROWS.iter().map(|row| row.split(' ').filter(|word| !word.is_empty()).collect());
    let mut wide = Vec::new();
    for args in helps.chain(rows) {
        for (columns, lang) in [(80, "en"), (80, "ru"), (120, "en")] {
            // A second `init` would refuse to replace the file, which is another row.
            if args[..].first() == Some(&"init") && args.len() > 1 {
                let _ = fs::remove_file(folder.0.join(args[1]));
            }
            let output = folder.output(&args, columns, lang);
            assert!(!output.is_empty(), "{args:?} prints nothing");
            assert!(!output.contains("panicked"), "{args:?}: {output}");
            wide.extend(too_wide(&output, columns).into_iter().map(|line| format!("{args:?}: {line}")));
        }
    }
    assert!(wide.is_empty(), "{} lines are too wide:\n{}", wide.len(), wide.join("\n"));
}

#[test]
fn help_of_a_command_is_the_same_in_both_spellings() {
    let folder = Folder::new("help");
    for name in COMMANDS {
        let help = folder.output(&["help", name], 80, "en");
        assert_eq!(help, folder.output(&[name, "--help"], 80, "en"), "{name}");
        assert!(help.contains(&format!("Examples:\n  pgdyno {name}")), "{help}");
        assert!(help.contains(&format!("Manual page: pgdyno manual {name} | man -l -")), "{help}");
    }
    assert_eq!(folder.output(&["help"], 80, "en"), folder.output(&["--help"], 80, "en"));
    assert_eq!(folder.output(&["help", "help"], 80, "en"), folder.output(&["--help"], 80, "en"));
}
