//! Allocations and memory of a session; a program of its own, because its global allocator counts.

mod server;

use server::scripted::{AuthRequest, Server};
use server::{feed, message, opened, select_one, sent};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use wire::pg::{Channel, Event, Login, SslMode, Transport, compile};
use wire::{Template, TemplateBuilder};

/// Counts the allocations of each thread.
struct CountingAllocator;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Bytes in use.
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        LIVE.set(LIVE.get() + layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - layout.size() as isize);
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        LIVE.set(LIVE.get() + size as isize - layout.size() as isize);
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: CountingAllocator = CountingAllocator;

fn prepared() -> Template {
    let mut builder = TemplateBuilder::default();
    compile::bind(&mut builder, "s1", &[0]);
    compile::execute(&mut builder);
    compile::sync(&mut builder);
    builder.build()
}

fn transact(channel: &mut Channel, template: &Template, answer: &[u8], cut: usize) {
    channel.request(|out| {
        template.render(out, |_, out| {
            out.extend_from_slice(b"123456");
            true
        });
    });
    let n = channel.outgoing().len();
    channel.sent(n / 2);
    channel.sent(n - n / 2);
    let mut ready = 0;
    for mut piece in [&answer[..cut], &answer[cut..]] {
        loop {
            match channel.receive(&mut piece).expect("the response is valid") {
                Event::More => break,
                Event::Ready(reply) => ready += reply.rows,
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(ready, u32::from(!answer.is_empty()));
}

#[test]
fn does_not_allocate_after_first_transaction() {
    let mut channel = opened(Login::new("bench", ""));
    let (template, answer) = (prepared(), select_one(&[b'x'; 100]));
    let committed = [message(b'C', b"ROLLBACK\0"), answer.clone()].concat();
    transact(&mut channel, &template, &answer, 0);
    let before = ALLOCATIONS.get();
    for cut in 0..=answer.len() {
        transact(&mut channel, &template, &answer, cut);
        transact(&mut channel, &template, &committed, cut);
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
    drop(Box::new(1));
    assert_eq!(ALLOCATIONS.get() - before, 1, "the counter counts one allocation");
}

#[test]
fn idle_session_uses_little_memory() {
    let check = |keep_parameters: bool, most: usize| {
        let mut login = Login::new("bench", "");
        login.keep_parameters = keep_parameters;
        let mut channel = opened(login);
        transact(&mut channel, &prepared(), &select_one(&[b'x'; 1000]), 1);
        let size = size_of::<Channel>() + channel.memory();
        println!("keep_parameters {keep_parameters}: {} + {} bytes", size_of::<Channel>(), channel.memory());
        assert!(size <= most, "{size} > {most}");
    };
    check(false, 1024);
    check(true, 1536);
}

#[test]
fn idle_tls_session_uses_bounded_memory() {
    let mut login = Login::new("bench", "");
    login.ssl = SslMode::Require;
    login.tls = wire::tls::config(login.ssl, &Default::default(), Default::default()).ok();
    let login = Arc::new(login);
    let open = || {
        let mut server =
            Server::with_tls(AuthRequest::Nothing, include_bytes!("certs/server.crt"), rustls::ALL_VERSIONS);
        let mut channel = Channel::new(login.clone(), Transport::Tcp, [7; 18]);
        channel.open();
        let mut events = Vec::new();
        while events.is_empty() {
            let answer = server.receive(&sent(&mut channel));
            events = feed(&mut channel, &answer, usize::MAX);
        }
        assert_eq!(events, ["Opened"]);
        transact(&mut channel, &prepared(), b"", 0);
        sent(&mut channel);
        channel
    };
    let _warm = open();
    let before = LIVE.get();
    let channel = open();
    println!("{} bytes", LIVE.get() - before);
    assert!(LIVE.get() - before < 16 << 10, "{}", LIVE.get() - before);
    drop(channel);
}

#[test]
fn slow_sender_does_not_grow_buffer() {
    let mut channel = opened(Login::new("bench", ""));
    for _ in 0..10_000 {
        // CopyData of 1000 bytes in total.
        channel.request(|out| out.extend([&b"d\0\0\x03\xe7"[..], &[b'd'; 995]].concat()));
        let n = channel.outgoing().len().min(if channel.outgoing().len() > 100_000 { 1500 } else { 500 });
        channel.sent(n);
    }
    assert!(channel.memory() < 1 << 20, "{}", channel.memory());
    sent(&mut channel);
    channel.request(|out| out.extend_from_slice(b"S\0\0\0\x04"));
    assert!(feed(&mut channel, &message(b'Z', b"I"), 1) == ["Ready(Idle)"]);
}
