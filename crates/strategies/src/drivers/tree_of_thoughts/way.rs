use std::fmt;

use crate::BranchId;

/// How the search continues.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Way {
    /// With these branches.
    Develop { first: BranchId, names: Vec<String> },
    /// With approaches that weren't tried.
    Open { ids: Vec<String> },
    /// With the solution of this branch.
    Formulate {
        branch: BranchId,
        name: String,
        solved: bool,
    },
    /// No branch and no approach is left.
    Exhausted { threshold: f64 },
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Develop { names, .. } => write!(f, "Go on with {}.", names.join(", ")),
            Self::Open { ids } => write!(f, "Try {}.", ids.join(", ")),
            Self::Formulate {
                name, solved: true, ..
            } => {
                write!(f, "`{name}` holds the solution.")
            }
            Self::Formulate {
                name,
                solved: false,
                ..
            } => {
                write!(f, "`{name}` has come to its end and is the best.")
            }
            Self::Exhausted { threshold } => write!(
                f,
                "every approach was tried, and no branch with a score of {threshold} or more is left"
            ),
        }
    }
}
