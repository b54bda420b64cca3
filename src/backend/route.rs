//! By which way ops come to their results: what a report of an engine's reach observes.

use std::cell::Cell;

/// By which way an op came to its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Route {
    /// The engine executed it.
    Native,
    /// It is a fused op, which was executed by the ops that it consists of.
    Lowered,
    /// Operands were read, another backend executed it, and the result was uploaded.
    Host,
}

thread_local! {
    static TAKEN: Cell<Route> = const { Cell::new(Route::Native) };
}

/// Runs a closure, and says by which way the ops that this thread executed in it came to their results: of several, the
/// longest.
///
/// ```
/// use keyway::backend::{Route, observe};
/// use keyway::prelude::*;
/// let x = Tensor::<Flex, 1>::from_array([0.0, 1.0], &Default::default());
/// let (y, route) = observe(|| x.exp());
/// assert_eq!((y.dims(), route), ([2], Route::Native));
/// ```
pub fn observe<T>(f: impl FnOnce() -> T) -> (T, Route) {
    let outside = TAKEN.replace(Route::Native);
    let result = f();
    let taken = TAKEN.get();
    TAKEN.set(taken.max(outside));
    (result, taken)
}

/// Notes that an op takes this way.
pub(crate) fn note(route: Route) {
    TAKEN.set(TAKEN.get().max(route));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_way_is_told() {
        let ((inner, outer), other) = observe(|| {
            note(Route::Lowered);
            let inner = observe(|| note(Route::Host)).1;
            (inner, observe(|| ()).1)
        });
        assert_eq!((inner, outer, other), (Route::Host, Route::Native, Route::Host));
        assert_eq!(observe(|| ()).1, Route::Native);
    }
}
