//! Passes growing texts on to the page, without values from the environment.

use std::collections::HashMap;

use cogwork_agents::FileFlow;
use cogwork_flow::watch::{EventKind, Events};
use cogwork_studio::{Piece, Pieces};
use cogwork_text::Name;

use crate::output::tell;
use crate::run::growing::Thinkers;
use crate::run::stream::Growing;

/// Sends the growing texts of a run until it ends.
pub(super) async fn watch(mut events: Events, pieces: &Pieces, loaded: &FileFlow) {
    let mut thinkers = Thinkers::default();
    let mut growing: HashMap<String, Growing> = HashMap::new();
    let hide = |text: &str| loaded.hide_secrets(text);

    while let Some(event) = events.next().await {
        if let EventKind::Failed { error } = &event.kind {
            let error = loaded.hide_secrets(error);
            tell(format_args!("cogwork: run {}: {error}", Name(&event.run)));
        }
        // The events of the run as a whole have no text.
        let Some(step) = event.step.as_deref().map(ToString::to_string) else {
            continue;
        };

        let Some(piece) = thinkers.piece(&event) else {
            // The whole text is on record by then.
            if matches!(event.kind, EventKind::PhaseFinished { .. }) {
                growing.remove(&step);
            }
            continue;
        };

        if piece.is_start {
            growing.remove(&step);
        }
        let is_start = piece.is_start;
        let text = growing
            .entry(step.clone())
            .or_default()
            .push(piece.text, hide);
        if is_start || !text.is_empty() {
            send(pieces, step, text, is_start);
        }
    }
}

fn send(pieces: &Pieces, step: String, text: String, is_start: bool) {
    pieces.send(Piece {
        step,
        text,
        is_start,
    });
}
