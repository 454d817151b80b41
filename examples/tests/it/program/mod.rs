//! The examples as programs.

#![expect(
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

#[path = "../../../../crates/text/tests/support/fresh.rs"]
mod fresh;

use std::env;
use std::path::PathBuf;
use std::process::Command;

use fresh::is_fresh;

/// Returns a command that runs an example offline, whatever model the environment names.
///
/// `cargo test` has built it. Cargo is only asked to build it where nothing but single tests are built: with the
/// features of this package alone, it would build most of the workspace once more.
pub(crate) fn example(name: &str) -> Command {
    let program = path(name);
    if !is_fresh(&program) {
        build(name);
    }

    let mut command = Command::new(program);
    for variable in ["OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY"] {
        command.env_remove(variable);
    }
    command
}

fn path(name: &str) -> PathBuf {
    let test = env::current_exe().expect("a test knows its program");
    let folder = test.ancestors().nth(2).expect("a test is in `deps`");

    folder
        .join("examples")
        .join(name)
        .with_extension(env::consts::EXE_EXTENSION)
}

fn build(name: &str) {
    let mut cargo = Command::new(env::var_os("CARGO").expect("cargo runs the tests"));
    cargo
        .current_dir("..")
        .args(["build", "--quiet", "--example", name]);

    if cfg!(feature = "mcp") {
        cargo.args(["--features", "cogwork-examples/mcp"]);
    }
    if cfg!(feature = "studio") {
        cargo.args(["--features", "cogwork-examples/studio"]);
    }
    if cfg!(feature = "traces") {
        cargo.args(["--features", "cogwork-examples/traces"]);
    }

    // What describes the package under test. The build script of ring runs again when it is set, or not set any more.
    for variable in env::vars().map(|(variable, _)| variable) {
        if variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(variable);
        }
    }

    let built = cargo.status().expect("cargo can be started");
    assert!(built.success(), "the example `{name}` cannot be built");
}
