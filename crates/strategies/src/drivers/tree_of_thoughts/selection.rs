//! The thoughts of the selection.

use super::tree::Tree;
use crate::BranchId;

/// A thought of the selection about a branch, which is added to that branch or to a different one.
pub(super) struct Selected {
    /// The branch that gets the thought.
    pub(super) branch: BranchId,
    pub(super) text: String,
    /// The approach of the branch that the text is about.
    pub(super) approach: String,
}

/// Returns the thoughts about the `chosen` branches that were just `judged`. If there are none, the
/// thought on the best judged branch names the chosen one.
pub(super) fn selected(tree: &Tree<'_>, judged: &[BranchId], chosen: &[BranchId]) -> Vec<Selected> {
    let chosen_with_score = |branch: BranchId| Selected {
        branch,
        text: format!("Chosen with a score of {}.", tree.score(branch)),
        approach: tree.approach(branch).to_owned(),
    };

    let just_judged = chosen
        .iter()
        .copied()
        .filter(|branch| judged.contains(branch));
    let all: Vec<Selected> = just_judged.map(chosen_with_score).collect();
    if !all.is_empty() {
        return all;
    }

    let Some(last) = judged.first().copied() else {
        return Vec::new();
    };

    vec![none_selected(tree, last, chosen.first().copied())]
}

/// Returns the thought on the best judged branch if it isn't chosen.
fn none_selected(tree: &Tree<'_>, branch: BranchId, chosen: Option<BranchId>) -> Selected {
    let about = chosen.unwrap_or(branch);
    let score = tree.score(about);
    let approach = tree.approach(about).to_owned();

    let text = match chosen {
        Some(chosen) => format!(
            "`{}` stays the best, with a score of {score}.",
            tree.name(chosen)
        ),
        None => format!("None is good enough; this is the best, with a score of {score}."),
    };

    Selected {
        branch,
        text,
        approach,
    }
}
