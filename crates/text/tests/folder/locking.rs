use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use cogwork_text::files::{LockError, LockFile};

use super::Scratch;

#[test]
fn a_lock_has_one_holder() {
    let scratch = Scratch::new();
    let held = LockFile::lock_within(&scratch.folder, "it.lock", Duration::ZERO).unwrap();
    assert_eq!(scratch.text("it.lock"), format!("{}\n", std::process::id()));

    let error = LockFile::lock_within(&scratch.folder, "it.lock", Duration::ZERO).unwrap_err();
    assert!(matches!(error, LockError::InUse { holder: Some(id) } if id == std::process::id()));
    assert_eq!(error.to_string(), "in use in this process");

    drop(held);
    LockFile::lock_within(&scratch.folder, "it.lock", Duration::ZERO).unwrap();
    assert_eq!(scratch.names(), ["it.lock"], "it stays");
}

#[test]
fn a_lock_is_waited_for() {
    const THREADS: usize = 4;
    const TURNS: usize = 25;
    let scratch = Scratch::new();
    let is_held = AtomicBool::new(false);
    let taken = AtomicUsize::new(0);

    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..TURNS {
                    let patience = Duration::from_secs(60);
                    let lock = LockFile::lock_within(&scratch.folder, "it.lock", patience).unwrap();
                    assert!(!is_held.swap(true, Ordering::SeqCst));
                    taken.fetch_add(1, Ordering::SeqCst);
                    assert!(is_held.swap(false, Ordering::SeqCst));
                    drop(lock);
                }
            });
        }
    });

    assert_eq!(taken.into_inner(), THREADS * TURNS);
}

#[test]
fn a_file_with_other_contents_is_no_lock_file() {
    let scratch = Scratch::new();
    for text in ["my notes", "12\n34\n", "12345678901234567890", "\n", "-1"] {
        scratch.write("notes", text);
        let error = LockFile::lock_within(&scratch.folder, "notes", Duration::ZERO).unwrap_err();
        assert!(
            matches!(error, LockError::NotALockFile),
            "{text:?}: {error:?}"
        );
        assert_eq!(scratch.text("notes"), text);
    }

    for text in ["", "1", "4294967295\n"] {
        scratch.write("notes", text);
        LockFile::lock_within(&scratch.folder, "notes", Duration::ZERO).unwrap();
    }
}
