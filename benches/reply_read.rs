//! Reading a reply, beside the bare parser on the same text into the same type.

use cogwork_benches::{BoxError, criterion, each, flat_plan, nested_plan, ratio, reply};
use cogwork_cot::Reply;
use criterion::Throughput;

const MOST: usize = 512 * 1024;

fn bare(block: &str) -> Result<Reply, serde_yaml::Error> {
    serde_yaml::from_str(block)
}

fn main() -> Result<(), BoxError> {
    let mut criterion = criterion();
    let plans = [
        ("10 steps", nested_plan(10)),
        ("200 steps", nested_plan(200)),
        ("200 steps, one level", flat_plan(200)),
    ];
    for (name, plan) in plans {
        let text = reply(plan).to_string();
        let block = text.trim_start_matches("```yaml\n").trim_end_matches("\n```");
        if Reply::read(&text, MOST)? != bare(block)? {
            return Err("the two ways read different replies".into());
        }
        let mut group = criterion.benchmark_group(format!("reply_read/{name}"));
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function("Reply::read", |b| b.iter(|| Reply::read(&text, MOST)));
        group.bench_function("bare parser", |b| b.iter(|| bare(block)));
        group.finish();
        let times = if text.len() < 4096 { 20 } else { 2 };
        let (read, parse) = (|| each(times, || Reply::read(&text, MOST)), || each(times, || bare(block)));
        ratio(&format!("{name}: Reply::read / bare parser"), read, parse);
    }

    // Each is refused before the parser sees it.
    let hostile = [
        ("100,000 brackets", format!("```yaml\ncurrent_thinking: {}\n```", "[".repeat(100_000))),
        (
            "an anchor at the end",
            format!("{}\nx: &a 1", reply(nested_plan(200)).to_string().trim_end_matches("\n```")),
        ),
        ("50 MB", "current_thinking: x\n".repeat(2_500_000)),
    ];
    let mut group = criterion.benchmark_group("reply_read/refused");
    for (name, text) in &hostile {
        if Reply::read(text, MOST).is_ok() {
            return Err(format!("{name} was accepted").into());
        }
        group.bench_function(*name, |b| b.iter(|| Reply::read(text, MOST)));
    }
    group.finish();
    criterion.final_summary();
    Ok(())
}
