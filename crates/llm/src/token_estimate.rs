/// The estimated size of an image or a file, in bytes of text: about a thousand tokens.
pub(crate) const BLOCK_BYTES: usize = 4_000;

/// Returns the estimated number of tokens of a text: one per four bytes.
pub(crate) fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}
