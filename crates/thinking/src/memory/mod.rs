mod store;
pub use store::{Found, Memory};

mod error;
pub use error::MemoryError;

mod limits;
pub use limits::MemoryLimits;

mod in_memory;
pub use in_memory::{Blackboard, InMemory, weight, words};

mod recall;
pub(crate) use recall::recalled;
pub use recall::{Recall, RecallSettings, RecallStage};
