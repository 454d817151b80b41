//! The command `eval`: compares ways to ask on the problems of a suite.

use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

use cogwork_eval::{ArmResult, Evaluation, Suite, Table};
use cogwork_flow::CancellationToken;
use cogwork_journal::Store;
use cogwork_text::files::Folder;
use cogwork_text::{Escaped, Name};
use cogwork_trace::Page;

use crate::arguments::Eval;
use crate::commands::loader;
use crate::output::{Ended, Exit, check_replaceable, read_text, replace_file, tell, write};
use crate::signals::cancelled_by_user;

/// The maximum size of a table to compare with, in bytes.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

pub(crate) async fn eval(arguments: &Eval) -> Ended {
    let loader = loader().with_process_environment();
    let suite = Suite::load(&arguments.suite, &loader).map_err(|error| {
        tell(error);
        Exit::Problems
    })?;

    // What is used after all calls are paid for.
    check_places(arguments, &suite)?;
    let earlier = arguments.baseline.as_deref().map(earlier).transpose()?;

    let token = CancellationToken::new();
    let store = Store::at(&arguments.journal())?;
    let mut evaluation = Evaluation::new(suite, store.clone()).with_cancellation(token.clone());
    if !arguments.quiet {
        let started = Instant::now();
        evaluation = evaluation.with_progress(move |done, runs| show(started, done, runs));
    }
    let table = cancelled_by_user(&token, evaluation.run()).await?;

    // Also what was interrupted has a table, of the runs so far.
    write_table(arguments, &table)?;
    write_pages(arguments, &store, &table).await?;
    if token.is_cancelled() {
        tell("cogwork: interrupted; start the command again to continue");
        return Err(Exit::Interrupted.into());
    }

    let problems = problems(arguments, earlier.as_ref(), &table);
    if problems.is_empty() {
        return write_choice(arguments, evaluation.suite(), &table);
    }
    for problem in problems {
        tell(format_args!("cogwork: {problem}"));
    }
    Err(Exit::RunFailed.into())
}

/// Checks that the page and the flow of `--output` can be written, and that each flow works there.
fn check_places(arguments: &Eval, suite: &Suite) -> Ended {
    if let Some(page) = &arguments.page {
        check_replaceable(page)?;
    }
    let Some(path) = &arguments.output else {
        return Ok(());
    };

    check_replaceable(path)?;
    let (folder, _) = Folder::of_file(path)?;
    let folder = folder.real_path()?;
    for arm in &suite.arms {
        if let Some(home) = arm.home.as_ref().filter(|home| **home != folder) {
            let (arm, home) = (Name(&arm.name), Escaped::new(home.display()));
            let problem = format!("the flow of `{arm}` names files that are found in {home} alone");
            return Err(format!("--output: {problem}; expected a file there").into());
        }
    }
    Ok(())
}

/// Shows how many runs have ended, and how long the others will take.
fn show(started: Instant, done: usize, runs: usize) {
    let is_last = done == runs;
    // A log needs few lines, a person wants to see that something happens.
    if !std::io::stderr().is_terminal() && !is_last && !done.is_multiple_of(100) {
        return;
    }

    let left = runs.saturating_sub(done) as f64 / done.max(1) as f64;
    let left = started.elapsed().mul_f64(left);
    // Whole seconds, since it is an estimate.
    let left = humantime::format_duration(Duration::from_secs(left.as_secs()));
    tell(format_args!("{done} of {runs} runs, {left} left"));
}

/// Writes the page of the table and those of its runs, if they are wanted.
async fn write_pages(arguments: &Eval, store: &Store, table: &Table) -> Ended {
    let Some(path) = &arguments.page else {
        return Ok(());
    };

    let pages = path.with_extension("").display().to_string() + "-runs";
    let name = Path::new(&pages).file_name();
    let name = name.map(|name| name.to_string_lossy());
    let html = table.page(name.as_deref().filter(|_| arguments.run_pages));
    replace_file(path, html.as_bytes())?;
    if !arguments.run_pages {
        return Ok(());
    }

    let folder = Folder::create(&pages).map_err(|error| format!("{pages}: {error}"))?;
    for run in table.arms.iter().flat_map(|arm| &arm.runs) {
        let mut html = Vec::new();
        Page::of_run(store, &run.run).await?.write(&mut html)?;
        let replaced = folder.replace(&run.page, &html);
        replaced.map_err(|error| format!("{pages}: {error}"))?;
    }
    Ok(())
}

fn write_table(arguments: &Eval, table: &Table) -> Ended {
    match arguments {
        Eval { json: true, .. } => write(serde_json::to_string_pretty(table)?),
        Eval { csv: true, .. } => write(table.csv()),
        _ => write(table),
    }
}

/// Says which arm is picked, and writes its flow, if they are wanted.
fn write_choice(arguments: &Eval, suite: &Suite, table: &Table) -> Ended {
    let pick = arguments.pick.as_ref();
    let Some(chosen) = pick.and_then(|pick| pick.choose(table)) else {
        return Ok(());
    };

    tell(format_args!("picked: {}", chosen.name));
    let arm = suite.arms.iter().find(|arm| arm.name == chosen.name);
    if let (Some(path), Some(arm)) = (&arguments.output, arm) {
        replace_file(path, arm.text.as_bytes())?;
    }
    Ok(())
}

/// Returns what isn't as `--pick`, `--require` and `--baseline` want it.
fn problems(arguments: &Eval, earlier: Option<&Table>, table: &Table) -> Vec<String> {
    let (pick, require) = (arguments.pick.as_ref(), arguments.require.as_ref());
    let is_wanted = pick.is_some() || require.is_some() || earlier.is_some();
    // What is true of a part may be false of the whole.
    if let Some(problem) = table.not_made.as_ref().filter(|_| is_wanted) {
        let undecided = "--pick, --require and --baseline need all of them";
        return vec![format!("{problem}; {undecided}")];
    }

    let mut problems = Vec::new();
    if pick.is_some_and(|pick| pick.choose(table).is_none()) {
        problems.push("no arm meets the conditions of --pick".to_owned());
    }
    for arm in &table.arms {
        if require.is_some_and(|require| !require.allows(arm)) {
            let name = Name(&arm.name);
            problems.push(format!("`{name}` doesn't meet the conditions of --require"));
        }
    }
    for before in earlier.into_iter().flat_map(|earlier| &earlier.arms) {
        let name = Name(&before.name);
        match table.arm(&before.name) {
            Some(arm) => problems.extend(worse(arm, before)),
            // An arm that was renamed would otherwise never be worse.
            None => problems.push(format!("the arm `{name}` of --baseline isn't in the suite")),
        }
    }
    problems
}

/// Says that an arm is worse than before, if the intervals don't meet.
fn worse(arm: &ArmResult, before: &ArmResult) -> Option<String> {
    let (now, then) = (arm.accuracy? * 100.0, before.accuracy? * 100.0);
    // With few problems, the accuracy differs by chance from run to run.
    let is_worse = arm.interval?[1] < before.interval?[0];
    is_worse.then(|| format!("`{}` has {now:.1} %, and had {then:.1} %", Name(&arm.name)))
}

fn earlier(path: &Path) -> Result<Table, String> {
    let text = read_text(path, MOST_BYTES)?;
    let table = serde_json::from_str(&text);
    table.map_err(|error| {
        format!(
            "{}: this is not a table of --json: {error}",
            Escaped::new(path.display())
        )
    })
}
