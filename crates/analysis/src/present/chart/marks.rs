//! Chart annotations from log events

use model::chart::Annotation;
use model::{EventKind, LogEvent};

/// Maximum number of annotations in a chart. To stay below it, events are merged over longer intervals.
const ANNOTATIONS_MAX: usize = 200;
/// Lengths of the intervals over which events are merged, in seconds.
const WIDTHS: [u64; 12] = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600];

/// Chart annotations from log events. Events of the same second, node and kind are merged.
#[derive(Clone, Debug, Default)]
pub struct Annotations(Vec<(u64, Annotation)>);

impl Annotations {
    pub fn push(&mut self, event: &LogEvent) {
        let at = event.at.as_secs_f64();
        let mark = Annotation {
            at,
            node: event.node.clone(),
            kind: event.kind,
            count: event.line_count(),
            text: event.text.clone(),
        };
        add(&mut self.0, at as u64, mark);
    }

    /// All annotations in order of time.
    pub fn all(&self) -> Vec<Annotation> {
        let (important, minor): (Vec<_>, Vec<_>) =
            self.0.iter().cloned().partition(|it| is_important(it.1.kind));
        let mut wide = minor.clone();
        for width in WIDTHS {
            wide.clear();
            minor.iter().for_each(|(second, it)| add(&mut wide, second / width * width, it.clone()));
            if wide.len() + important.len() <= ANNOTATIONS_MAX {
                break;
            }
        }
        let mut all: Vec<Annotation> = important.into_iter().chain(wide).map(|it| it.1).collect();
        all.sort_by(|a, b| a.at.total_cmp(&b.at));
        all
    }
}

/// True for kinds of events that are never merged.
fn is_important(kind: EventKind) -> bool {
    use EventKind::{Fatal, Fault, Lifecycle, Promoted, Rejoined, Reverted};
    matches!(kind, Lifecycle | Fatal | Fault | Reverted | Promoted | Rejoined)
}

/// Adds an event. `all` is almost in order of time, so the annotation to merge with is near its end.
fn add(all: &mut Vec<(u64, Annotation)>, second: u64, annotation: Annotation) {
    let same = |known: &&mut (u64, Annotation)| {
        known.0 == second && known.1.kind == annotation.kind && known.1.node == annotation.node
    };
    match all.iter_mut().rev().take(100).find(same) {
        Some((_, known)) => {
            known.count += annotation.count;
            if annotation.at < known.at {
                (known.at, known.text) = (annotation.at, annotation.text);
            }
        }
        None => all.push((second, annotation)),
    }
}
