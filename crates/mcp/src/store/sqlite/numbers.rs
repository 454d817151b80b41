//! Numbers in columns.

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn signed_size(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
