use std::sync::{Arc, Mutex, PoisonError, Weak};

use cogwork_ask::Ladder;
use cogwork_llm::LlmClient;

/// The ladders of a solver: one for its own client, and one for each client that a driver asks
/// instead. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Ladders {
    own: Ladder,
    others: Arc<Mutex<Vec<OtherLadder>>>,
}

struct OtherLadder {
    client: Weak<dyn LlmClient>,
    ladder: Ladder,
}

impl Ladders {
    /// Returns the ladders of a run whose own client is a different one.
    pub(super) fn with_own(&self, client: &Arc<dyn LlmClient>) -> Self {
        Self {
            own: self.of(Some(client)),
            others: Arc::clone(&self.others),
        }
    }

    /// Returns the ladder of a client; `None` is the client of the solver.
    pub(super) fn of(&self, client: Option<&Arc<dyn LlmClient>>) -> Ladder {
        let Some(client) = client else {
            return self.own.clone();
        };

        // A panic can't leave the list half changed, so a poisoned lock can still be used.
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        others.retain(|other| other.client.strong_count() > 0);

        let client = Arc::downgrade(client);
        let known = others
            .iter()
            .find(|other| Weak::ptr_eq(&other.client, &client));
        if let Some(known) = known {
            return known.ladder.clone();
        }

        let ladder = Ladder::default();
        others.push(OtherLadder {
            client,
            ladder: ladder.clone(),
        });
        ladder
    }
}
