//! How each step ended and how long it took.

use std::fmt::Write as _;
use std::time::Duration;

use super::step::Step;

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Passed,
    Failed,
    LeftOut,
}

/// The steps that came to an end, in order.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rows: Vec<(&'static str, Duration, Ending)>,
}

impl Report {
    pub(crate) fn add(&mut self, step: &'static str, took: Duration, ending: Ending) {
        self.rows.push((step, took, ending));
    }

    /// The table and the line of counts. Chosen steps that have no row were not run.
    pub(crate) fn text(&self, chosen: &[&Step]) -> String {
        let mut text = format!("\n{:<10} {:>8}  ended\n", "step", "seconds");
        for step in chosen {
            let row = self.rows.iter().find(|(name, ..)| *name == step.name);
            let (seconds, ending) = match row {
                None => (String::new(), "not run"),
                Some((_, took, ending)) => (format!("{:.1}", took.as_secs_f64()), ending.word()),
            };
            let _ = writeln!(text, "{:<10} {seconds:>8}  {ending}", step.name);
        }
        let whole: Duration = self.rows.iter().map(|(_, took, _)| *took).sum();
        let _ = writeln!(text, "{:<10} {:>8.1}\n", "all", whole.as_secs_f64());
        let _ = writeln!(text, "{}", self.counts(chosen.len()));
        text
    }

    fn counts(&self, chosen: usize) -> String {
        let mut line = format!(
            "steps: {} passed, {} failed",
            self.count(Ending::Passed),
            self.count(Ending::Failed)
        );
        let left_out = self.count(Ending::LeftOut);
        if left_out > 0 {
            let _ = write!(line, ", {left_out} left out");
        }
        let not_run = chosen - self.rows.len();
        if not_run > 0 {
            let _ = write!(line, ", {not_run} not run");
        }
        line
    }

    fn count(&self, ending: Ending) -> usize {
        self.rows.iter().filter(|(.., row)| *row == ending).count()
    }
}

impl Ending {
    fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::LeftOut => "left out",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::steps::STEPS;
    use super::*;

    fn report(endings: &[Ending]) -> (Report, Vec<&'static Step>) {
        let mut report = Report::default();
        for (step, ending) in STEPS.iter().zip(endings) {
            report.add(step.name, Duration::from_millis(1250), *ending);
        }
        (report, STEPS.iter().take(3).collect())
    }

    fn last_line(text: &str) -> &str {
        text.lines().last().unwrap_or_default()
    }

    #[test]
    fn when_all_pass_the_last_line_says_only_that() {
        let (report, chosen) = report(&[Ending::Passed; 3]);
        let text = report.text(&chosen);
        assert_eq!(last_line(&text), "steps: 3 passed, 0 failed");
        assert!(text.contains("format          1.2  passed\n"), "{text}");
    }

    #[test]
    fn what_did_not_run_is_not_counted_as_passed() {
        let (report, chosen) = report(&[Ending::Passed, Ending::Failed]);
        let text = report.text(&chosen);
        assert_eq!(last_line(&text), "steps: 1 passed, 1 failed, 1 not run");
        assert!(text.contains("  not run\n"), "{text}");
    }

    #[test]
    fn what_was_left_out_is_not_counted_as_passed() {
        let (report, chosen) = report(&[Ending::Passed, Ending::LeftOut, Ending::Passed]);
        let text = report.text(&chosen);
        assert_eq!(last_line(&text), "steps: 2 passed, 0 failed, 1 left out");
        assert!(text.contains("  left out\n"), "{text}");
    }
}
