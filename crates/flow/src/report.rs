use std::any::Any;
use std::fmt;
use std::sync::Arc;

use cogwork_text::OneLine;
use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::current::emit;
use crate::watch::EventKind;

/// A value that a node reported while it was visited; see [`report_from`].
///
/// It is serialised as the value, without the source.
#[derive(Clone)]
pub struct ReportedValue {
    value: Arc<dyn Reported>,
    source: &'static str,
}

impl ReportedValue {
    /// Wraps a value, with what it comes from, such as `reasoning`, for readers that don't know its
    /// type.
    pub fn new<T: Serialize + Send + Sync + 'static>(source: &'static str, value: T) -> Self {
        Self {
            value: Arc::new(value),
            source,
        }
    }

    /// Returns what the value comes from.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// Returns the value if it is of this type.
    pub fn downcast_ref<T: 'static>(&self) -> Option<&T> {
        let value: &dyn Any = &*self.value;
        value.downcast_ref()
    }

    /// Writes the value as JSON.
    ///
    /// # Errors
    ///
    /// Returns an error if the value cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        self.value.to_json()
    }
}

/// A value of any type.
trait Reported: Any + Send + Sync {
    fn to_json(&self) -> Result<String, serde_json::Error>;
}

impl<T: Serialize + Send + Sync + 'static> Reported for T {
    fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

impl PartialEq for ReportedValue {
    /// Returns whether both are the same report.
    fn eq(&self, other: &Self) -> bool {
        // Values of any type cannot be compared.
        Arc::ptr_eq(&self.value, &other.value)
    }
}

impl Eq for ReportedValue {}

impl Serialize for ReportedValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = self.to_json().and_then(RawValue::from_string);
        json.map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl fmt::Display for ReportedValue {
    /// Writes the value as JSON, in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_json() {
            Ok(json) => OneLine::new(json).fmt(f),
            Err(_) => f.write_str(self.source),
        }
    }
}

impl fmt::Debug for ReportedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReportedValue").field(&self.source).finish()
    }
}

/// Emits an [`EventKind::Reported`] event from inside any phase of a node, with a value for readers
/// that know its type, and with what it comes from, for those that don't. The closure isn't called outside of a node, or if the run isn't watched.
///
/// Reports aren't recorded. A replay calls `prep` and `post` again, but not `exec`, so it repeats
/// the reports of the former only.
///
/// ```
/// use cogwork_flow::watch::{EventKind, events, report_from};
/// use cogwork_flow::{Flow, from_fn};
/// use serde::Serialize;
///
/// #[derive(Serialize)]
/// struct Weight {
///     grams: u32,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let weigh = from_fn(|grams: &mut u32| report_from("scales", || Weight { grams: *grams }));
/// let flow = Flow::builder("shop").start("weigh").node("weigh", weigh).end("weigh", "default").build()?;
///
/// let (sink, mut events) = events(100);
/// flow.begin().with_events(sink).finish(&mut 300).await?;
///
/// while let Some(event) = events.next().await {
///     if let EventKind::Reported { report } = event.kind {
///         assert_eq!(report.downcast_ref::<Weight>().map(|weight| weight.grams), Some(300));
///         assert_eq!(report.to_string(), r#"{"grams":300}"#);
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub fn report_from<T: Serialize + Send + Sync + 'static>(
    source: &'static str,
    value: impl FnOnce() -> T,
) {
    emit(false, || EventKind::Reported {
        report: ReportedValue::new(source, value()),
    });
}

/// Reports a piece of something that a later report contains as a whole, such as a text that grows.
/// [Recorders](crate::watch::Observer) don't get it unless they follow texts while they grow. Otherwise,
/// this is the same as [`report_from`].
pub fn report_growth<T: Serialize + Send + Sync + 'static>(
    source: &'static str,
    value: impl FnOnce() -> T,
) {
    emit(true, || EventKind::Reported {
        report: ReportedValue::new(source, value()),
    });
}
