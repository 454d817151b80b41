//! Selecting sessions.

use std::cmp::Reverse;

use super::session::Session;
use crate::store::{Before, Filter, Order, SessionHeader};

/// A session and its key.
pub(super) type Keyed<'a> = (i64, &'a Session);

/// Returns the headers of the selected sessions, whatever their words. `before` is the key of the
/// session that others were created before.
pub(super) fn select<'a>(
    sessions: impl Iterator<Item = Keyed<'a>>,
    filter: &Filter,
    before: Option<i64>,
) -> Vec<SessionHeader> {
    let selected = sessions.filter(|(key, session)| {
        let header = &session.header;
        is_selected(header, filter) && { filter.before.as_ref() }
            .is_none_or(|end| is_before(header, *key, end, before))
    });

    let mut selected: Vec<_> = selected.collect();
    selected.sort_unstable_by_key(|(key, session)| {
        Reverse((rank(&session.header, filter.order), *key))
    });
    let page = selected.iter().skip(filter.offset).take(filter.limit);
    page.map(|(_, session)| session.header.clone()).collect()
}

fn is_selected(header: &SessionHeader, filter: &Filter) -> bool {
    let strategy = filter.strategy.as_ref();
    let prefix = filter.id_prefix.as_ref();

    (filter.kinds.is_empty() || filter.kinds.contains(&header.kind))
        && strategy.is_none_or(|strategy| header.strategy == *strategy)
        && { filter.is_complete }.is_none_or(|is_complete| header.is_complete == is_complete)
        && prefix.is_none_or(|prefix| header.id.as_str().starts_with(prefix.as_str()))
}

/// Of those that were created in the same millisecond, the keys give the order.
fn is_before(header: &SessionHeader, key: i64, end: &Before, end_key: Option<i64>) -> bool {
    let created = (header.created, key);
    created < (end.created, end_key.unwrap_or(i64::MAX))
}

fn rank(header: &SessionHeader, order: Order) -> i64 {
    match order {
        Order::Updated => header.updated,
        Order::Created => header.created,
        Order::Entries => i64::try_from(header.entries).unwrap_or(i64::MAX),
        Order::Duration => header.updated.saturating_sub(header.created),
    }
}
