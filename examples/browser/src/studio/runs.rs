//! Runs of flows that the studio doesn't offer.

use cogwork::flow::{Action, Flow, Wait, from_fn};
use serde_json::{Value, json};

use super::ServedStudio;
use crate::Result;

impl ServedStudio {
    /// Adds a run that failed.
    ///
    /// # Errors
    ///
    /// Returns an error if the run cannot be written.
    pub async fn add_failed(&self, id: &str, flow: &str, error: &str) -> Result<()> {
        let text = error.to_owned();
        let fail = from_fn(move |_: &mut u32| {
            let error = std::io::Error::other(text.clone());
            Err::<(), _>(error.into())
        });
        let flow = Flow::builder(flow)
            .start("fail")
            .node("fail", fail)
            .end("fail", Action::DEFAULT)
            .build()?;

        let journal = self.store().start(id, &flow, &1).await?;
        let _ = flow.begin().with_journal(journal).finish(&mut 1).await;
        Ok(())
    }

    /// Adds a run that was begun and isn't executed now.
    ///
    /// # Errors
    ///
    /// Returns an error if the run cannot be written.
    pub async fn add_open(&self, id: &str) -> Result<()> {
        let flow = Flow::builder("import")
            .start("read")
            .node("read", from_fn(|_: &mut u32| ()))
            .end("read", Action::DEFAULT)
            .build()?;
        self.store().start(id, &flow, &1).await?;
        Ok(())
    }

    /// Adds a run that waits, whose names and texts are all this text.
    ///
    /// # Errors
    ///
    /// Returns an error if the run cannot be written.
    pub async fn add_waiting(&self, id: &str, text: &str) -> Result<()> {
        let schema = json!({
            "type": "object",
            "title": text,
            "description": text,
            "required": [text],
            "properties": {
                text: {"enum": [text, "other"], "title": text, "description": text},
                "list": {"type": "array", "title": text, "minItems": 1, "items": {"type": "string", "title": text}},
                "more": {"type": "object", "title": text, "properties": {text: {"type": "integer", "description": text}}},
            },
        });
        let reason = text.to_owned();
        let wait = Wait::for_event(text, |_: &mut u32, _: Value| ());
        let wait = wait
            .with_schema(schema)
            .with_reason(move |_| reason.clone());

        let flow = Flow::builder(text)
            .start("ask")
            .wait("ask", wait)
            .end("ask", Action::DEFAULT)
            .build()?;
        let journal = self.store().start(id, &flow, &1).await?;
        let _ = flow.begin().with_journal(journal).finish(&mut 1).await;
        Ok(())
    }
}
