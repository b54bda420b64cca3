//! What libtorch reports.

use tch::TchError;

use crate::backend::failure::Failure;

pub(super) type Outcome<T> = Result<T, Failure>;

impl From<TchError> for Failure {
    fn from(error: TchError) -> Self {
        match error {
            TchError::Torch(text) => Failure::of_engine("LibTorch", text),
            other => Failure::of_engine("LibTorch", other),
        }
    }
}
