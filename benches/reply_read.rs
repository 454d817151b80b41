//! Reading a reply, beside the bare parser on the same text into the same type.

use cogwork_benches::{BoxError, each, nested_plan, ratio, reply};
use cogwork_cot::Reply;

fn main() -> Result<(), BoxError> {
    for steps in [10, 200] {
        let text = reply(nested_plan(steps)).to_string();
        let block = text
            .trim_start_matches("```yaml\n")
            .trim_end_matches("\n```");
        let bare = || serde_yaml::from_str::<Reply>(block);

        let read = Reply::read(&text)?;
        if read.reply != bare()? || !read.repairs.is_empty() {
            return Err("the two ways read different replies".into());
        }

        ratio(
            &format!("a plan of {steps} steps: Reply::read / bare parser"),
            || each(5, || Reply::read(&text)),
            || each(5, bare),
        );
    }
    Ok(())
}
