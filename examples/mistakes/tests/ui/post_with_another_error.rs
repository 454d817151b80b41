//! The last closure fails with another error than the work. With `BoxError` for the work, `?` converts every error.

use cogwork_flow::from_phases;

fn main() {
    let _ = from_phases(
        |text: &mut String| text.clone(),
        async |text| Ok::<_, std::fmt::Error>(text),
        |text, _, number| {
            *text = number.parse::<u32>()?.to_string();
            Ok(())
        },
    );
}
