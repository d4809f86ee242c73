//! Robustness of a session against arbitrary bytes and packet boundaries.

use crate::server::{feed, message, welcome};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;
use std::sync::Arc;
use wire::pg::conninfo::{Environment, resolve};
use wire::pg::{Channel, Login, Secret, Transport};

/// Strategy for byte sequences of valid, damaged and random messages.
fn messages() -> impl Strategy<Value = Vec<u8>> {
    let tag = prop::sample::select(&b"123CDEIKNRSTZAGHcdnstvW\0"[..]);
    let body = prop_oneof![
        vec(any::<u8>(), 0..40),
        prop::sample::select(vec![
            b"".to_vec(),
            b"I".to_vec(),
            b"\0\0\0\0".to_vec(),
            b"ROLLBACK\0".to_vec(),
            b"SERROR\0C40001\0Mno\0\0".to_vec(),
            b"RSyncRepWaitForLSN\0\0".to_vec(),
            b"\0\x01\0\0\0\x01x".to_vec(),
            b"\0\x02\xff\xff\xff\xff\0\0\0\0".to_vec(),
            b"\0\x01id\0\0\0\0\0\0\0\0\0\0\x14\0\x08\xff\xff\xff\xff\0\0".to_vec(),
            b"name\0value\0".to_vec(),
            b"\0\0\0\x05salt".to_vec(),
            b"\0\0\0\x0aSCRAM-SHA-256\0\0".to_vec(),
            b"\0\0\0\x0br=BwcHBwcHBwcHBwcHBwcHBwcHx,s=W22Z,i=1".to_vec(),
        ]),
    ];
    let one = (tag, body, prop::option::weighted(0.05, any::<u32>())).prop_map(|(tag, body, length)| {
        let mut bytes = message(tag, &body);
        if let Some(length) = length {
            bytes[1..5].copy_from_slice(&length.to_be_bytes());
        }
        bytes
    });
    vec(one, 0..12).prop_map(|it| it.concat())
}

fn channel(opened: bool, watch: bool) -> Channel {
    let mut login = Login::new("bench", "book");
    login.password = Some(Secret::new("secret"));
    login.keep_parameters = true;
    let mut channel = Channel::new(Arc::new(login), Transport::Unix, [7; 18]);
    channel.open();
    if opened {
        assert_eq!(feed(&mut channel, &welcome(), usize::MAX), ["Opened"]);
    }
    channel.set_watched(watch);
    channel
}

proptest! {
    #![proptest_config(Config { cases: 4000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn result_does_not_depend_on_packet_boundaries(bytes in messages(), opened: bool, watch: bool, step in 1_usize..50) {
        let unsplit = feed(&mut channel(opened, watch), &bytes, usize::MAX);
        prop_assert_eq!(unsplit, feed(&mut channel(opened, watch), &bytes, step));
    }

    #[test]
    fn memory_follows_received_bytes(
        bytes in prop_oneof![messages(), vec(any::<u8>(), 0..300)], opened: bool, watch: bool, step in 1_usize..300,
    ) {
        let mut channel = channel(opened, watch);
        let before = channel.memory();
        feed(&mut channel, &bytes, step);
        prop_assert!(channel.memory() <= before + 4 * bytes.len() + 4096);
    }

    #[test]
    fn connection_strings_do_not_panic(dsn in r"(postgres(ql)?://|host=|)[ -~äß]{0,30}[@:/?&=%',\[\]]{0,5}[ -~]{0,20}") {
        let around = Environment { env: &|_| None, read: &|_, _| None, os_user: "me" };
        if let Err(mistakes) = resolve(Some(&dsn), &[], around) {
            prop_assert!(!mistakes.is_empty());
        }
    }
}
