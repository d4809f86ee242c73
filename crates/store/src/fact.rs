//! Format of facts in a run file
//!
//! A fact is a row of the table `fact`: kind, version of the kind, and payload as JSON. Files before version 4 store
//! facts as notes with the subjects in [`NOTE_SUBJECTS`].

use crate::error::{Error, ErrorCause, FactError, Result};
use crate::read::Run;
use crate::record::{FactRecord, NOT_LIMITED, TrialId, parse_limit};
use crate::schema;
use model::fact::Fact;
use model::message::Message;
use model::note::Note;
use model::plan::GENERATOR;

/// Payload of a fact, as JSON text.
pub(crate) fn payload(fact: &Fact) -> String {
    let mut json = Vec::new();
    fact.serialize_payload(&mut serde_json::Serializer::new(&mut json)).expect("facts have text keys only");
    String::from_utf8(json).expect("JSON is UTF-8")
}

/// Parses a fact of this kind and version from its payload.
fn parse(kind: &str, version: u32, payload: &str) -> std::result::Result<Fact, FactError> {
    let known = Fact::KINDS.iter().find(|it| it.name == kind).ok_or(FactError::UnknownKind)?;
    if !(1..=known.version).contains(&version) {
        return Err(FactError::UnknownVersion { version, newest: known.version });
    }
    let mut json = serde_json::Deserializer::from_str(payload);
    let fact = Fact::deserialize_payload(kind, &mut json).ok_or(FactError::UnknownKind)?;
    fact.and_then(|fact| json.end().map(|()| fact)).map_err(FactError::Payload)
}

impl Run {
    /// Facts of the run and of all its trials, in the order in which they were written. Texts that an older pgdyno
    /// stored as notes are returned as [`Fact::Note`]; from version 4 on, they come last.
    pub fn facts(&self) -> Result<Vec<FactRecord>> {
        let is_legacy = self.version < schema::FACTS_SINCE;
        let mut facts = if is_legacy { Vec::new() } else { self.fact_rows()? };
        for row in self.note_rows()? {
            let legacy = LegacyFact::from_note(&row).filter(|_| is_legacy);
            facts.push(match legacy {
                Some(fact) => {
                    fact.parse().map_err(|reason| self.unreadable_fact(fact.kind, row.trial, reason))?
                }
                None => {
                    let (subject, message) = (Message::text(row.subject), Message::text(row.text));
                    FactRecord { trial: row.trial, fact: Fact::Note(Note { subject, message }) }
                }
            });
        }
        Ok(facts)
    }

    /// Facts of a file that stores facts as notes; `None` for a newer file.
    pub(crate) fn legacy_facts(&self) -> Result<Option<Vec<FactRecord>>> {
        (self.version < schema::FACTS_SINCE).then(|| self.facts()).transpose()
    }

    fn fact_rows(&self) -> Result<Vec<FactRecord>> {
        let sql = "SELECT trial, kind, version, payload FROM fact ORDER BY id";
        let rows = self.query_all(sql, [], |row| {
            let texts: (String, u32, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
            Ok((row.get::<_, Option<u32>>(0)?.map(TrialId), texts))
        })?;
        let read = |(trial, (kind, version, payload)): (_, (String, u32, String))| {
            let fact = parse(&kind, version, &payload);
            let fact = fact.map_err(|reason| self.unreadable_fact(&kind, trial, reason))?;
            Ok(FactRecord { trial, fact })
        };
        rows.into_iter().map(read).collect()
    }

    fn unreadable_fact(&self, kind: &str, trial: Option<TrialId>, reason: FactError) -> Error {
        let program = self.query_one("SELECT program FROM run", [], |row| row.get(0)).unwrap_or_default();
        let (kind, trial) = (kind.to_owned(), trial.map(|id| id.0));
        Error::new(&self.path, ErrorCause::UnreadableFact { kind, trial, reason, program })
    }

    fn note_rows(&self) -> Result<Vec<NoteRow>> {
        self.query_all("SELECT trial, subject, text FROM note ORDER BY id", [], |row| {
            Ok(NoteRow {
                trial: row.get::<_, Option<u32>>(0)?.map(TrialId),
                subject: row.get(1)?,
                text: row.get(2)?,
            })
        })
    }
}

/// Row of the table `note`, which only older versions of pgdyno write.
struct NoteRow {
    trial: Option<TrialId>,
    subject: String,
    text: String,
}

/// Subjects of the notes that store facts in files before version 4, each with the name of the fact's kind.
const NOTE_SUBJECTS: [(&str, &str); 15] = [
    ("built", "index_build"),
    (COMMAND, COMMAND),
    ("feed", "feed_coverage"),
    ("fired", "stop_rule"),
    ("freshness", "freshness"),
    (GENERATOR, "unapplied_limit"),
    ("monitoring", "monitoring_cpu"),
    ("objective", "objective"),
    ("ordeal", "fault_injection"),
    ("outages", "outages"),
    ("plans", "plans"),
    ("replayed", "replay"),
    ("step", "search_step"),
    ("suspects", "suspects"),
    ("target", "target_state"),
];
const COMMAND: &str = "command";

/// Fact that a file before version 4 stores as a note.
struct LegacyFact<'a> {
    /// Name of the fact's kind.
    kind: &'static str,
    note: &'a NoteRow,
}

impl<'a> LegacyFact<'a> {
    /// Fact that the note stores; `None` if the note is a text for people.
    ///
    /// The subject alone does not identify a fact. A note for people has the same subject if an operation has this
    /// name, or if the note replaces a fact that was too long.
    fn from_note(note: &'a NoteRow) -> Option<LegacyFact<'a>> {
        let (_, kind) = *NOTE_SUBJECTS.iter().find(|(subject, _)| *subject == note.subject)?;
        let is_fact = match kind {
            COMMAND => note.trial.is_none(),
            "unapplied_limit" => note.text.contains(NOT_LIMITED),
            _ => note.text.starts_with(|first: char| "[{-".contains(first) || first.is_ascii_digit()),
        };
        is_fact.then_some(LegacyFact { kind, note })
    }

    fn parse(&self) -> std::result::Result<FactRecord, FactError> {
        let text = &self.note.text;
        let fact = match self.kind {
            COMMAND => Fact::Command(text.clone()),
            "unapplied_limit" => Fact::UnappliedLimit(parse_limit(GENERATOR, text)),
            kind => parse(kind, 1, text)?,
        };
        Ok(FactRecord { trial: self.note.trial, fact })
    }
}
