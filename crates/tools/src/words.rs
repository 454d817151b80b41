//! Errors of serde_json in the words of JSON Schema, which models know, instead of those of Rust.

/// Returns what is wrong with a JSON value, and what is expected, in the words of JSON Schema.
///
/// serde writes its errors in the words of Rust, as in "invalid type: sequence, expected a string".
/// The place in the text is left out.
///
/// ```
/// use cogwork_tools::in_json_words;
///
/// let error = serde_json::from_str::<Vec<u8>>("{}").unwrap_err();
/// assert_eq!(in_json_words(&error), "found an object; expected an array");
/// ```
pub fn in_json_words(error: &serde_json::Error) -> String {
    let message = error.to_string();
    // The model has written the arguments in one line, so their place says nothing.
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&place).unwrap_or(&message);

    // A string in the message may contain anything, but the text after it comes from the program.
    let Some((problem, expected)) = message.rsplit_once(", expected ") else {
        return message.to_owned();
    };

    if let Some(variant) = problem.strip_prefix("unknown variant ") {
        return format!("unknown value {variant}; expected {expected}");
    }

    // Each of serde's messages begins with one of these, or is passed on as it is.
    let found = ["invalid type: ", "invalid value: "]
        .iter()
        .find_map(|prefix| problem.strip_prefix(prefix))
        .map(found_in_json)
        .or_else(|| {
            let length = problem.strip_prefix("invalid length ")?;
            Some(format!("a length of {length}"))
        });
    let expected = expected.replace("a tuple of size", "an array of length");

    match found {
        Some(found) => format!("found {found}; expected {}", expected_in_json(&expected)),
        None => message.to_owned(),
    }
}

/// Translates the `Display` of [`serde::de::Unexpected`].
fn found_in_json(found: &str) -> String {
    let (kind, value) = found.split_once(' ').unwrap_or((found, ""));

    match kind {
        "integer" | "floating" => {
            let number = value.trim_start_matches("point ");
            format!("the number {}", number.trim_matches('`'))
        }
        "boolean" => format!("the boolean {}", value.trim_matches('`')),
        "string" => format!("the {found}"),
        "sequence" => "an array".to_owned(),
        "map" => "an object".to_owned(),
        "unit" => "null".to_owned(),
        _ => found.to_owned(),
    }
}

/// Translates the most common texts of the visitors in serde and in derived code. Others are
/// returned unchanged.
fn expected_in_json(expected: &str) -> &str {
    match expected {
        "f32" | "f64" => "a number",
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "u128" | "usize" => "a whole number from 0",
        "i8" => "a whole number from -128 to 127",
        "i16" => "a whole number from -32768 to 32767",
        "i32" => "a whole number from -2147483648 to 2147483647",
        "i64" | "i128" | "isize" => "a whole number",
        "a borrowed string" | "string" | "str" | "variant identifier" => "a string",
        "string or map" => "a string or an object",
        "a sequence" => "an array",
        "a map" => "an object",
        "unit" => "null",
        "option" => "a value or null",
        other if other.starts_with("struct ") => "an object",
        other if other.starts_with("enum ") => "a string or an object",
        other if other.starts_with("tuple struct ") => "an array",
        other => other,
    }
}
