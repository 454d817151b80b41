use std::cell::Cell;
use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

/// An outcome, or a part of one, that cannot be recorded, such as an open connection or a handle.
/// Its `exec` is called again whenever the run is resumed.
///
/// ```
/// use cogwork_flow::journal::{MemoryJournal, Unrecorded};
/// use cogwork_flow::{Flow, from_phases};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// struct App { started: Option<std::time::Instant> }
///
/// let start = from_phases(
///     |_: &mut App| (),
///     |()| async { Ok::<_, std::io::Error>(Unrecorded(std::time::Instant::now())) },
///     |app, _, Unrecorded(now)| app.started = Some(now),
/// );
/// let flow = Flow::builder("app").start("start").node("start", start).end("start", "default").build()?;
/// let mut app = App { started: None };
///
/// // An `Instant` isn't `Serialize`, so neither is the state.
/// flow.begin().with_journal_any_state(MemoryJournal::new("1")).finish(&mut app).await?;
/// assert!(app.started.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Unrecorded<T>(pub T);

impl<T> Deref for Unrecorded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Unrecorded<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

thread_local! {
    /// Set when the serialiser reaches an unrecorded value, because the error of a serialiser
    /// contains only text.
    static MET: Cell<bool> = const { Cell::new(false) };
}

/// The result of a write, and whether it came across an [`Unrecorded`] value.
pub(super) struct Watched<R> {
    pub(super) written: R,
    pub(super) met_unrecorded: bool,
}

pub(super) fn watching<R>(write: impl FnOnce() -> R) -> Watched<R> {
    let before = MET.replace(false);
    let written = write();

    Watched {
        written,
        met_unrecorded: MET.replace(before),
    }
}

impl<T> Serialize for Unrecorded<T> {
    /// # Errors
    ///
    /// Always returns an error.
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        MET.set(true);
        Err(ser::Error::custom(
            "an `Unrecorded` value cannot be written",
        ))
    }
}

impl<'de, T> Deserialize<'de> for Unrecorded<T> {
    /// # Errors
    ///
    /// Always returns an error.
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(de::Error::custom("an `Unrecorded` value cannot be read"))
    }
}
