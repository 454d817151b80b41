use std::path::Path;

use cogwork_flow::Flow;
use cogwork_journal::{StoreError, StoreErrorKind};
use tokio::runtime::Runtime;

use crate::each::FileStore;
use crate::work::{Calls, Work, counted, flow, is_long, sealed, told, undisturbed};

/// A run that ended, the bytes of its file, and what it came to.
struct Whole {
    runtime: Runtime,
    folder: tempfile::TempDir,
    store: FileStore,
    flow: Flow<Work>,
    bytes: Vec<u8>,
    end: Work,
}

impl Whole {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::new(folder.path());
        let flow = flow(&counted(&Calls::default()));
        let end = runtime.block_on(async {
            let journal = store.start("a", &flow, &Work::of(2)).await.unwrap();
            let mut work: Work = journal.state().unwrap();
            flow.begin()
                .with_journal(journal)
                .finish(&mut work)
                .await
                .unwrap();

            assert_eq!(work, undisturbed(2).await);
            work
        });

        let bytes = std::fs::read(store.path("a")).unwrap();
        Self {
            runtime,
            folder,
            store,
            flow,
            bytes,
            end,
        }
    }

    fn lines(&self) -> Vec<&[u8]> {
        self.bytes.split_inclusive(|byte| *byte == b'\n').collect()
    }

    /// The file with these bytes is refused and left as it is, or is a beginning of the whole one
    /// and the run goes on to the same end.
    fn is_refused_or_goes_on(&self, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.store.path("a");
        std::fs::write(&path, bytes).unwrap();
        let journal = match self.runtime.block_on(self.store.resume("a", &self.flow)) {
            Ok(journal) => journal,
            Err(error) => {
                assert_eq!(std::fs::read(&path).unwrap(), bytes, "it is left as it is");
                assert_eq!(error.kind(), StoreErrorKind::Damaged, "{error}");
                assert!(
                    error
                        .to_string()
                        .starts_with(&format!("{}, line ", path.display())),
                    "{error}"
                );

                assert_eq!(error.to_string().lines().count(), 1);
                return Err(error);
            }
        };

        let mut work: Work = journal.state().unwrap();
        self.runtime
            .block_on(self.flow.begin().with_journal(journal).finish(&mut work))
            .unwrap();
        assert_eq!(work, self.end);

        // What an incomplete line was followed by can be read again.
        let again = self.runtime.block_on(self.store.resume("a", &self.flow));
        again.map(drop)
    }

    fn refused(&self, bytes: &[u8]) -> String {
        told(
            self.is_refused_or_goes_on(bytes).unwrap_err(),
            self.folder.path(),
        )
    }
}

#[test]
fn a_file_cut_off_anywhere_goes_on_from_its_last_whole_line() {
    let whole = Whole::new();
    let header = whole.lines()[0].len();
    for length in 0..=whole.bytes.len() {
        let went_on = whole.is_refused_or_goes_on(&whole.bytes[..length]).is_ok();
        assert_eq!(went_on, length >= header, "the first {length} bytes");
    }
}

#[test]
fn every_changed_byte_is_found() {
    let whole = Whole::new();
    let last = whole.bytes.len() - 1;
    // A blank may become a zero, as in what a power cut leaves.
    let is_tried = |place: &usize| {
        is_long() || place.is_multiple_of(10) || whole.bytes[*place] == b' ' || *place == last
    };
    for place in (0..=last).filter(is_tried) {
        for change in [0x01, 0x20, 0x80] {
            let mut bytes = whole.bytes.clone();
            bytes[place] ^= change;
            let went_on = whole.is_refused_or_goes_on(&bytes).is_ok();

            // Without its newline the last line is one that was cut short.
            assert_eq!(went_on, place == last, "byte {place} of {last}");
        }
    }
}

#[test]
fn what_is_wrong_is_said_with_file_and_line() {
    let whole = Whole::new();
    let text = String::from_utf8(whole.bytes.clone()).unwrap();
    let lines = whole.lines();

    insta::assert_snapshot!(mask(&whole.refused(text.replacen("\"outcome\":1}", "\"outcome\":9}", 1).as_bytes())), @"runs/a.jsonl, line 3: the line was changed: expected the checksum `…`, not `…`");
    insta::assert_snapshot!(whole.refused(b"00000000 {\"name\":\"\x1b[31mx\"}\nother\n"), @r#"runs/a.jsonl, line 1: this isn't the journal of a run; expected a line such as `0a1b2c3d {"cogwork_journal":1,`"#);
    insta::assert_snapshot!(whole.refused(b""), @"runs/a.jsonl, line 1: the first line is incomplete; no run is recorded here");
    insta::assert_snapshot!(whole.refused(b"00000000 {\"cogwork_journal\":2,\"new\":true}\n"), @"runs/a.jsonl, line 1: this is a journal of format 2; expected format 1");
    insta::assert_snapshot!(whole.refused(&[lines[0], b"\n"].concat()), @"runs/a.jsonl, line 2: the line does not begin with a checksum, as in `0a1b2c3d […]`");

    let twice = [lines[0], lines[1], lines[2], lines[2]].concat();
    insta::assert_snapshot!(whole.refused(&twice), @"runs/a.jsonl, line 4: the step `work/gather#1` is already recorded");
    let unknown = [lines[0], &sealed(r#"[1,{"dance":{"step":"x"}}]"#)].concat();
    insta::assert_snapshot!(mask(&whole.refused(&unknown)), @"runs/a.jsonl, line 2: the line isn't one of a journal: unknown variant `dance`, expected one of `began`, `outcome`, `sleep`, `waiting`, `answer`, `taken`, `refused`, `timed_out`, `paused`, `snapshot`, `failed`, `resumed`, `ended` at line 1 column 8");

    let header = sealed(r#"{"cogwork_journal":1,"run_id":"a"}"#);
    insta::assert_snapshot!(mask(&whole.refused(&header)), @"runs/a.jsonl, line 1: the line isn't one of a journal: missing field `flow` at line 1 column 34");
}

#[test]
fn a_journal_that_is_refused_to_a_run_is_left_as_it_is_also_by_a_change_and_an_answer() {
    let whole = Whole::new();
    let path = whole.store.path("a");
    let lines = whole.lines();

    // A torn end after a line that can't be at this place: nothing is repaired.
    let bytes = [lines[0], lines[2], lines[2], b"0a1b2c3d"].concat();

    std::fs::write(&path, &bytes).unwrap();
    let other = crate::work::changed(&counted(&Calls::default()), "twice");
    let refused = [
        whole
            .runtime
            .block_on(whole.store.resume_changed("a", &other))
            .map(drop),
        whole
            .runtime
            .block_on(whole.store.resume("a", &whole.flow))
            .map(drop),
        whole.runtime.block_on(whole.store.deliver("a", "name", &1)),
    ];

    for refused in refused {
        assert_eq!(refused.unwrap_err().kind(), StoreErrorKind::Damaged);
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
}

/// Checksums differ from run to run, as the time of the start does.
fn mask(text: &str) -> String {
    let mut masked = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_hexdigit()) {
        let (before, from) = rest.split_at(start);
        let length = from
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(from.len());
        let (word, after) = from.split_at(length);
        masked.push_str(before);
        // A checksum, or a time in milliseconds.
        let is_masked = length == 8 && after.starts_with(['`', ' ', '+']) || length == 13;
        masked.push_str(if is_masked { "…" } else { word });

        rest = after;
    }

    masked + rest
}

#[test]
fn a_folder_where_the_file_should_be_is_an_error() {
    let whole = Whole::new();
    let path: &Path = &whole.store.path("b");
    std::fs::create_dir(path).unwrap();
    let error = whole
        .runtime
        .block_on(whole.store.resume("b", &whole.flow))
        .unwrap_err();

    insta::assert_snapshot!(told(error, whole.folder.path()), @"runs/b.jsonl: cannot be opened: this is a folder; expected a regular file");
    let error = whole
        .runtime
        .block_on(whole.store.start("b", &whole.flow, &1))
        .unwrap_err();
    insta::assert_snapshot!(told(error, whole.folder.path()), @"runs/b.jsonl: cannot be opened: this is a folder; expected a regular file");
}
