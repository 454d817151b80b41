use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a value. A panic elsewhere cannot leave a value of this crate inconsistent, so a poisoned
/// lock is still usable.
pub(crate) fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
