//! Finds the object of a reply, in a fence or in prose.

use serde_json::{Map, Value};

use super::MendedJson;
use crate::ask::Repair;

/// The maximum number of objects that are tried.
const MAX_TRIED: usize = 8;

/// The object of a reply, found by [`find_object`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FoundObject {
    /// The object.
    pub object: Map<String, Value>,
    /// What was corrected.
    pub repairs: Vec<Repair>,
    /// Whether the reply ends inside the object.
    pub is_cut: bool,
}

/// Returns the first object with a known key in a reply, be it in a fence or in prose. One that was
/// cut off is only returned if no other follows.
///
/// ```
/// let found = cogwork_typed::ask::find_object("Here it is: {'sum': 4}", |key| key == "sum").unwrap();
/// assert_eq!(found.object["sum"], 4);
/// ```
pub fn find_object(text: &str, is_known: impl Fn(&str) -> bool) -> Option<FoundObject> {
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
        let column = column_at(text, at);
        let Some((mended, object)) = object_at(rest, line, column) else {
            at += 1;
            continue;
        };

        let passed = mended.length();
        let is_cut = mended.cut().is_some();
        let has_known = object.keys().any(|key| is_known(key));

        if has_known {
            let found = FoundObject {
                object,
                repairs: mended.repairs().to_vec(),
                is_cut,
            };

            if !is_cut {
                return Some(found);
            }
            cut.get_or_insert(found);
        }

        // An object that was cut off may contain whole ones.
        let step = if has_known { passed } else { 1 };
        line += rest.get(..step)?.matches('\n').count();
        at += step;
    }

    cut
}

/// Returns how many bytes of a line precede an offset.
fn column_at(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    before.len() - start
}

fn object_at(text: &str, line: usize, column: usize) -> Option<(MendedJson, Map<String, Value>)> {
    let mended = MendedJson::read_at(text, line, column)?;
    let object = serde_json::from_str(mended.json()).ok()?;
    Some((mended, object))
}
