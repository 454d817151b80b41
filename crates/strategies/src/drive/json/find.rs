//! Finds the object of a reply, in a fence or in prose.

use cogwork_ask::Repair;
use serde_json::{Map, Value};

use super::mend::{Mended, mend};

/// The maximum number of objects that are tried.
const MAX_TRIED: usize = 8;

/// The object of a reply.
pub(in crate::drive) struct FoundObject {
    pub(in crate::drive) object: Map<String, Value>,
    pub(in crate::drive) repairs: Vec<Repair>,
    /// Whether the reply ended inside the object.
    pub(in crate::drive) is_cut: bool,
}

/// Returns the first object with a known key. One that was cut off is only returned if no other
/// follows.
pub(in crate::drive) fn find(text: &str, is_known: impl Fn(&str) -> bool) -> Option<FoundObject> {
    let mut cut = None;
    let mut at = 0;
    let mut line = 1;

    for _ in 0..MAX_TRIED {
        let rest = text.get(at..)?;
        let Some(brace) = rest.find('{') else {
            break;
        };

        line += rest.get(..brace)?.matches('\n').count();
        at += brace;

        let rest = text.get(at..)?;
        let Some(mended) = mend(rest, line) else {
            at += 1;
            continue;
        };

        let passed = mended.length;
        let has_known = mended.object.keys().any(|key| is_known(key));
        match has_known {
            true if !mended.is_cut => return Some(mended.into()),
            true if cut.is_none() => cut = Some(mended.into()),
            _ => {}
        }

        // An object that was cut off may contain whole ones.
        let step = if has_known { passed } else { 1 };
        line += rest.get(..step)?.matches('\n').count();
        at += step;
    }

    cut
}

impl From<Mended> for FoundObject {
    fn from(mended: Mended) -> Self {
        Self {
            object: mended.object,
            repairs: mended.repairs,
            is_cut: mended.is_cut,
        }
    }
}
