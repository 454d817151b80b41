//! JSON Schemas, for whoever has a program or a model write plans. Only a step's is derived: the other two
//! are written otherwise than their fields stand.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{Plan, Status, Step};

impl JsonSchema for Plan {
    fn schema_name() -> Cow<'static, str> {
        "Plan".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Vec<Step>>()
    }
}

impl JsonSchema for Status {
    fn schema_name() -> Cow<'static, str> {
        "Status".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = [Self::Pending, Self::Done, Self::VerificationNeeded].map(Self::as_str);
        json_schema!({"type": "string", "enum": names})
    }
}
