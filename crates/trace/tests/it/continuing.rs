//! Records of runs that crashed, and were resumed.

use std::fs::{self, OpenOptions};
use std::io::Write;

use cogwork_flow::{Flow, from_fn};
use cogwork_llm::ScriptedClient;
use cogwork_trace::{RecordReader, RecorderSettings, RunRecorder};
use serde_json::json;

use crate::support::{TestRecord, asking};

async fn run(record: &TestRecord, id: &str) -> RunRecorder {
    let recorder = record.recorder(RecorderSettings::default());
    let flow = asking(ScriptedClient::new(["8"]));
    let run = flow.begin().with_id(id).with_events(&recorder);
    { run }.finish(&mut 0).await.unwrap();
    recorder
}

#[tokio::test(start_paused = true)]
async fn a_resumed_run_continues_its_record() {
    let record = TestRecord::new();
    run(&record, "r").await;
    run(&record, "r").await;

    let text = record.text();
    assert_eq!(text.matches("cogwork_record").count(), 1);

    let events = record.events();
    let resumed = events.iter().position(|event| event.name == "resumed");
    assert!(resumed.is_some());

    // Numbers are unique in the whole record.
    let messages = record.chats("message");
    let ids: Vec<_> = messages.iter().map(|message| &message["id"]).collect();
    assert_eq!(ids, [0, 1, 2, 3]);

    let chats = record.chats("chat");
    let calls: Vec<_> = chats
        .iter()
        .map(|chat| [&chat["call"], &chat["messages"]])
        .collect();
    assert_eq!(json!(calls), json!([[0, [0, 1]], [1, [2, 3]]]));
}

#[tokio::test(start_paused = true)]
async fn a_record_has_one_recorder_at_a_time() {
    let record = TestRecord::new();
    let first = run(&record, "r").await;
    first.flush().unwrap();
    let before = record.text();

    let second = RunRecorder::open(&record.path, RecorderSettings::default());
    let error = second.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ResourceBusy);
    insta::assert_snapshot!(error, @"another recorder writes this record; wait until it has stopped, or choose another file");
    assert_eq!(record.text(), before);

    drop(first);
    run(&record, "r").await;
}

#[tokio::test(start_paused = true)]
async fn a_torn_line_is_removed_before_the_record_continues() {
    let record = TestRecord::new();
    run(&record, "r").await;
    let whole = fs::read(&record.path).unwrap();

    let mut file = OpenOptions::new().append(true).open(&record.path).unwrap();
    file.write_all(br#"{"at":0.1,"type":"mov"#).unwrap();

    run(&record, "r").await;
    let text = fs::read(&record.path).unwrap();
    assert!(text.starts_with(&whole));

    let mut reader = RecordReader::open(&record.path).unwrap();
    assert!(reader.by_ref().all(|event| event.is_ok()));
    assert_eq!(reader.torn(), None);
}

#[tokio::test(start_paused = true)]
async fn a_record_that_is_torn_in_its_header_begins_again() {
    for torn in ["{", r#"{"cogwork_record":1,"run":"r","fl"#] {
        let record = TestRecord::new();
        fs::write(&record.path, torn).unwrap();
        run(&record, "r").await;
        assert_eq!(record.events().last().unwrap().name, "ended");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_is_not_recorded_into_the_record_of_another() {
    let record = TestRecord::new();
    run(&record, "one").await;
    let before = record.text();

    let recorder = run(&record, "two").await;
    let error = recorder.flush().unwrap_err();
    insta::assert_snapshot!(error, @"the record is of the run `one`, not of `two`");
    assert_eq!(record.text(), before);
}

#[test]
fn other_files_are_refused_and_unchanged() {
    let newer = "{\"cogwork_record\":2,\"run\":\"r\"}\n";

    for content in ["notes\n", "notes", "{\"v\":1}\n", newer] {
        let record = TestRecord::new();
        fs::write(&record.path, content).unwrap();

        let error = RunRecorder::open(&record.path, RecorderSettings::default()).unwrap_err();
        assert!(error.to_string().starts_with("line 1: "), "{error}");
        assert_eq!(fs::read_to_string(&record.path).unwrap(), content);
    }
}

#[test]
#[cfg(unix)]
fn a_link_is_refused() {
    let record = TestRecord::new();
    let target = record.path.with_file_name("target");
    std::os::unix::fs::symlink(&target, &record.path).unwrap();

    assert!(RunRecorder::open(&record.path, RecorderSettings::default()).is_err());
    assert!(RecordReader::open(&record.path).is_err());
    assert!(!target.exists());
}

#[tokio::test]
async fn a_run_whose_future_is_dropped_leaves_a_readable_record() {
    let record = TestRecord::new();
    let recorder = record.recorder(RecorderSettings::default());
    let stuck = cogwork_flow::from_phases(
        |_: &mut u32| (),
        |()| async {
            cogwork_flow::note(|| "begun".to_owned());
            std::future::pending::<Result<(), std::io::Error>>().await
        },
        |_, _, ()| (),
    );
    let flow = Flow::from_node("stuck", stuck).unwrap();

    let mut number = 0;
    let mut run = flow.begin().with_events(&recorder);
    tokio::select! {
        biased;
        _ = run.finish(&mut number) => {}
        () = tokio::task::yield_now() => {}
    }
    drop(run);
    drop(recorder);

    assert_eq!(record.events().last().unwrap().name, "noted");
}

#[tokio::test]
async fn an_error_of_the_disk_does_not_fail_the_run() {
    let record = TestRecord::new();
    let full = std::path::Path::new("/dev/full");
    if !full.exists() {
        return;
    }
    // A device isn't a file, so it is refused before the run begins.
    assert!(RunRecorder::open(full, RecorderSettings::default()).is_err());

    let recorder = record.recorder(RecorderSettings::default());
    fs::remove_file(&record.path).unwrap();
    let flow = Flow::from_node("greet", from_fn(|_: &mut u32| ())).unwrap();
    let mut run = flow.begin().with_events(&recorder);
    run.finish(&mut 0).await.unwrap();
    recorder.flush().unwrap();
}
