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
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&place).unwrap_or(&message);

    // A string in the message may contain anything, but the text after it comes from the program.
    let Some((problem, expected)) = message.rsplit_once(", expected ") else {
        return message.to_owned();
    };

    if let Some(variant) = problem.strip_prefix("unknown variant ") {
        return format!("unknown value {variant}; expected {expected}");
    }

    let found = ["invalid type: ", "invalid value: "]
        .iter()
        .find_map(|prefix| problem.strip_prefix(prefix))
        .map(found_in_json)
        .or_else(|| Some(items(problem.strip_prefix("invalid length ")?)));

    match found {
        Some(found) => format!("found {found}; expected {}", expected_in_json(expected)),
        None => message.to_owned(),
    }
}

fn items(count: &str) -> String {
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} item{plural}")
}

/// Translates the `Display` of [`serde::de::Unexpected`].
fn found_in_json(found: &str) -> String {
    let (kind, value) = found.split_once(' ').unwrap_or((found, ""));
    let value = value.trim_matches('`');

    match (kind, value) {
        ("integer", number) => format!("the number {number}"),
        ("floating", point) => {
            let number = point.strip_prefix("point `").unwrap_or(point);
            format!("the number {number}")
        }
        ("boolean", boolean) => format!("the boolean {boolean}"),
        ("string", _) => format!("the {found}"),
        ("sequence", "") => "an array".to_owned(),
        ("map", "") => "an object".to_owned(),
        ("unit", "value" | "") => "null".to_owned(),
        ("unit", "variant") => "a string".to_owned(),
        ("newtype" | "tuple" | "struct", "variant") => "an object".to_owned(),
        _ => found.to_owned(),
    }
}

/// Translates the texts of the visitors in serde and in derived code. Those of custom visitors are
/// returned unchanged.
fn expected_in_json(expected: &str) -> String {
    let translated = match expected {
        "f32" | "f64" => "a number",
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "u128" | "usize" => "a whole number from 0",
        "i8" => "a whole number from -128 to 127",
        "i16" => "a whole number from -32768 to 32767",
        "i32" => "a whole number from -2147483648 to 2147483647",
        "i64" | "i128" | "isize" => "a whole number",
        "a borrowed string" | "string" | "str" | "variant identifier" | "field identifier"
        | "unit variant" => "a string",
        "a character" => "a string of one character",
        "string or map" => "a string or an object",
        "a sequence" => "an array",
        "a map" | "map" | "map with a single key" => "an object",
        "unit" => "null",
        "option" => "a value or null",
        "fewer elements in array" | "fewer elements in map" => "fewer",
        other => return expected_in_rust(other),
    };

    translated.to_owned()
}

/// Translates texts that contain the name of a Rust type or a length.
fn expected_in_rust(expected: &str) -> String {
    let words: Vec<&str> = expected.split(' ').collect();

    match words.as_slice() {
        ["a", "tuple", "of", "size", length] | ["an", "array", "of", "length", length] => {
            format!("an array of {length} items")
        }
        ["tuple", "struct" | "variant", _, "with", length, _] => {
            format!("an array of {length} items")
        }
        ["tuple", "struct" | "variant", ..] => "an array".to_owned(),
        ["struct", ..] => "an object".to_owned(),
        ["enum", _] => "a string or an object".to_owned(),
        ["unit", "struct", _] => "null".to_owned(),
        _ => expected.to_owned(),
    }
}
