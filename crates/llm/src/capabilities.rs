use std::fmt;

/// One thing that a backend may be able to do beyond answering a conversation with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Capability {
    /// A reply comes piece by piece, and not all at its end.
    Streaming,
    /// The model may ask for a call of a tool.
    Tools,
    /// A reply can be held to JSON of any shape.
    JsonMode,
    /// A reply can be held to a JSON Schema.
    JsonSchema,
}

const ALL: [Capability; 4] = [
    Capability::Streaming,
    Capability::Tools,
    Capability::JsonMode,
    Capability::JsonSchema,
];

/// What a backend is known to be able to do. What is not in it may work all the same: nobody
/// has said so.
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
    /// Nothing known.
    pub const fn none() -> Self {
        Self(0)
    }

    /// These and one more.
    #[must_use]
    pub const fn with(self, capability: Capability) -> Self {
        Self(self.0 | bit(capability))
    }

    /// These but one.
    #[must_use]
    pub const fn without(self, capability: Capability) -> Self {
        Self(self.0 & !bit(capability))
    }

    /// Whether this one is known.
    pub const fn has(self, capability: Capability) -> bool {
        self.0 & bit(capability) != 0
    }

    /// What both can do: all that a program may count on where either may answer.
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
