//! Cursors of lists, which are texts that only the server reads.

use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;

use crate::store::{Before, SessionHeader, SessionId};

/// The maximum length of a cursor, in bytes.
const MAX_BYTES: usize = 200;

/// Returns the cursor of the sessions that were created before this one.
pub(super) fn after(session: &SessionHeader) -> String {
    format!("{}.{}", session.created, session.id)
}

/// Reads the cursor of a request.
pub(super) fn of(request: Option<PaginatedRequestParams>) -> Result<Option<Before>, ErrorData> {
    let Some(cursor) = request.and_then(|request| request.cursor) else {
        return Ok(None);
    };

    read(&cursor).map(Some).ok_or_else(|| {
        let message =
            "the cursor isn't one of this list; leave it out to begin with the first page";
        ErrorData::invalid_params(message, None)
    })
}

fn read(cursor: &str) -> Option<Before> {
    if cursor.len() > MAX_BYTES {
        return None;
    }

    let (created, id) = cursor.split_once('.')?;
    Some(Before {
        created: created.parse().ok()?,
        id: SessionId::named(id)?,
    })
}
