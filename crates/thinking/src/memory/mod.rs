mod words;

mod store;
pub use store::{Found, Memory};

mod error;
pub use error::MemoryError;

mod limits;
pub use limits::MemoryLimits;

mod in_memory;
pub use in_memory::InMemory;

mod blackboard;
pub use blackboard::Blackboard;

mod file;
pub use file::FileMemory;

mod recall;
pub(crate) use recall::recalled;
pub use recall::{Recall, RecallSettings, RecallStage};
