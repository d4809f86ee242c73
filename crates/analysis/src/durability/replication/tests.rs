use super::*;

fn shown(text: &str) -> String {
    match parse(text) {
        Err(error) => error.to_string(),
        Ok(None) => "none".to_owned(),
        Ok(Some(it)) => format!("{:?} {} {:?}", it.method, it.count, it.names),
    }
}

#[test]
fn parses_names_as_postgresql() {
    for (text, expected) in [
        ("", "none"),
        ("a", r#"First 1 ["a"]"#),
        ("a,b", r#"First 1 ["a", "b"]"#),
        (" a , B_2$ ", r#"First 1 ["a", "B_2$"]"#),
        ("*", r#"First 1 ["*"]"#),
        ("7", r#"First 1 ["7"]"#),
        ("7,8", r#"First 1 ["7", "8"]"#),
        ("2(a,b)", r#"First 2 ["a", "b"]"#),
        ("2 (1, 2)", r#"First 2 ["1", "2"]"#),
        ("first 2 (a,b,c)", r#"First 2 ["a", "b", "c"]"#),
        ("ANY 1 (a,*)", r#"Any 1 ["a", "*"]"#),
        ("aNy\t2\n(a,b)", r#"Any 2 ["a", "b"]"#),
        ("anyone, firstly", r#"First 1 ["anyone", "firstly"]"#),
        (r#""any", "a b", "say ""x""""#, r#"First 1 ["any", "a b", "say \"x\""]"#),
        (r#""""#, r#"First 1 [""]"#),
        ("узел", r#"First 1 ["узел"]"#),
        (" ", "syntax error at byte 1"),
        ("a b", "syntax error at byte 2"),
        ("a,", "syntax error at byte 2"),
        (",a", "syntax error at byte 0"),
        ("a-b", "syntax error at byte 1"),
        ("12a", "syntax error at byte 2"),
        ("2(a", "syntax error at byte 3"),
        ("2()", "syntax error at byte 2"),
        ("(a)", "syntax error at byte 0"),
        ("2 a", "syntax error at byte 2"),
        ("a (b)", "syntax error at byte 2"),
        ("any (a)", "syntax error at byte 4"),
        ("any", "syntax error at byte 3"),
        ("a, first", "syntax error at byte 3"),
        ("any 1 (a) b", "syntax error at byte 10"),
        ("any 1 (a), b", "syntax error at byte 9"),
        ("any 99999999999 (a)", r#"Any 1215752191 ["a"]"#),
        ("any 4294967295 (a)", "no synchronous standby"),
        ("any 99999999999999999999 (a)", "no synchronous standby"),
        ("any 0 (a)", "no synchronous standby"),
        ("0(a)", "no synchronous standby"),
        (r#"a,"b"#, "the quote at byte 2 is not closed"),
    ] {
        assert_eq!(shown(text), expected, "{text:?}");
    }
}

/// Expected results from PostgreSQL's test of `sync_state`, `007_sync_rep.pl`. Standbys are in the order of its array.
#[test]
fn equals_sync_states_of_postgresql_tests() {
    for (names, streaming, expected) in [
        ("standby1,standby2", "1 2 3", "1 sync, 2 potential, 0 async"),
        ("*", "1 2 3", "1 sync, 1 potential, 1 potential"),
        ("2(standby1,standby2,standby3)", "2 3", "2 sync, 3 sync"),
        ("2(standby1,standby2,standby3)", "2 3 1 4", "2 sync, 3 potential, 1 sync, 0 async"),
        ("6(standby4,standby0,standby3,standby2)", "2 3 1 4", "4 sync, 3 sync, 0 async, 1 sync"),
        ("2(standby1,*,standby2)", "2 3 1 4", "2 sync, 2 potential, 1 sync, 2 potential"),
        ("2(*)", "2 3 1 4", "1 sync, 1 sync, 1 potential, 1 potential"),
        ("2(*)", "2 1 4", "1 sync, 1 sync, 1 potential"),
        ("FIRST 2(standby1, standby2)", "2 1 4", "2 sync, 1 sync, 0 async"),
        ("ANY 2(standby1, standby2)", "2 1 4", "1 quorum, 1 quorum, 0 async"),
        ("ANY 2(*)", "2 1 3 4", "1 quorum, 1 quorum, 1 quorum, 1 quorum"),
        // Additional cases: an empty setting, names in capitals, ANY with fewer standbys than it requires.
        ("", "1 2", "0 async, 0 async"),
        ("STANDBY2", "1 2", "0 async, 1 sync"),
        ("ANY 2(standby1, standby2)", "1", "1 quorum"),
    ] {
        let names_read = parse(names).expect("well-formed");
        let streaming: Vec<String> = streaming.split(' ').map(|it| format!("standby{it}")).collect();
        let streaming: Vec<&str> = streaming.iter().map(String::as_str).collect();
        let shown: Vec<String> = sync_states(names_read.as_ref(), &streaming)
            .iter()
            .map(|(priority, state)| format!("{priority} {}", format!("{state:?}").to_lowercase()))
            .collect();
        assert_eq!(shown.join(", "), expected, "{names}");
    }
}

#[test]
fn promise_combines_both_settings() {
    let two_standbys = parse("ANY 1 (a,b)").expect("well-formed");
    for (setting, unreplicated, replicated) in [
        ("off", "None", "None"),
        ("false", "None", "None"),
        ("local", "Local", "Local"),
        ("remote_write", "Local", "RemoteWrite"),
        ("on", "Local", "Flush"),
        ("remote_apply", "Local", "Apply"),
    ] {
        let shown = |standbys| format!("{:?}", promise(setting, standbys).expect("a known setting"));
        assert_eq!(shown(None), unreplicated, "{setting}");
        assert!(shown(two_standbys.as_ref()).starts_with(replicated), "{setting}");
    }
    assert_eq!(promise("perhaps", None), None);
}

/// Promotion with `answers` as `name=received`, or `name=?` if the standby did not respond. `!` marks standbys that
/// were synchronous.
fn promotion(names: &str, promoted: &str, answers: &str) -> PromotionDecision {
    let answer = |text: &str| {
        let (name, received) = text.split_once('=').expect("name=received");
        let synchronous = received.ends_with('!');
        let received = received.trim_end_matches('!').parse().ok();
        StandbyPosition { name: name.to_owned(), received, synchronous }
    };
    PromotionDecision {
        at: model::Nanos::ZERO,
        promoted: promoted.to_owned(),
        standbys: parse(names).expect("well-formed"),
        positions: answers.split(' ').map(answer).collect(),
    }
}

#[test]
fn only_safe_standbys_may_be_promoted() {
    for (names, promoted, answers, safe) in [
        // One of the two standbys has the write: both must have responded, and the one with more WAL is right.
        ("ANY 1 (a,b)", "a", "a=9 b=5", true),
        ("ANY 1 (a,b)", "b", "a=9 b=5", false),
        ("ANY 1 (a,b)", "a", "a=9 b=9", true),
        ("ANY 1 (a,b)", "b", "a=9 b=9", true),
        ("ANY 1 (a,b)", "a", "a=9 b=?", false),
        ("ANY 1 (a,b)", "a", "a=9", false),
        ("ANY 1 (*)", "a", "a=9 b=?", false),
        ("ANY 1 (*)", "a", "a=9 b=5", true),
        ("ANY 1 (*)", "a", "a=9", true),
        // Both standbys have the write.
        ("ANY 2 (a,b)", "a", "a=9 b=?", true),
        ("ANY 2 (a,b)", "b", "a=9 b=5", false),
        ("ANY 3 (a,b)", "a", "a=9 b=?", true),
        ("ANY 2 (a,b,c)", "a", "a=9 b=? c=3", true),
        ("ANY 2 (a,b,c)", "a", "a=9 b=? c=?", false),
        // A standby outside the list is right if it has as much WAL as a sufficient number of listed standbys.
        ("ANY 1 (a,b)", "c", "a=9 b=5 c=9", true),
        ("ANY 1 (a,b)", "c", "a=9 b=5 c=8", false),
        ("ANY 1 (a,b)", "a", "a=9 b=5 c=99", true),
        // Synchronous standbys have all writes; potential ones may not.
        ("FIRST 1 (a,b)", "a", "a=5! b=3", true),
        ("FIRST 1 (a,b)", "b", "a=5! b=3", false),
        ("FIRST 1 (a,b)", "b", "a=5! b=5", true),
        ("FIRST 1 (a,b)", "b", "a=?! b=9", false),
        ("FIRST 2 (a,b)", "b", "a=?! b=9!", true),
        // Without a promise, the standby with the most WAL is right.
        ("", "a", "a=9 b=5", true),
        ("", "b", "a=9 b=5", false),
        ("", "b", "a=? b=5", true),
        // A standby that did not respond may have no WAL.
        ("", "b", "a=9 b=?", false),
        ("", "c", "a=9", false),
    ] {
        assert_eq!(is_safe(&promotion(names, promoted, answers)), safe, "{names} {promoted} {answers}");
    }
}
