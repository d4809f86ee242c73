use super::*;

/// Compares the periods. Polls are written `role:timeline`, for a primary also `:commit:names:followers`; `-` is no
/// response, and `!` at the end is `fsync = off`. Polls are 10 ns apart.
fn check(polls: &str, periods: &str, settings: &str, followed: &str) {
    let mut history = ServerHistory::default();
    for (number, word) in polls.split(' ').enumerate() {
        let at = Nanos(number as u64 * 10);
        let parts: Vec<&str> = word.split(':').collect();
        let observation = (word != "-").then(|| {
            let server = ServerInstance {
                system: 1,
                timeline: parts[1].trim_end_matches('!').parse().unwrap(),
                ..ServerInstance::default()
            };
            let follower = |text: &str| {
                let (name, sync_state) = text.split_once('=').unwrap();
                let flushed = Some(Lsn(at.0));
                StreamingReplica { name: name.to_owned(), sync_state: sync_state.to_owned(), flushed }
            };
            let writes = (parts[0] == "p").then(|| {
                let followers = parts[4].split(',').filter(|it| !it.is_empty()).map(follower).collect();
                (parts[2].to_owned(), parts[3].to_owned(), followers)
            });
            let fsync = !word.ends_with('!');
            ServerObservation { at, server, in_recovery: parts[0] == "s", fsync, writes }
        });
        history.record("n", observation);
    }
    let role = |it: bool| if it { "s" } else { "p" };
    let all = &history.all;
    let words: Vec<String> = all
        .role_periods
        .iter()
        .map(|it| format!("{}{} {}-{}", role(it.in_recovery), it.server.timeline, it.from.0, it.to.0))
        .collect();
    assert_eq!(words.join(", "), periods, "{polls}");
    let words: Vec<String> = all
        .settings
        .iter()
        .map(|it| format!("{} {} {}", it.at.0, it.synchronous_commit, it.synchronous_standby_names))
        .collect();
    assert_eq!(words.join(", "), settings, "{polls}");
    let words: Vec<String> = all
        .replica_periods
        .iter()
        .map(|period| {
            let each = period.followers.iter().map(|it| format!("{}@{}", it.name, it.flushed.unwrap().0));
            format!("{}-{} {}", period.from.0, period.to.0, each.collect::<Vec<_>>().join("+"))
        })
        .collect();
    assert_eq!(words.join(", "), followed, "{polls}");
}

#[test]
fn unchanged_observations_form_one_period() {
    check("s:1 s:1 s:1", "s1 0-20", "", "");
    check("s:1 s:2 p:2:on::", "s1 0-0, s2 10-10, p2 20-20", "20 on ", "20-20 ");
    check("s:1 s:1! s:1!", "s1 0-0, s1 10-20", "", "");
    // The state during the missing response is unknown, although the polls before and after it are equal.
    check("p:1:on:a:a=sync - p:1:on:a:a=sync", "p1 0-0, p1 20-20", "0 on a", "0-0 a@0, 20-20 a@20");
    check(
        "p:1:on:a:a=sync p:1:on:a:a=sync p:1:off:a:a=sync p:1:off:a:a=async p:1:off::",
        "p1 0-40",
        "0 on a, 20 off a, 40 off ",
        "0-20 a@20, 30-30 a@30, 40-40 ",
    );
    // A promoted server counts as a different one, because its timeline differs.
    check("p:1:on:: s:1 p:2:on::", "p1 0-0, s1 10-10, p2 20-20", "0 on , 20 on ", "0-0 , 20-20 ");
}

#[test]
fn samples_are_the_ends_of_role_periods() {
    let role_period = |node: &str, from, to| RolePeriod {
        node: node.to_owned(),
        server: ServerInstance::default(),
        in_recovery: true,
        fsync: true,
        from: Nanos(from),
        to: Nanos(to),
    };
    let watched = RoleObservations {
        role_periods: vec![role_period("a", 0, 30), role_period("b", 10, 10)],
        ..RoleObservations::default()
    };
    assert_eq!(watched.samples().iter().map(|it| it.at.0).collect::<Vec<_>>(), [0, 10, 30]);
}
