//! How long large pages take to open, and how smoothly they scroll.

use std::fs;

use cogwork_browser::{Browser, Result, runs};

use crate::support::{PHONE, assert_quiet, desktop, number, text};

/// A generous bound in milliseconds, for a machine that does other things at the same time. The
/// measured time is printed.
const LONGEST: f64 = 10_000.0;

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn of_ten_thousand_steps() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let page = runs::long(folder.path(), 10_000).await?;
    let browser = desktop().await?;

    let mut times = Vec::new();
    for _ in 0..3 {
        times.push(browser.open(&page).await?.round());
    }
    let bytes = fs::metadata(&page)?.len();
    println!("10,000 steps: {bytes} bytes, opened after {times:?} ms");
    assert!(times.iter().all(|time| *time < LONGEST), "{times:?}");
    assert_eq!(text(&browser, ".player-where").await?, "10,000 / 10,000");

    // However far it is scrolled, only the rows in view are elements.
    let script =
        "const list = document.querySelector('.browser [role=tabpanel]:not([hidden]) .list');
         let most = 0;
         for (let at = 0; at < list.scrollHeight; at += 5000) {
           list.scrollTop = at;
           list.dispatchEvent(new Event('scroll'));
           most = Math.max(most, list.querySelectorAll('.list-row').length);
         }
         return most;";
    let most = number(&browser, script).await?;
    assert!(most > 5.0 && most < 100.0, "{most} rows");

    let script =
        "const list = document.querySelector('.browser [role=tabpanel]:not([hidden]) .list');
         const start = performance.now();
         for (let frame = 0; frame < 200; frame += 1) {
           list.scrollTop = frame * 137;
           list.dispatchEvent(new Event('scroll'));
           list.getBoundingClientRect();
         }
         return (performance.now() - start) / 200;";
    println!(
        "scrolling: {:.2} ms of script a frame",
        number(&browser, script).await?
    );

    browser.screenshot("long").await?;
    assert_quiet(&browser).await?;
    browser.close().await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn on_a_phone_fits_its_width() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let browser = Browser::start(PHONE.0, PHONE.1).await?;
    let pages = [
        ("quickstart", runs::quickstart(folder.path()).await?),
        ("tree", runs::tree_of_thoughts(folder.path()).await?),
        ("hostile", runs::hostile(folder.path())?),
    ];

    for (name, page) in pages {
        browser.open(&page).await?;
        browser.screenshot(&format!("{name}-phone")).await?;
        let width = number(&browser, "return document.documentElement.scrollWidth").await?;
        assert!(width <= f64::from(PHONE.0), "{name} is {width} pixels wide");

        browser.prefer("dark").await?;
        browser
            .run("document.querySelector('.detail').scrollIntoView()")
            .await?;
        browser.screenshot(&format!("{name}-phone-dark")).await?;
        browser.prefer("light").await?;
        assert_quiet(&browser).await?;
    }

    browser.close().await
}

#[tokio::test]
#[ignore = "needs scripts/check-browser"]
async fn of_five_thousand_branches_and_a_deep_plan() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let page = runs::wide(folder.path(), 5_000, 32)?;
    let browser = desktop().await?;
    let time = browser.open(&page).await?.round();
    println!("5,000 branches: opened after {time} ms");
    assert!(time < LONGEST, "{time} ms");

    let rows = number(
        &browser,
        "return document.querySelectorAll('.plan-row').length",
    )
    .await?;
    assert_eq!(rows, 32.0);
    let script =
        "const row = [...document.querySelectorAll('.plan-text')].at(-1).getBoundingClientRect();
         return row.width;";
    assert!(number(&browser, script).await? > 100.0);

    browser
        .run("document.getElementById('tab-branch').click()")
        .await?;
    assert_eq!(text(&browser, "#tab-branch .count").await?, "5,000");
    browser.screenshot("wide").await?;
    assert_quiet(&browser).await?;
    browser.close().await
}
