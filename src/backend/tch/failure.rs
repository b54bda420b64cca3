//! What libtorch reports, as an [`Error`].

use tch::TchError;

use crate::error::Error;

/// A failure of a call, before it is known of which op.
#[derive(Debug)]
pub(super) enum Failure {
    Torch(TchError),
    Ours(Error),
}

pub(super) type Outcome<T> = Result<T, Failure>;

impl From<TchError> for Failure {
    fn from(error: TchError) -> Self {
        Failure::Torch(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Ours(error)
    }
}

impl Failure {
    /// The error of an op.
    pub(super) fn of(self, op: &'static str) -> Error {
        let text = match self {
            Failure::Ours(error) => return error,
            Failure::Torch(TchError::Torch(text)) => text,
            Failure::Torch(other) => other.to_string(),
        };
        Error::Backend {
            op: op.into(),
            backend: "LibTorch".into(),
            // A trace of C++ follows.
            message: text.lines().next().unwrap_or_default().to_owned(),
        }
    }
}
