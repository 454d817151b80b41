//! Type-erased errors and futures.

use std::error::Error;
use std::pin::Pin;

/// Any error of a node or journal.
pub type BoxError = Box<dyn Error + Send + Sync>;

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
