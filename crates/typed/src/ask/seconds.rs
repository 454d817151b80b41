//! Durations as numbers of seconds.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer, de};

pub(super) fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Duration, D::Error> {
    f64::deserialize(deserializer).and_then(duration)
}

pub(super) fn optional<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    let seconds = Option::<f64>::deserialize(deserializer)?;
    seconds.map(duration).transpose()
}

fn duration<E: de::Error>(seconds: f64) -> Result<Duration, E> {
    let time = Duration::try_from_secs_f64(seconds);
    time.map_err(|_| E::custom(format!("{seconds} is not a number of seconds")))
}
