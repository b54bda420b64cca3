use std::fmt;

use crate::error::Error;

/// A result that is not there yet: another type than the result, until [`Pending::wait`].
///
/// A member's operations complete in the order in which they were started, whichever is waited for first.
#[must_use = "a pending result is nothing until `.wait()?`"]
pub struct Pending<T>(Box<dyn FnOnce() -> Result<T, Error> + Send>);

impl<T: 'static> Pending<T> {
    /// A result that `wait` computes or waits for.
    pub fn new(wait: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Self {
        Pending(Box::new(wait))
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// If the operation did not take place, or the backend failed.
    pub fn wait(self) -> Result<T, Error> {
        (self.0)()
    }

    /// The result of a function of the result.
    pub fn and_then<U: 'static>(self, f: impl FnOnce(T) -> Result<U, Error> + Send + 'static) -> Pending<U> {
        Pending::new(move || f(self.wait()?))
    }
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pending")
    }
}
