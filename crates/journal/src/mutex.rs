use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also after a panic: nothing that this crate guards is left half changed by one.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
