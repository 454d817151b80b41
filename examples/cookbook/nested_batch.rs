//! A nested batch: for each class of a school, the average of each student, then that of the class and of the school. A
//! class is a flow of its own, which runs once for each class.
//!
//! ```text
//! 5a: [8.17, 8.33], average 8.25
//! 5b: [7.33, 8.83, 7.00], average 7.72
//! school: average 7.99
//! flow `school/classes[2]`, node `students`, item 1: exec failed: no grades
//! ```
//!
//! To ask a model about each student, change the closure of `from_exec`.

use std::error::Error;

use cogwork::flow::{Batch, BoxError, BuildError, Each, Flow, from_exec};

// --- core ---

#[derive(Default)]
struct School {
    classes: Vec<Class>,
    average: f64,
}

#[derive(Clone, Default)]
struct Class {
    name: String,
    grades: Vec<Vec<f64>>,
    averages: Vec<f64>,
    average: f64,
}

fn average(numbers: &[f64]) -> Result<f64, BoxError> {
    if numbers.is_empty() {
        return Err("no grades".into());
    }
    Ok(numbers.iter().sum::<f64>() / numbers.len() as f64)
}

fn class() -> Result<Flow<Class>, BuildError> {
    let students = Batch::at_most(
        1,
        from_exec(async |grades: Vec<f64>| average(&grades)),
        |class: &Class| class.grades.clone(),
        |class, averages| {
            class.average = average(&averages)?;
            class.averages = averages;
            Ok(())
        },
    );
    Flow::builder("class")
        .batch("students", students)
        .chain(["students"])
        .build()
}

fn school() -> Result<Flow<School>, BuildError> {
    let classes = Each::at_most(
        2,
        class()?,
        |school: &School| school.classes.clone(),
        |school, classes| {
            let averages: Vec<_> = classes.iter().map(|class| class.average).collect();
            school.average = average(&averages)?;
            school.classes = classes;
            Ok(())
        },
    );
    Flow::builder("school")
        .each("classes", classes)
        .chain(["classes"])
        .build()
}

// --- end of the core ---

fn of(name: &str, grades: &[&[f64]]) -> Class {
    Class {
        name: name.to_owned(),
        grades: grades.iter().map(|grades| grades.to_vec()).collect(),
        ..Class::default()
    }
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let mut state = School {
        classes: vec![
            of("5a", &[&[7.5, 8.0, 9.0], &[8.5, 7.0, 9.5]]),
            of("5b", &[&[6.0, 8.5, 7.5], &[9.0, 9.5, 8.0], &[7.0, 7.0]]),
        ],
        ..School::default()
    };
    let flow = school()?;
    flow.run(&mut state).await?;

    for class in &state.classes {
        println!(
            "{}: {:.2?}, average {:.2}",
            class.name, class.averages, class.average
        );
    }
    println!("school: average {:.2}", state.average);

    state.classes.push(of("5c", &[&[8.0], &[]]));
    if let Err(error) = flow.run(&mut state).await {
        println!("{error}");
    }
    Ok(())
}
