//! Hashes for names in databases.

/// FNV-1a. Unlike the hashes of the standard library, it is the same on every machine and in every
/// version.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
