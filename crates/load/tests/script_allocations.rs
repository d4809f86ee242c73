//! Test that scripts run without allocations; a program of its own, because its global allocator counts

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use load::random::SeedSequence;
use load::script::{CommandKind, Mode, ScriptSource, Value, Variables, parse};

struct CountingAllocator;

thread_local! {
    /// Number of allocations of this thread. The test harness has its own thread, which may allocate at any time.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is forwarded to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn running_script_does_not_allocate() {
    let text = "\
\\set a random(1, 1000000) + random_zipfian(1, 1000, 1.3) * random_gaussian(1, 10, 2.5)
\\set b case when :a % 2 = 0 and :text > 3 then hash(:a) else permute(:a, 1000) end
\\set c debug(sqrt(:a) / greatest(1, 2.5, :scale)) is not null or :undefined
\\set d :c + 1
\\set e -1.0 / :a
\\sleep :a us
SELECT :a, :b, :c, :d, :e, :text, :undefined \\gset
";
    let program = parse(&[ScriptSource::new("s.sql", text)], Mode::Simple, false, &[]).unwrap();
    let slot = |name: &str| program.slot(name).unwrap();
    let mut variables = Variables::new(program.names.len());
    variables.set(slot("scale"), Value::Int(10));
    variables.set(slot("default_seed"), Value::Int(1));
    variables.set_text(slot("text"), b"a long text at first");
    let mut rng = SeedSequence::new(1).client_rng();
    let mut out = Vec::with_capacity(4096);
    let (mut debugged, mut failed) = (0, 0);

    let before = ALLOCATIONS.get();
    for round in 0..1000u32 {
        out.clear();
        variables.set_text(slot("text"), if round % 2 == 0 { b"5" } else { b"4.75" });
        for command in &program.scripts[0].commands {
            match &command.kind {
                CommandKind::Set { slot, value } => {
                    match value.eval(&variables, &mut rng, &mut |_| debugged += 1) {
                        Ok(value) => variables.set(*slot, value),
                        Err(_) => failed += 1,
                    }
                }
                CommandKind::Sleep { amount } => assert!(amount.micros(&variables).is_ok()),
                CommandKind::Sql(sql) => {
                    for slot in 0..program.names.len() {
                        variables.write(slot as u16, &mut out);
                    }
                    assert_eq!(sql.store.as_ref().unwrap().slot_of(b"a"), Ok(Some(slot("a"))));
                }
                other => panic!("{other:?}"),
            }
        }
    }
    let allocated = ALLOCATIONS.get() - before;
    assert_eq!((debugged, failed), (1000, 1000), "debug() and one failing command in each round");
    assert_eq!(allocated, 0);
}
