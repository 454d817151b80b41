use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The ids of the messages of a request, in order.
///
/// Conversations grow at their end, so consecutive ids are common. In JSON, three or more of them
/// are written as `[first, last]`: `[0, [2, 40], 57]`.
///
/// ```
/// use cogwork_trace::MessageIds;
///
/// let ids: MessageIds = [0, 2, 3, 4, 5, 9].into_iter().collect();
/// assert_eq!(serde_json::to_string(&ids)?, "[0,[2,5],9]");
/// assert_eq!(ids.iter().collect::<Vec<_>>(), [0, 2, 3, 4, 5, 9]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct MessageIds {
    ranges: Vec<RangeInclusive<u64>>,
}

impl MessageIds {
    /// Adds an id at the end.
    pub fn push(&mut self, id: u64) {
        if let Some(last) = self.ranges.last_mut()
            && last.end().checked_add(1) == Some(id)
        {
            *last = *last.start()..=id;
            return;
        }

        self.ranges.push(id..=id);
    }

    /// Returns the ids. A damaged record may contain very long ranges, so limit how many you take.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.ranges.iter().cloned().flatten()
    }

    /// Returns the number of ids.
    pub fn len(&self) -> u64 {
        let lengths = self.ranges.iter().map(|range| {
            let others = range.end().saturating_sub(*range.start());
            others.saturating_add(1)
        });

        lengths.fold(0, u64::saturating_add)
    }

    /// Returns whether there are no ids.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the highest id.
    pub fn max(&self) -> Option<u64> {
        self.ranges.iter().map(|range| *range.end()).max()
    }
}

impl FromIterator<u64> for MessageIds {
    fn from_iter<I: IntoIterator<Item = u64>>(ids: I) -> Self {
        let mut all = Self::default();
        ids.into_iter().for_each(|id| all.push(id));
        all
    }
}

impl fmt::Debug for MessageIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.ranges).finish()
    }
}

/// One item of the list in JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Item {
    One(u64),
    Range(u64, u64),
}

impl Serialize for MessageIds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let items = self.ranges.iter().flat_map(|range| {
            let first = *range.start();
            let last = *range.end();

            match last.saturating_sub(first) {
                0 => [Some(Item::One(first)), None],
                1 => [Some(Item::One(first)), Some(Item::One(last))],
                _ => [Some(Item::Range(first, last)), None],
            }
        });

        serializer.collect_seq(items.flatten())
    }
}

impl<'de> Deserialize<'de> for MessageIds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Vec::<Item>::deserialize(deserializer)?;
        let mut ids = Self::default();

        for item in items {
            match item {
                Item::One(id) => ids.push(id),
                Item::Range(first, last) if first < last => {
                    ids.push(first);
                    ids.extend_to(last);
                }
                Item::Range(first, last) => {
                    let error = format!("[{first}, {last}] isn't a range; expected first < last");
                    return Err(serde::de::Error::custom(error));
                }
            }
        }

        Ok(ids)
    }
}

impl MessageIds {
    fn extend_to(&mut self, id: u64) {
        if let Some(last) = self.ranges.last_mut() {
            *last = *last.start()..=id;
        }
    }
}
