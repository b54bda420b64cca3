//! What goes wrong inside an engine, before it is known of which op.

use std::fmt;

use crate::error::Error;

/// The name of the op comes on the way out.
#[derive(Debug)]
pub(super) enum Failure {
    Engine { backend: &'static str, message: String },
    Ours(Error),
}

impl Failure {
    pub(super) fn of_engine(backend: &'static str, error: impl fmt::Display) -> Self {
        let message = first_line(error);
        Failure::Engine { backend, message }
    }

    /// The error of an op.
    pub(super) fn of(self, op: &'static str) -> Error {
        match self {
            Failure::Engine { backend, message } => Error::Backend {
                op: op.into(),
                backend: backend.into(),
                message,
            },
            Failure::Ours(error) => error,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Ours(error)
    }
}

/// What an engine says, without the trace that may follow.
pub(super) fn first_line(error: impl fmt::Display) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}
