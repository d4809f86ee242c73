//! Equal seeds yield pgbench's random sequences

use super::test_server::{SHARED, Script};
use std::process::{Command, Stdio};

#[test]
fn equal_seeds_draw_pgbench_values() {
    let script = Script::new(
        "random",
        "\\set a random(1, 1000000000)\n\\set b random_gaussian(1, 1000000, 2.5)\n\\set c random_exponential(1, 1000000, 3.5)\n\
         \\set d random_zipfian(1, 1000000, 1.3)\n\\set e permute(:a, 1000000007)\n\\set f hash(:a)\n\\set g hash_fnv1a(:b, 7)\n\
         INSERT INTO drawn VALUES (:who, :client_id, :a, :b, :c, :d, :e, :f, :g, :default_seed, :random_seed);\n",
    );
    let mut connection = SHARED.connect();
    connection
        .query(
            "create table drawn (who int, client int, a bigint, b bigint, c bigint, d bigint, e bigint, f bigint, g bigint, \
             h bigint, i bigint)",
        )
        .expect("a table");
    let pgbench = SHARED.postgres.installation.bin.join("pgbench");
    let arguments = ["-n", "--random-seed", "271828", "-f", script.path(), "-c", "5", "-j", "2", "-t", "40"];
    let pgbench_status = Command::new(pgbench)
        .args(arguments)
        .args(["-D", "who=1"])
        .envs(SHARED.postgres.client_environment())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(pgbench_status.expect("pgbench is installed").success());
    let pgdyno_output = SHARED.bench(&[&arguments[..], &["-D", "who=2"]].concat());
    assert!(pgdyno_output.status.success(), "{}", super::test_server::combined_output(&pgdyno_output));
    let only = |a: u8, b: u8| {
        format!(
            "select count(*) from (select client, a, b, c, d, e, f, g, h, i from drawn where who = {a} except all select client, a, b, c, d, e, f, g, h, i from drawn where who = {b}) it"
        )
    };
    for (a, b) in [(1, 2), (2, 1)] {
        let differing = connection.value(&only(a, b)).expect("rows");
        assert_eq!(differing.as_deref(), Some("0"), "rows of {a} that {b} has not");
    }
    assert_eq!(connection.value("select count(*) from drawn").expect("rows").as_deref(), Some("400"));
}
