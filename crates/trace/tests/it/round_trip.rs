//! What was written is read back the same.

use cogwork_trace::{
    ForkedFrom, Header, MessageIds, RecordReader, RecordWriter, RecordedEvent, RecordedKind,
    RecordedReport,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(|number| json!(number)),
        any::<bool>().prop_map(|value| json!(value)),
        ".*".prop_map(|text| json!(text)),
        Just(Value::Null),
    ];

    leaf.prop_recursive(4, 30, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::btree_map(".*", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_kind() -> impl Strategy<Value = RecordedKind> {
    prop_oneof![
        Just(RecordedKind::RunStarted),
        Just(RecordedKind::StepEntered),
        Just(RecordedKind::Replayed),
        any_seconds().prop_map(|started| RecordedKind::Resumed { started }),
        (".*", any_seconds()).prop_map(|(phase, took)| RecordedKind::PhaseFinished { phase, took }),
        (any::<u32>(), any_seconds(), ".*").prop_map(|(attempts, delay, error)| {
            RecordedKind::Retrying {
                attempts,
                delay,
                error,
            }
        }),
        ".*".prop_map(|text| RecordedKind::Noted { text }),
        (".*", ".*").prop_map(|(action, to)| RecordedKind::Moved { action, to }),
        (".*", any::<u64>()).prop_map(|(action, steps)| RecordedKind::Ended { action, steps }),
        ".*".prop_map(|error| RecordedKind::Failed { error }),
        any::<u64>().prop_map(|count| RecordedKind::Lost { count }),
        any::<u64>().prop_map(|limit| RecordedKind::Full { limit }),
        (prop::option::of("[a-z]*"), any_json()).prop_map(|(source, report)| {
            RecordedKind::Reported(RecordedReport::Other { source, report })
        }),
        ("new_[a-z]*", any_json()).prop_map(|(name, value)| RecordedKind::Unknown {
            name,
            fields: [("value".to_owned(), value)].into_iter().collect(),
        }),
    ]
}

fn any_seconds() -> impl Strategy<Value = f64> {
    0.0..1e10_f64
}

proptest! {
    #[test]
    fn of_any_events(
        events in prop::collection::vec((prop::option::of(".*"), any_seconds(), any_kind()), 0..20)
    ) {
        let origin = ForkedFrom::new("run 3", 7).with_changes(["model"]);
        let header = Header::new("run 7", "greet", 1763875000.123).with_forked_from(origin);
        let mut writer = RecordWriter::new(Vec::new(), &header).unwrap();

        let events: Vec<_> = events
            .into_iter()
            .map(|(step, at, kind)| {
                let mut event = RecordedEvent::new(at, kind);
                event.step = step;
                event
            })
            .collect();
        for event in &events {
            writer.write(event).unwrap();
        }

        let record = writer.into_inner();
        let mut reader = RecordReader::new(record.as_slice()).unwrap();
        let read: Result<Vec<_>, _> = reader.by_ref().collect();

        prop_assert_eq!(reader.header(), &header);
        prop_assert_eq!(read.unwrap(), events);
        prop_assert_eq!(reader.torn(), None);
        prop_assert_eq!(reader.bytes(), record.len() as u64);
    }

    #[test]
    fn of_any_ids(ids in prop::collection::vec(0..30_u64, 0..60)) {
        let written: MessageIds = ids.iter().copied().collect();
        let json = serde_json::to_string(&written).unwrap();
        let read: MessageIds = serde_json::from_str(&json).unwrap();

        prop_assert_eq!(read.iter().collect::<Vec<_>>(), ids.clone());
        prop_assert_eq!(read.len(), ids.len() as u64);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(reader) = RecordReader::new(bytes.as_slice()) {
            let _ = reader.count();
        }

        let header = br#"{"cogwork_record":1,"run":"r","flow":"f","started":0.5}"#;
        let record = [&header[..], b"\n", &bytes].concat();
        let _ = RecordReader::new(record.as_slice()).unwrap().count();
    }
}

#[test]
fn long_ranges_are_counted_without_listing_them() {
    let ids: MessageIds = serde_json::from_str("[[0,18446744073709551615],3]").unwrap();
    assert_eq!(ids.len(), u64::MAX);
    assert_eq!(ids.max(), Some(u64::MAX));
    assert_eq!(ids.iter().take(2).collect::<Vec<_>>(), [0, 1]);
}
