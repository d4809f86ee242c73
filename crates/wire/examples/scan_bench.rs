//! Benchmark of the protocol: nanoseconds per reply to a prepared SELECT, and per request.
//!
//! Usage: `cargo run --release -p wire --example scan_bench [REPLIES]`. Use few replies with `valgrind
//! --tool=callgrind`, which counts instructions; the count does not depend on the load of the machine.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use wire::TemplateBuilder;
use wire::pg::{Channel, Event, Login, Transport, compile};

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[tag], (body.len() as u32 + 4).to_be_bytes().as_slice(), body].concat()
}

fn main() {
    let replies = std::env::args().nth(1).map_or(20_000_000, |it| it.parse().expect("a number of replies"));
    let mut channel = Channel::new(Arc::new(Login::new("bench", "")), Transport::Unix, [0; 18]);
    channel.open();
    let opening = [message(b'R', b"\0\0\0\0"), message(b'Z', b"I")].concat();
    assert!(matches!(channel.receive(&mut &opening[..]), Ok(Event::Opened)));
    let n = channel.outgoing().len();
    channel.sent(n);

    let row = message(b'D', &[0; 90]);
    let answer = [message(b'2', b""), row, message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat();
    measure(replies, "reply whole", || answer_of(&mut channel, &[&answer]));
    measure(replies, "reply cut in a row", || answer_of(&mut channel, &[&answer[..40], &answer[40..]]));
    measure(replies, "reply cut in a head", || answer_of(&mut channel, &[&answer[..7], &answer[7..]]));

    let mut builder = TemplateBuilder::default();
    compile::bind(&mut builder, "s1", &[0]);
    compile::execute(&mut builder);
    compile::sync(&mut builder);
    let template = builder.build();
    measure(replies, "request rendered", || {
        channel.request(|out| {
            template.render(out, |_, out| {
                out.extend_from_slice(b"123456");
                true
            });
        });
        let n = black_box(channel.outgoing()).len();
        channel.sent(n);
    });
}

#[inline(never)]
fn answer_of(channel: &mut Channel, pieces: &[&[u8]]) {
    channel.request(|out| out.extend_from_slice(b"S\0\0\0\x04"));
    channel.sent(5);
    let mut rows = 0;
    for piece in pieces {
        let mut piece = black_box(*piece);
        loop {
            match channel.receive(&mut piece) {
                Ok(Event::More) => break,
                Ok(Event::Ready(reply)) => rows += reply.rows,
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(rows, 1);
}

fn measure(replies: u32, name: &str, mut once: impl FnMut()) {
    let best = (0..5).map(|_| {
        let start = Instant::now();
        for _ in 0..replies / 5 {
            once();
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(replies / 5)
    });
    println!("{name:24} {:6.1} ns", best.fold(f64::INFINITY, f64::min));
}
