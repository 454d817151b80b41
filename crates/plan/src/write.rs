//! Serialises plans. Empty keys of a step are omitted.

use serde::ser::{Error, SerializeStruct};
use serde::{Serialize, Serializer};

use crate::plan::too_deep;
use crate::{MAX_DEPTH, Plan, Step};

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        StepsAt {
            steps: self.steps(),
            depth: 1,
        }
        .serialize(serializer)
    }
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        StepAt {
            step: self,
            depth: 1,
        }
        .serialize(serializer)
    }
}

struct StepsAt<'a> {
    steps: &'a [Step],
    depth: usize,
}

impl Serialize for StepsAt<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.steps.iter().map(|step| StepAt {
            step,
            depth: self.depth,
        }))
    }
}

struct StepAt<'a> {
    step: &'a Step,
    depth: usize,
}

impl Serialize for StepAt<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { step, depth } = *self;
        if depth > MAX_DEPTH {
            return Err(S::Error::custom(too_deep()));
        }

        let optional = [
            step.result.is_some(),
            step.mark.is_some(),
            !step.sub_steps.is_empty(),
        ];

        let length = 2 + optional.into_iter().filter(|there| *there).count();
        let mut fields = serializer.serialize_struct("Step", length)?;
        fields.serialize_field("description", &step.description)?;
        fields.serialize_field("status", &step.status)?;

        match &step.result {
            Some(result) => fields.serialize_field("result", result)?,
            None => fields.skip_field("result")?,
        }

        match &step.mark {
            Some(mark) => fields.serialize_field("mark", mark)?,
            None => fields.skip_field("mark")?,
        }

        if step.sub_steps.is_empty() {
            fields.skip_field("sub_steps")?;
        } else {
            fields.serialize_field(
                "sub_steps",
                &StepsAt {
                    steps: &step.sub_steps,
                    depth: depth + 1,
                },
            )?;
        }

        fields.end()
    }
}
