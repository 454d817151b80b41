use super::shown::{head, thought};
use super::{Export, Exporting};
use crate::shown::markdown;

pub(super) fn markdown(exporting: &Exporting<'_>) -> Export {
    let session = exporting.session;
    let total = session.thoughts().len();
    let mut text = markdown::head(&head(exporting));

    let thoughts = session.thoughts().iter().enumerate();
    for (index, one) in thoughts.skip(exporting.offset) {
        let section = markdown::thought(&thought(session, one));
        let is_first = index == exporting.offset;
        if !is_first && text.len().saturating_add(section.len()) > exporting.bytes {
            let more = total.saturating_sub(index);
            let note = format!("\n{more} more thoughts from the offset {index}.\n");
            text.push_str(&note);
            return Export {
                text,
                next_offset: Some(index),
            };
        }
        text.push_str(&section);
    }

    Export {
        text,
        next_offset: None,
    }
}
