//! File names for ids, which may be any text.

use std::fmt::Write;

/// The maximum length of a file name in bytes, after which the rest is replaced with a hash. File
/// systems allow 255, including the ending.
const LONGEST: usize = 180;

/// Returns a file name for an id that may be any text, such as the id of a run, without an ending:
/// the id itself if it is safe.
///
/// All bytes except `a-z`, `0-9`, `.`, `_` and `-` are written as `%41`. This includes upper case,
/// which some file systems don't distinguish from lower case. Two ids have the same name only if
/// both are very long and have the same hash; the id in the file then tells them apart.
///
/// ```
/// use cogwork_text::files::safe_name;
///
/// assert_eq!(safe_name("order-17"), "order-17");
/// assert_eq!(safe_name("../Order"), "%2e.%2f%4frder");
/// ```
pub fn safe_name(id: &str) -> String {
    if id.is_empty() {
        // No other id has this name.
        return "%".to_owned();
    }

    let mut name = String::with_capacity(id.len());
    for (index, byte) in id.bytes().enumerate() {
        let plain = match byte {
            // A leading dot hides a file, and `..` is a folder.
            b'.' => index > 0,
            b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' => true,
            _ => false,
        };

        if plain {
            name.push(char::from(byte));
        } else {
            let _ = write!(name, "%{byte:02x}");
        }

        // File systems refuse longer names.
        if name.len() > LONGEST {
            name.truncate(LONGEST);
            let _ = write!(name, "~{:016x}", hash(id.as_bytes()));
            break;
        }
    }

    name
}

/// FNV-1a. Unlike the hashes of the standard library, it is the same on every machine and in every
/// version.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
