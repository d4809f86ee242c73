//! How is standard error written to without anybody waiting for it?
//!
//! A thread of its own writes. Whoever has something to show leaves it and goes on: of what changes only the newest is
//! drawn, and of lines so many are kept. A terminal that is stopped, or a pipe that nobody reads, stops that thread only.

use crate::voice;
use report::lang::Lang;
use report::live::{self, Live, Size, Style};
use report::plot::Characters;
use report::terminal::safe;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{isatty, tcgetwinsize};
use signal_hook::consts::SIGCONT;
use std::collections::VecDeque;
use std::env;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Between two frames; a terminal that was resized is noticed this soon too.
const FRAME: Duration = Duration::from_millis(250);
/// Without a terminal: between two lines that tell how far it is.
const LINE: Duration = Duration::from_secs(10);
/// Lines that wait for their reader; those beyond are counted only.
const LINES: usize = 1000;

/// Ends with everything written, once it is dropped; that may take as long as its reader likes.
#[derive(Debug)]
pub struct Screen {
    shared: Arc<Shared>,
    characters: Characters,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    desk: Mutex<Desk>,
    left: Condvar,
}

/// What was left to be shown.
#[derive(Debug, Default)]
struct Desk {
    lines: VecDeque<String>,
    lost: u64,
    live: Option<Live>,
    /// Something was left since the thread last looked.
    fresh: bool,
    ended: bool,
}

impl Screen {
    pub fn start(lang: &'static dyn Lang) -> Screen {
        let shared = Arc::new(Shared { desk: Mutex::default(), left: Condvar::new() });
        let canvas = Canvas::here(lang);
        let characters = canvas.style.characters;
        let continued = Arc::new(AtomicBool::new(false));
        // Without it a frame may be drawn over the shell's words after Ctrl-Z.
        let _ = signal_hook::flag::register(SIGCONT, Arc::clone(&continued));
        let looked_at = Arc::clone(&shared);
        let thread = thread::Builder::new().name("screen".to_owned());
        // Without a thread to spare there is nothing to see; the run is worth more.
        let thread = thread.spawn(move || draw(&looked_at, canvas, &continued)).ok();
        Screen { shared, characters, thread }
    }

    pub fn characters(&self) -> Characters {
        self.characters
    }

    /// A line that stays.
    pub fn whole(&self, it: &str) {
        let it = safe(it, false);
        self.leave(|desk| desk.whole(it));
    }

    /// What changes.
    pub fn live(&self, it: Live) {
        self.leave(|desk| desk.live = Some(it));
    }

    /// A line that stays, after which nothing changes.
    pub fn calm(&self, it: &str) {
        let it = safe(it, false);
        self.leave(|desk| {
            desk.live = None;
            desk.whole(it);
        });
    }

    fn leave(&self, what: impl FnOnce(&mut Desk)) {
        let mut desk = self.shared.desk();
        what(&mut desk);
        desk.fresh = true;
        self.shared.left.notify_one();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.leave(|desk| {
            desk.live = None;
            desk.ended = true;
        });
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Desk {
    fn whole(&mut self, it: String) {
        if self.lines.len() < LINES {
            self.lines.push_back(it);
        } else {
            self.lost += 1;
        }
    }
}

/// The thread's work, until the screen ends or nobody can read it any more.
fn draw(shared: &Shared, mut canvas: Canvas, continued: &AtomicBool) {
    let begun = Instant::now();
    loop {
        let (lines, lost, live, ended) = {
            let mut desk = shared.desk();
            if !desk.fresh {
                let waited = shared.left.wait_timeout(desk, FRAME);
                desk = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            desk.fresh = false;
            (std::mem::take(&mut desk.lines), std::mem::take(&mut desk.lost), desk.live.clone(), desk.ended)
        };
        if continued.swap(false, Ordering::Relaxed) {
            canvas.forget();
        }
        let lost = (lost > 0).then(|| canvas.lang.live_lost(lost));
        let lines: Vec<String> = lines.into_iter().chain(lost).collect();
        let text = canvas.update(begun.elapsed(), &lines, live.as_ref(), size());
        if write(text.as_bytes()).is_err() || ended {
            return;
        }
        // So many frames per second, however much is left meanwhile.
        let until = Instant::now() + FRAME;
        let mut desk = shared.desk();
        while let Some(left) = until.checked_duration_since(Instant::now()).filter(|it| !it.is_zero()) {
            if desk.ended {
                break;
            }
            desk = shared.left.wait_timeout(desk, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Standard error, without its lock: who holds that may wait for ever.
fn write(mut bytes: &[u8]) -> Result<(), Errno> {
    let out = std::io::stderr();
    while !bytes.is_empty() {
        match rustix::io::write(&out, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let _ = poll(&mut [PollFd::new(&out, PollFlags::OUT)], None);
            }
            Err(why) => return Err(why),
        }
    }
    Ok(())
}

fn size() -> Size {
    let known = tcgetwinsize(std::io::stderr()).ok().filter(|it| it.ws_col > 0 && it.ws_row > 0);
    known.map_or(Size { columns: 80, rows: 24 }, |it| Size {
        columns: usize::from(it.ws_col),
        rows: usize::from(it.ws_row),
    })
}

/// What stands on the screen, and what is to be written so that something else does.
#[derive(Debug)]
struct Canvas {
    /// The cursor can be moved.
    moves: bool,
    style: Style,
    lang: &'static dyn Lang,
    /// The frame that stands above the cursor.
    drawn: Vec<String>,
    /// When the last line was written, since the beginning.
    told: Duration,
}

impl Canvas {
    fn here(lang: &'static dyn Lang) -> Canvas {
        let terminal = isatty(std::io::stderr());
        let dumb = env::var_os("TERM").is_none_or(|it| it.is_empty() || it == "dumb");
        let colour = env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
        let style = Style { characters: voice::characters(), colour };
        Canvas { moves: terminal && !dumb, style, lang, drawn: Vec::new(), told: Duration::ZERO }
    }

    /// Something else may stand above the cursor now.
    fn forget(&mut self) {
        self.drawn.clear();
    }

    /// What to write. `now`: since the beginning.
    fn update(&mut self, now: Duration, lines: &[String], live: Option<&Live>, size: Size) -> String {
        if !self.moves {
            return self.lines(now, lines, live);
        }
        let frame = live.map_or(Vec::new(), |it| live::frame(it, size, self.style, self.lang));
        let above: usize = self.drawn.iter().map(|it| rows(it, size.columns)).sum();
        if lines.is_empty() && frame == self.drawn && above == frame.len() {
            return String::new();
        }
        let up = if above > 0 { format!("\r\x1b[{above}A") } else { "\r".to_owned() };
        let lines = lines.iter().chain(&frame).map(|it| format!("{it}\x1b[K\r\n"));
        let text = format!("{up}{}\x1b[J", lines.collect::<String>());
        self.drawn = frame;
        text
    }

    /// For a log.
    fn lines(&mut self, now: Duration, lines: &[String], live: Option<&Live>) -> String {
        let mut text: String = lines.iter().map(|it| format!("{it}\n")).collect();
        if !lines.is_empty() {
            self.told = now;
        } else if let Some(live) = live
            && now >= self.told + LINE
        {
            text = format!("{}\n", live::line(live, self.style.characters, self.lang));
            self.told = now;
        }
        text
    }
}

/// Rows that a line takes where there are so many columns: a terminal that became narrower has broken it.
fn rows(line: &str, columns: usize) -> usize {
    live::width(line).div_ceil(columns).max(1)
}

#[cfg(test)]
mod tests;
