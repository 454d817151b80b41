//! Reading a reply, beside the bare parser on the same text into the same type; and what repairs cost.

use cogwork_benches::{BoxError, criterion, each, flat_plan, nested_plan, ratio, reply};
use cogwork_cot::{Reply, ReplyReader};
use criterion::Throughput;

fn bare(block: &str) -> Result<Reply, serde_yaml::Error> {
    serde_yaml::from_str(block)
}

/// Puts a fault into a reply.
type Spoil = fn(&str) -> String;

/// What a model may do to a reply, one for each repair.
fn faults() -> [(&'static str, Spoil); 10] {
    fn with(text: &str, from: &str, to: &str) -> String {
        text.replace(from, to)
    }

    [
        ("colons in texts", |text| {
            with(text, "Work out", "Work out: ")
        }),
        ("signs at the beginning of texts", |text| {
            with(text, "Work out", "*Work* out")
        }),
        ("quotes left open", |text| {
            with(text, "description: ", "description: \"")
        }),
        ("statuses in other words", |text| {
            with(text, "status: Pending", "status: ⏳ to do")
        }),
        ("statuses left out", |text| {
            with(text, "status: Pending\n", "\n")
        }),
        ("keys in other case", |text| {
            with(text, "description:", "Description:")
        }),
        ("keys at other columns", |text| {
            with(text, "  status:", "     status:")
        }),
        ("tabs", |text| with(text, "  status:", "\tstatus:")),
        ("printed steps", |text| {
            with(text, "- description: ", "- [Done] ")
        }),
        ("bare steps", |text| with(text, "- description: ", "- ")),
    ]
}

/// Quotes inside of texts, single quotes, comments, and commas behind the last of a list.
fn faulty_json(steps: usize) -> String {
    let step = |number| {
        format!("{{\"description\": \"Say \"{number}\" twice\", 'status': \"Pending\",}}, // one\n")
    };
    let steps: String = (0..steps).map(step).collect();
    format!(
        "{{\"current_thinking\": \"x\", \"planning\": [\n{steps}], \"next_thought_needed\": true}}"
    )
}

fn main() -> Result<(), BoxError> {
    let mut criterion = criterion();
    let reader = ReplyReader::default();
    let plans = [
        ("10 steps", nested_plan(10)),
        ("200 steps", nested_plan(200)),
        ("200 steps, one level", flat_plan(200)),
    ];

    for (name, plan) in plans {
        let text = reply(plan).to_string();
        let block = text
            .trim_start_matches("```yaml\n")
            .trim_end_matches("\n```");
        let read = reader.read(&text)?;

        if read.reply != bare(block)? || !read.repairs.is_empty() {
            return Err("the two ways read different replies".into());
        }

        let mut group = criterion.benchmark_group(format!("reply_read/{name}"));
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function("ReplyReader::read", |b| b.iter(|| reader.read(&text)));
        group.bench_function("bare parser", |b| b.iter(|| bare(block)));
        group.finish();

        let times = if text.len() < 4096 { 20 } else { 2 };
        let read = || each(times, || reader.read(&text));
        let parse = || each(times, || bare(block));
        ratio(
            &format!("{name}: ReplyReader::read / bare parser"),
            read,
            parse,
        );
    }

    // Ten times the steps with the same fault; the time is for each step.
    for (name, fault) in faults() {
        let [short, long] = [200, 2000].map(|steps| fault(&reply(flat_plan(steps)).to_string()));
        for text in [&short, &long] {
            let repairs = reader.read(text)?.repairs.len();
            if repairs < 50 {
                return Err(format!("{name}: {repairs} repairs").into());
            }
        }

        let ten_short = || each(10, || reader.read(&short)) * 10;
        let long = || each(1, || reader.read(&long));
        ratio(
            &format!("{name}: 2,000 steps / ten times 200"),
            long,
            ten_short,
        );
    }

    let [short, long] = [200, 2000].map(faulty_json);
    if reader.read(&long)?.repairs.len() < 50 {
        return Err("JSON without a fault".into());
    }

    let ten_short = || each(10, || reader.read(&short)) * 10;
    let long = || each(1, || reader.read(&long));
    ratio(
        "JSON with faults: 2,000 steps / ten times 200",
        long,
        ten_short,
    );

    // Each is refused before the parser sees it, and then repairs are tried.
    let hostile = [
        (
            "100,000 brackets",
            format!("```yaml\ncurrent_thinking: {}\n```", "[".repeat(100_000)),
        ),
        (
            "an anchor at the end",
            format!(
                "{}\nx: &a 1",
                reply(nested_plan(200))
                    .to_string()
                    .trim_end_matches("\n```")
            ),
        ),
        ("50 MB", "current_thinking: x\n".repeat(2_500_000)),
    ];

    let mut group = criterion.benchmark_group("reply_read/refused");
    for (name, text) in &hostile {
        if reader.read(text).is_ok() {
            return Err(format!("{name} was accepted").into());
        }
        group.bench_function(*name, |b| b.iter(|| reader.read(text)));
    }

    group.finish();
    criterion.final_summary();
    Ok(())
}
