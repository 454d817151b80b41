use std::fmt;

/// A feature that a backend may support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Capability {
    /// Replies are emitted in pieces rather than all at once.
    Streaming,
    /// The model may call tools.
    Tools,
    /// Replies can be constrained to JSON of any shape.
    JsonMode,
    /// Replies can be constrained to a JSON Schema.
    JsonSchema,
}

const ALL: [Capability; 4] = [
    Capability::Streaming,
    Capability::Tools,
    Capability::JsonMode,
    Capability::JsonSchema,
];

/// The set of features that a backend is known to support. Others may work as well.
///
/// ```
/// use cogwork_llm::{Capabilities, Capability};
///
/// let known = Capabilities::none().with(Capability::Streaming).with(Capability::JsonMode);
/// assert!(known.has(Capability::Streaming));
/// assert!(!known.has(Capability::Tools));
/// assert_eq!(format!("{known:?}"), "{Streaming, JsonMode}");
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Capabilities(u8);

impl Capabilities {
    /// Creates an empty set.
    pub const fn none() -> Self {
        Self(0)
    }

    /// Returns this set with `capability`.
    #[must_use]
    pub const fn with(self, capability: Capability) -> Self {
        Self(self.0 | bit(capability))
    }

    /// Returns this set without `capability`.
    #[must_use]
    pub const fn without(self, capability: Capability) -> Self {
        Self(self.0 & !bit(capability))
    }

    /// Returns whether the set contains `capability`.
    pub const fn has(self, capability: Capability) -> bool {
        self.0 & bit(capability) != 0
    }

    /// Returns the intersection with `other`: what a caller can rely on if either client may
    /// respond.
    #[must_use]
    pub const fn in_common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

const fn bit(capability: Capability) -> u8 {
    1 << capability as u8
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(ALL.iter().filter(|capability| self.has(**capability)))
            .finish()
    }
}
