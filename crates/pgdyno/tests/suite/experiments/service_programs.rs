//! The documented service of several programs under load: nginx and PHP-FPM from the templates in docs/http.md
//!
//! Skipped if nginx or PHP-FPM is not installed: `apt-get install --no-install-recommends nginx-light php-fpm`.

use super::workspace::Workspace;
use serde_json::Value;
use std::fs;
use std::path::Path;
use store::TrialId;

/// The first block of docs/http.md in this language that contains `mark`.
pub fn documented(language: &str, mark: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/http.md");
    let text = fs::read_to_string(page).expect("the page can be read");
    let fence = format!("```{language}\n");
    let blocks = text.split(&fence).skip(1).filter_map(|it| it.split("```").next());
    blocks.filter(|it| it.contains(mark)).map(str::to_owned).next().expect("the page has the block")
}

/// Workspace with the documented templates; `None` if a program is not installed.
fn workspace(jobs: &str) -> Option<Workspace> {
    let fpm = ["/usr/sbin/php-fpm8.2", "/usr/sbin/php-fpm8.3", "/usr/sbin/php-fpm8.4", "/usr/sbin/php-fpm"];
    let Some(fpm) =
        fpm.into_iter().find(|it| Path::new(it).is_file() && Path::new("/usr/sbin/nginx").is_file())
    else {
        eprintln!("skipped: nginx or PHP-FPM is not installed");
        return None;
    };
    let yaml = documented("yaml", "per: stack")
        .replace("command: [php-fpm8.2,", &format!("command: [{fpm}, -n,"))
        .replace("cpu: 0.5", "cpu: 0.05")
        .replace("duration: 30s", "duration: 4s")
        .replace("get: /index.php", "preflight: false, get: /index.php");
    let workspace = Workspace::new("tier", &yaml);
    let folder = &workspace.folder;
    for name in ["templates", "flags"] {
        fs::create_dir(folder.join(name)).expect("the folder can be created");
    }
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("the file can be written");
    let root = folder.to_str().expect("the path is UTF-8");
    write("templates/nginx.conf", &documented("nginx", "listen").replace("/srv/shop", root));
    write("templates/pool.conf", &documented("ini", "[www]"));
    write("templates/jobs.conf", "login=${database.user}:${database.password}\n");
    write("jobs", jobs);
    write(
        "index.php",
        "<?php touch('BEGUN'); for ($i = 0; $i < 300000; $i++) { $hash = md5($i); } echo getenv('DB_PORT'); error_log(\"PHP Warning: user 'Smithers' has 17 items\");"
            .replace("BEGUN", &format!("{root}/flags/begun"))
            .as_str(),
    );
    use std::os::unix::fs::PermissionsExt;
    for (name, mode) in [("jobs", 0o755), ("flags", 0o777)] {
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode))
            .expect("the owner may do this");
    }
    Some(workspace)
}

#[test]
fn programs_of_a_service_are_measured_as_nodes() {
    let jobs = "#!/bin/sh\nwhile sleep 0.2; do\n\
        echo \"$$:20261121:110000.123 slow query: 0.3$$ sec, \\\"select a from t where b='Smithers'\\\"\"\ndone\n";
    let Some(workspace) = workspace(jobs) else { return };
    let checked = workspace.other_command("check", &[]);
    checked.expect(0);
    let words = checked.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in ["fpm (0.05 CPU)", "jobs (per: stack)", "nginx.conf pool.conf jobs.conf", "2 copies"] {
        assert!(words.contains(expected), "{expected:?} in {}", checked.out);
    }
    let ended = workspace.run(&[]);
    ended.expect(0);
    let run = workspace.stored();
    let trial = run.trials().expect("the trials can be read").remove(0);
    let names: Vec<&str> = trial.trial.nodes.iter().map(|it| it.name.as_str()).collect();
    let expected = [
        "service-balancer",
        "service-1.web",
        "service-1.fpm",
        "service-2.web",
        "service-2.fpm",
        "service.jobs",
        "postgres",
    ];
    assert_eq!(names, expected);
    let jobs = &trial.trial.nodes[5];
    assert_eq!(jobs.configuration[0].text, "login=app:***\n");
    // The quota of PHP-FPM limits both copies, unless this machine has no control groups.
    let limited = trial.trial.nodes[2].unapplied_limits.is_empty();
    let words = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words.contains("service.fpm"), limited, "{}", ended.out);
    let samples = run.samples(TrialId(1), None).expect("the samples can be read");
    let series: Vec<String> = samples.iter().map(|it| format!("{} {}", it.node, it.series)).collect();
    for expected in ["service-1.fpm service_threads_size", "service-2.web service_connections"] {
        assert!(series.iter().any(|it| it == expected), "{expected}");
    }
    // Lines of the programs' logs are counted by their text, without values and requests.
    let shown = workspace.other("runs", &["show", "last", "--json"]);
    let document = shown.expect(0).document();
    let messages = document["logs"][0]["messages"].as_array().expect("there are messages");
    for (node, kind, text) in [
        ("service.jobs", "slow_statement", "select a from t where b=?"),
        ("service-1.web", "error", "PHP message: PHP Warning: user ? has ? items while reading"),
    ] {
        let has = |it: &&Value| it["node"] == node && it["text"].to_string().contains(text);
        let message = messages.iter().find(has).unwrap_or_else(|| panic!("{node} {text}: {messages:#?}"));
        assert_eq!(message["kind"], kind);
        assert!(message["count"].as_u64() >= Some(2), "{message}");
        assert!(message["first"]["at_ns"].as_u64() < message["last"]["at_ns"].as_u64(), "{message}");
    }
    assert!(!format!("{messages:?}").contains("Smithers"), "{messages:#?}");
}

#[test]
fn trial_fails_if_a_program_ends() {
    let jobs = "#!/bin/sh\nuntil [ -e BEGUN ]; do sleep 0.05; done\necho 'no more jobs'\nexit 4\n";
    let Some(workspace) = workspace(jobs) else { return };
    let begun = workspace.folder.join("flags/begun");
    fs::write(
        workspace.folder.join("jobs"),
        jobs.replace("BEGUN", begun.to_str().expect("the path is UTF-8")),
    )
    .expect("the file can be written");
    let ended = workspace.run(&[]);
    let words = format!("{} {}", ended.out, ended.err);
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("service.jobs"), "{words}");
    assert!(!ended.status.success(), "{words}");
}
