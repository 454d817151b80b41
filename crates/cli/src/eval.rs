//! The command `eval`: compares ways to ask on the problems of a suite.

use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

use cogwork_eval::{Evaluation, Suite, Table};
use cogwork_flow::CancellationToken;
use cogwork_journal::Store;
use cogwork_text::files::Folder;
use cogwork_text::{Escaped, Name};
use cogwork_trace::Page;

use crate::arguments::Eval;
use crate::commands::{is_flow, loader};
use crate::output::{Ended, Exit, check_replaceable, read_text, replace_file, tell, write};
use crate::signals::cancelled_by_user;
use crate::trace::check_page;

/// The maximum size of a table to compare with, in bytes.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

pub(crate) async fn eval(arguments: &Eval) -> Ended {
    let loader = loader().with_process_environment();
    let suite = Suite::load(&arguments.suite, &loader).map_err(|error| {
        if is_flow(&arguments.suite) {
            let file = Escaped::new(arguments.suite.display());
            let problem = "this is a flow, not a suite; `cogwork run` runs it";
            tell(format_args!("{file}: {problem}"));
        } else {
            tell(error);
        }
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

    // What is true of a part may be false of the whole.
    let decides = arguments.pick.is_some() || arguments.require.is_some();
    if let Some(problem) = table.not_made()
        && (decides || arguments.baseline.is_some())
    {
        let undecided = "--pick, --require and --baseline need all of them";
        tell(format_args!("cogwork: {problem}; {undecided}"));
        return Err(Exit::RunFailed.into());
    }

    let picked = pick(arguments, &evaluation, &table)?;
    let compared = compare(arguments, earlier.as_ref(), &table);
    match picked && compared {
        true => Ok(()),
        false => Err(Exit::RunFailed.into()),
    }
}

/// Checks that the page and the flow of `--output` can be written, and that each flow works there.
fn check_places(arguments: &Eval, suite: &Suite) -> Ended {
    arguments.page.as_deref().map_or(Ok(()), check_page)?;
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

/// Returns whether an arm meets the conditions of `--pick`, if there are any.
fn pick(arguments: &Eval, evaluation: &Evaluation, table: &Table) -> Result<bool, String> {
    let Some(pick) = &arguments.pick else {
        return Ok(true);
    };
    let Some(chosen) = pick.choose(table) else {
        tell("cogwork: no arm meets the conditions of --pick");
        return Ok(false);
    };

    tell(format_args!("picked: {}", chosen.name));
    let mut arms = evaluation.suite().arms.iter();
    if let (Some(path), Some(arm)) = (&arguments.output, arms.find(|arm| arm.name == chosen.name)) {
        replace_file(path, arm.text.as_bytes())?;
    }
    Ok(true)
}

/// Returns whether no arm is worse than in an earlier table: whether the intervals still meet.
fn compare(arguments: &Eval, earlier: Option<&Table>, table: &Table) -> bool {
    let mut is_good = true;
    let require = arguments.require.as_ref();
    for arm in &table.arms {
        if require.is_some_and(|pick| !pick.allows(arm)) {
            let name = &arm.name;
            tell(format_args!(
                "cogwork: `{name}` doesn't meet the conditions of --require"
            ));
            is_good = false;
        }
    }

    let Some(earlier) = earlier else {
        return is_good;
    };
    // An arm that was renamed would otherwise never be worse.
    for gone in earlier
        .arms
        .iter()
        .filter(|arm| table.arm(&arm.name).is_none())
    {
        let name = Name(&gone.name);
        tell(format_args!(
            "cogwork: the arm `{name}` of --baseline isn't in the suite"
        ));
        is_good = false;
    }
    for arm in &table.arms {
        // An arm that is new or without runs has nothing to be compared with.
        let before = earlier.arm(&arm.name);
        let accuracies = before.and_then(|before| arm.accuracy.zip(before.accuracy));
        let intervals = before.and_then(|before| arm.interval.zip(before.interval));
        let (Some((now, then)), Some((interval, before))) = (accuracies, intervals) else {
            continue;
        };
        // With few problems, the accuracy differs by chance from run to run.
        if interval[1] < before[0] {
            let (now, then) = (now * 100.0, then * 100.0);
            tell(format_args!(
                "cogwork: `{}` has {now:.1} %, and had {then:.1} %",
                arm.name
            ));
            is_good = false;
        }
    }
    is_good
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
