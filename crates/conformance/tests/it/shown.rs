//! Texts from tested stores and engines are always shown safely.

use async_trait::async_trait;
use cogwork_conformance::{
    Ability, Attempt, CaseResult, Refusal, RefusalKind, Stopped, TestedEngine, check_engine,
};
use cogwork_text::testing::{Shown, texts};

/// An engine that refuses everything with a hostile text.
struct Hostile(String);

#[async_trait]
impl TestedEngine for Hostile {
    fn name(&self) -> String {
        self.0.clone()
    }

    fn lacks(&self, _: Ability) -> Option<&'static str> {
        Some("it refuses everything")
    }

    async fn proceed(&self, _: Attempt) -> Result<Stopped, Refusal> {
        Err(Refusal::new(RefusalKind::Other, &self.0))
    }

    async fn deliver(&self, _: &str, _: &str, _: &str) -> Result<(), Refusal> {
        Err(Refusal::new(RefusalKind::Other, &self.0))
    }
}

#[tokio::test]
async fn nothing_unsafe_is_shown() {
    let shown = Shown::default();
    for text in texts() {
        shown.error(&Refusal::new(RefusalKind::Other, &text));

        let report = check_engine(|| Hostile(text.clone())).await;
        for (_, result) in &report.results {
            if let CaseResult::Failed(broken) = result {
                shown.error(broken);
            }
        }
        shown.lines(&report);
    }

    // The texts of this type are constants.
    shown.assert_complete(env!("CARGO_MANIFEST_DIR"), &["Ability"]);
}
