//! Passes the texts that models write on to live views.

use std::sync::{Mutex, PoisonError};

use cogwork_flow::watch::{Event, Observer};
use cogwork_trace::{GrowingTexts, Piece};
use tokio::sync::broadcast::{self, error::RecvError};

/// How many pieces a live view may be behind before it misses some.
const WAITING: usize = 1_000;

/// Passes the pieces of a run on to its live views. Clones are of the same run.
#[derive(Clone)]
pub(crate) struct Pieces(broadcast::Sender<Piece>);

impl Default for Pieces {
    fn default() -> Self {
        Self(broadcast::Sender::new(WAITING))
    }
}

impl Pieces {
    pub(crate) fn watch(&self) -> PieceWatcher {
        PieceWatcher(Some(self.0.subscribe()))
    }
}

/// Observes a run, and sends the pieces of its texts.
pub(crate) struct Writing {
    pub(crate) texts: Mutex<GrowingTexts>,
    pub(crate) pieces: Pieces,
}

impl Observer for Writing {
    fn event(&self, event: &Event) {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        // A text that has ended is on record.
        let piece = texts.add(event).filter(|piece| !piece.is_end);
        // Fails if nobody watches.
        let _ = piece.map(|piece| self.pieces.0.send(piece));
    }

    fn follows_growth(&self) -> bool {
        true
    }
}

/// A live view of the pieces of a run, as long as it is executed.
#[derive(Debug, Default)]
pub(crate) struct PieceWatcher(Option<broadcast::Receiver<Piece>>);

impl PieceWatcher {
    /// Returns whether there may be more pieces.
    pub(crate) fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the next piece, which may never come.
    pub(crate) async fn next(&mut self) -> Piece {
        while let Some(receiver) = &mut self.0 {
            match receiver.recv().await {
                Ok(piece) => return piece,
                // The whole text comes with the end of its step.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => self.0 = None,
            }
        }
        std::future::pending().await
    }
}
