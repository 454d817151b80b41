//! File names for run ids, which may be any text.

use std::fmt::Write;

/// How long the name of a file may grow, in bytes, before what follows becomes a hash. File systems
/// take 255, of which some are for what stands around it.
const LONGEST: usize = 180;

/// A file name for a run id, without its ending: the id itself where that is safe everywhere.
///
/// All but `a-z`, `0-9`, `.`, `_` and `-` is written as `%41`, upper case too, as some file systems
/// do not tell it from lower case. No two ids get the same name, but for very long ones whose hash
/// is the same; the run id in the file tells those apart.
pub(crate) fn safe(run_id: &str) -> String {
    if run_id.is_empty() {
        // Nothing else becomes this.
        return "%".to_owned();
    }

    let reserved = is_reserved(run_id);
    let mut name = String::with_capacity(run_id.len());
    for (index, byte) in run_id.bytes().enumerate() {
        let plain = match byte {
            // A leading dot hides a file, and `..` is a folder.
            b'.' => index > 0,
            b'a'..=b'z' => index > 0 || !reserved,
            b'0'..=b'9' | b'_' | b'-' => true,
            _ => false,
        };

        if plain {
            name.push(char::from(byte));
        } else {
            let _ = write!(name, "%{byte:02x}");
        }

        if name.len() > LONGEST {
            name.truncate(LONGEST);
            let _ = write!(name, "~{:016x}", hash(run_id.as_bytes()));
            break;
        }
    }

    name
}

/// Whether Windows takes it for a device, whatever follows the dot. Upper case is escaped anyway.
fn is_reserved(run_id: &str) -> bool {
    let stem = run_id.split('.').next().unwrap_or_default();
    match stem {
        "con" | "prn" | "aux" | "nul" => true,
        _ => {
            let number = stem
                .strip_prefix("com")
                .or_else(|| stem.strip_prefix("lpt"));
            number.is_some_and(|number| matches!(number.as_bytes(), [b'0'..=b'9']))
        }
    }
}

/// FNV-1a: the same on every machine and in every version, which the standard library's are not.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
