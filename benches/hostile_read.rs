//! Reading the slowest texts known, of 250 KB: those that the search over pairs of tokens finds for each reader
//! (`benches/fuzz/tests/pairs.rs`), and others that were slow once.

use cogwork_benches::{BoxError, criterion, each, ratio};
use cogwork_fuzz::readers::READERS;
use criterion::Throughput;

const BYTES: usize = 250_000;

/// A reader, what comes first, and what is repeated behind it.
const SLOWEST: [(&str, &str, &str); 23] = [
    ("replies", "```yaml\n", "\n"),
    ("replies", "```yaml\n", "   \n"),
    ("replies", "", "{c:"),
    ("replies", "", "```\n\"planning\": ["),
    ("replies", "", "```yaml\ncurrent_thinking: [\n```\n"),
    (
        "replies",
        "```yaml\ncurrent_thinking: a\nplanning:\n- description: b\n",
        "\"next_thought_needed\": false}",
    ),
    (
        "replies",
        "current_thinking: x\nplanning:\n",
        "- description: x\n",
    ),
    ("stage replies", "thought: a\nplan: ", "action: \n  "),
    ("stage replies", "thought: a\nplan: ", "[{},"),
    ("typed answers", "", "{\"a\":"),
    ("typed answers", "", "{\"name\": \"a\"}"),
    ("typed answers", "name: a\nother: ", "[{},"),
    ("tables in YAML", "", ":approach_id: a\n"),
    ("tables in YAML", "", "\u{85}planning:\n"),
    ("tables in YAML", "a: ", "[]"),
    (
        "flow files",
        "nodes:\n- id: a\n  type: agent\n  config:\n",
        "- id: a\n\n",
    ),
    ("flow files", "nodes:\n", "- {id: a, type: b}\n"),
    ("prompts", "", "{form}{thought_number}"),
    ("prompts", "system: '", "{form}"),
    ("saved states", "problem: a\nthoughts:\n", "- {a: [b, c]}\n"),
    ("saved states", "", "\"\\"),
    (
        "snapshots of sessions",
        "{\"version\": 1, \"strategy\": \"linear\", \"thoughts\": [",
        "{\"id\": 1, \"branch\": 0, \"number\": 1, \"kind\": \"stay\", \"strategy\": \"linear\", \"stage\": \"a\", \"thought\": \"x\", \"next_thought_needed\": true, \"parameters\": {}},",
    ),
    ("memories", "", "{\"text\":\"a b c\"}\n"),
];

fn text(beginning: &str, repeated: &str, bytes: usize) -> String {
    let times = (bytes - beginning.len()) / repeated.len();

    beginning.to_owned() + &repeated.repeat(times)
}

fn main() -> Result<(), BoxError> {
    let mut criterion = criterion();
    let mut group = criterion.benchmark_group("hostile_read");
    group.throughput(Throughput::Bytes(BYTES as u64));
    group.sample_size(10);

    for (name, beginning, repeated) in SLOWEST {
        let reader = READERS.iter().find(|reader| reader.name == name);
        let reader = reader.ok_or("there is no such reader")?;
        let long = text(beginning, repeated, BYTES);
        let what = format!("{name}: {repeated:?} behind {beginning:?}");

        group.bench_function(&what, |b| b.iter(|| (reader.read)(&long)));
    }

    group.finish();

    for (name, beginning, repeated) in SLOWEST {
        let reader = READERS.iter().find(|reader| reader.name == name);
        let reader = reader.ok_or("there is no such reader")?;
        let long = text(beginning, repeated, BYTES);
        let short = text(beginning, repeated, BYTES / 10);

        ratio(
            &format!("{name}, {repeated:?}: 250 KB / ten times 25 KB"),
            || each(1, || (reader.read)(&long)),
            || each(10, || (reader.read)(&short)) * 10,
        );
    }

    Ok(())
}
