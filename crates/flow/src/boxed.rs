//! Errors and futures without their types.

use std::error::Error;
use std::pin::Pin;

/// Any error, as a flow keeps it.
pub type BoxError = Box<dyn Error + Send + Sync>;

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
