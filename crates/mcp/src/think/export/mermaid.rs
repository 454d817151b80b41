use cogwork_text::OneLine;

use super::shown::thought;
use super::{Export, Exporting};
use crate::shown::mermaid::Drawing;

/// The maximum number of characters of a title.
const TITLE: usize = 120;

pub(super) fn mermaid(exporting: &Exporting<'_>) -> Export {
    let session = exporting.session;
    let title = match (exporting.offset, exporting.purpose.trim()) {
        (0, "") => "Session".to_owned(),
        (0, purpose) => OneLine::new(purpose).with_max_chars(TITLE).to_string(),
        (1, _) => "1 earlier thought".to_owned(),
        (earlier, _) => format!("{earlier} earlier thoughts"),
    };
    let mut drawing = Drawing::new(&title, exporting.bytes);

    let thoughts = session.thoughts().iter().enumerate();
    let mut thoughts = thoughts.skip(exporting.offset);
    let full = thoughts.find(|(_, one)| !drawing.add(&thought(session, one)));
    Export {
        text: drawing.finish(None),
        next_offset: full.map(|(index, _)| index),
    }
}
