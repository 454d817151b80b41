use serde::Serialize;
use tokio::sync::broadcast::{self, error::RecvError};

/// How many pieces a live view may be behind before it misses some.
const WAITING: usize = 1_000;

/// A piece of a text that a model is writing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Piece {
    /// The name of the step, as in its events.
    pub step: String,
    /// The text.
    pub text: String,
    /// Whether it replaces the earlier pieces of the step.
    pub is_start: bool,
}

/// Passes the pieces of a run on to its live views. Clones are of the same run.
#[derive(Debug, Clone)]
pub struct Pieces(broadcast::Sender<Piece>);

impl Default for Pieces {
    fn default() -> Self {
        Self(broadcast::Sender::new(WAITING))
    }
}

impl Pieces {
    /// Sends a piece. It is lost if nobody watches.
    pub fn send(&self, piece: Piece) {
        // Fails if nobody watches.
        let _ = self.0.send(piece);
    }

    pub(crate) fn watch(&self) -> PieceWatcher {
        PieceWatcher(Some(self.0.subscribe()))
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
