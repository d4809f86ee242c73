//! Groups of transactions with the same statements

use super::DistilOptions;
use super::left_out::{self, LeftOut, LeftOutReason};
use super::script::is_expressible;
use crate::session::{Statement, Traffic};
use crate::sql::command::{Command, commands};
use crate::sql::normalise::{NormaliseError, normalise};
use crate::sql::template::Template;
use crate::transaction::{Transaction, TransactionEnd};
use std::cmp::Reverse;
use std::collections::HashMap;

/// All transactions of a traffic, and the groups to which they belong.
#[derive(Debug)]
pub(super) struct Groups<'a> {
    /// Transactions in the order of their starts.
    pub transactions: Vec<Recorded<'a>>,
    /// Groups in the order of their first transactions.
    pub groups: Vec<Group>,
    pub templates: Vec<Template>,
    pub left_out: Vec<LeftOut>,
}

/// One transaction.
#[derive(Debug)]
pub(super) struct Recorded<'a> {
    pub statements: &'a [Statement],
    /// Index of its group; `None` if it is left out.
    pub group: Option<usize>,
}

/// Transactions with the same statements.
#[derive(Debug)]
pub(super) struct Group {
    /// Indices of the templates of its statements.
    pub templates: Vec<usize>,
    /// True if the statements are one implicit transaction: they were sent without a Sync between them.
    pub is_pipeline: bool,
    /// Number of transactions.
    pub transactions: u64,
}

impl Group {
    /// Number of recorded statements.
    pub fn statements(&self) -> u64 {
        self.transactions * self.templates.len() as u64
    }
}

/// Groups the transactions of a traffic.
pub(super) fn group<'a>(traffic: &'a Traffic, options: &DistilOptions) -> Groups<'a> {
    let mut all: Vec<(&'a [Statement], Transaction)> = Vec::new();
    for session in &traffic.sessions {
        let transactions = session.transactions().into_iter();
        all.extend(transactions.map(|it| (&session.statements[it.statements.clone()], it)));
    }
    all.sort_by_key(|(statements, _)| statements[0].start);
    let mut groups = Groups {
        transactions: Vec::with_capacity(all.len()),
        groups: Vec::new(),
        templates: Vec::new(),
        left_out: Vec::new(),
    };
    let mut index = Index::default();
    for (statements, transaction) in all {
        let group = match check(statements, &transaction) {
            Ok(()) => index.find(statements, &transaction, options, &mut groups),
            Err(reason) => Err(reason),
        };
        match group {
            Ok(group) => groups.groups[group].transactions += 1,
            Err(reason) => left_out::add(&mut groups.left_out, reason, 1, statements.len() as u64),
        }
        groups.transactions.push(Recorded { statements, group: group.ok() });
    }
    groups
}

/// Groups that together contain the wanted share of the statements, the largest ones first. The others are left out.
pub(super) fn select(groups: &mut Groups<'_>, options: &DistilOptions) -> Vec<usize> {
    let mut order: Vec<usize> = (0..groups.groups.len()).collect();
    order.sort_by_key(|&index| Reverse(groups.groups[index].statements()));
    let total: u64 = groups.groups.iter().map(Group::statements).sum();
    let (mut covered, mut selected) = (0, Vec::new());
    for index in order {
        let group = &groups.groups[index];
        if covered as f64 >= options.coverage * total as f64 || selected.len() >= options.max_operations {
            let (transactions, statements) = (group.transactions, group.statements());
            left_out::add(&mut groups.left_out, LeftOutReason::Rare, transactions, statements);
        } else {
            covered += group.statements();
            selected.push(index);
        }
    }
    selected
}

/// Checks whether an operation can repeat a transaction.
fn check(statements: &[Statement], transaction: &Transaction) -> Result<(), LeftOutReason> {
    if transaction.end == TransactionEnd::Unfinished {
        return Err(LeftOutReason::Unfinished);
    }
    if statements.iter().any(|statement| statement.error.is_some()) {
        return Err(LeftOutReason::Failed);
    }
    for statement in statements {
        for command in commands(&statement.text).ok_or(LeftOutReason::Unreadable)? {
            match command {
                Command::CopyData => return Err(LeftOutReason::CopyData),
                Command::SqlPrepare => return Err(LeftOutReason::SqlPrepare),
                Command::Secret => return Err(LeftOutReason::Secret),
                Command::Session => return Err(LeftOutReason::SessionState),
                Command::Administration => return Err(LeftOutReason::Administration),
                Command::Commit { chain: true } | Command::Rollback { chain: true } => {
                    return Err(LeftOutReason::Inexpressible);
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Finds templates and groups by their content.
#[derive(Debug, Default)]
struct Index {
    templates: HashMap<Template, usize>,
    groups: HashMap<(bool, Vec<usize>), usize>,
}

impl Index {
    /// Index of a transaction's group, which is created if there is none.
    fn find(
        &mut self,
        statements: &[Statement],
        transaction: &Transaction,
        options: &DistilOptions,
        groups: &mut Groups<'_>,
    ) -> Result<usize, LeftOutReason> {
        let mut templates = Vec::with_capacity(statements.len());
        for statement in statements {
            let (template, _) = normalise(&statement.text, &statement.parameters).map_err(reason)?;
            if let Some(&index) = self.templates.get(&template) {
                templates.push(index);
                continue;
            }
            if options.anonymise.is_some() && template.has_constant {
                return Err(LeftOutReason::NotAnonymised);
            }
            if !is_expressible(&template) {
                return Err(LeftOutReason::Inexpressible);
            }
            let index = groups.templates.len();
            groups.templates.push(template.clone());
            self.templates.insert(template, index);
            templates.push(index);
        }
        let is_pipeline = !transaction.explicit && statements.len() > 1;
        Ok(*self.groups.entry((is_pipeline, templates)).or_insert_with_key(|(is_pipeline, templates)| {
            let group = Group { templates: templates.clone(), is_pipeline: *is_pipeline, transactions: 0 };
            groups.groups.push(group);
            groups.groups.len() - 1
        }))
    }
}

fn reason(error: NormaliseError) -> LeftOutReason {
    match error {
        NormaliseError::Unreadable => LeftOutReason::Unreadable,
        NormaliseError::MissingParameter => LeftOutReason::MissingParameters,
    }
}
