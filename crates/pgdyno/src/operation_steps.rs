//! Steps of the operations of a setup

use load::script::call::SecretLookup;
use load::script::{Mode, ProgramBuilder, ScriptHeader};
use model::plan::{Operation, OperationKind, Setup};
use model::summary;
use wire::pg::Secret;

/// Operations of the mix with the names of their steps, in the same order as in intervals.
pub fn operations(setup: &Setup) -> Vec<summary::Script> {
    // The names do not depend on the mode or on the values of secrets.
    let mut builder =
        ProgramBuilder::new(Mode::Simple, &[]).with_secrets(SecretLookup(&|_| Some(Secret::new(""))));
    setup.operations.iter().for_each(|it| add_operation(&mut builder, it, None));
    let script = |(operation, commands): (&Operation, Vec<String>)| summary::Script {
        name: operation.name.clone(),
        weight: operation.weight,
        commands,
    };
    setup.operations.iter().zip(builder.step_names()).map(script).collect()
}

/// Adds the script of an operation. `draws` contains the number and the columns of the operation's feed.
pub fn add_operation(
    builder: &mut ProgramBuilder<'_>,
    operation: &Operation,
    draws: Option<(u16, &[String])>,
) {
    let head = ScriptHeader { name: &operation.name, weight: operation.weight, draws };
    match &operation.kind {
        OperationKind::Script { text, .. } => builder.add_pgbench(&head, text, false),
        OperationKind::Http(steps) => builder.add_http(&head, 0, &operation.sets, steps),
        OperationKind::Ammo | OperationKind::TaggedAmmo { .. } => builder.add_ammo(&head, 0, &operation.ammo),
        OperationKind::Recorded { .. } => builder.add_recorded(&head, std::iter::empty()),
        OperationKind::RecordedTransaction { statements } => {
            builder.add_recorded(&head, statements.iter().map(|it| it.name.as_str()));
        }
    }
}
