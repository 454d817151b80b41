//! Reads the values of plain scalars.

use serde_json::{Number, Value as Json};
use serde_yaml::Value as Yaml;

/// `yes` and `no` are texts, as in YAML 1.2. So are `.inf` and `.nan`, because no setting accepts
/// them.
pub(super) fn resolve(plain: &str) -> Json {
    let resolved = match serde_yaml::from_str(plain) {
        Ok(Yaml::Null) => Some(Json::Null),
        Ok(Yaml::Bool(value)) => Some(value.into()),
        Ok(Yaml::Number(number)) => {
            let signed = number.as_i64().map(Number::from);
            let whole = signed.or_else(|| number.as_u64().map(Number::from));
            let any = whole.or_else(|| number.as_f64().and_then(Number::from_f64));
            any.map(Json::Number)
        }
        _ => None,
    };
    resolved.unwrap_or_else(|| plain.into())
}
