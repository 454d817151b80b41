//! An action whose label is only known at run time. `Action::new(label)` takes it.

use cogwork_flow::from_fn;

fn main() {
    let _ = from_fn(|label: &mut String| label.clone());
}
