use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads a list, and fails as soon as it has more than `MAX` items.
///
/// The items beyond the limit are never built, however many there are.
///
/// ```
/// use serde::Deserialize;
///
/// #[derive(Debug, Deserialize)]
/// struct Order {
///     #[serde(deserialize_with = "cogwork_read::at_most::<_, _, 2>")]
///     items: Vec<String>,
/// }
///
/// let order: Order = serde_json::from_str(r#"{"items": ["a", "b"]}"#)?;
/// assert_eq!(order.items, ["a", "b"]);
///
/// let refused = serde_json::from_str::<Order>(r#"{"items": ["a", "b", "c"]}"#).unwrap_err();
/// assert!(refused.to_string().starts_with("invalid length 3, expected a list of at most 2"));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
///
/// Returns the error of the deserializer if the value isn't a list of `T`, or is too long.
pub fn at_most<'de, D, T, const MAX: usize>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(AtMost::<T, MAX>(PhantomData))
}

struct AtMost<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for AtMost<T, MAX> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MAX}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            if items.len() == MAX {
                return Err(A::Error::invalid_length(MAX + 1, &self));
            }

            items.push(item);
        }

        Ok(items)
    }
}
