//! How a call is measured: many callers, rounds in turns, and ratios of one run.

use std::{
    fmt,
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

/// What one round of calls took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    /// Calls in a second, of all callers.
    pub(crate) rate: f64,
}

/// How much is asked in a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) callers: usize,
    /// By each caller.
    pub(crate) calls: usize,
}

/// Makes `calls` calls from each of `callers` tasks at once.
///
/// # Panics
///
/// If a call fails: what fails fast would look quick.
pub(crate) async fn sample<F, Fut>(load: Load, call: F) -> Sample
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send,
{
    let call = Arc::new(call);
    let began = Instant::now();
    let mut callers = JoinSet::new();
    for _ in 0..load.callers {
        let call = Arc::clone(&call);
        callers.spawn(async move {
            let mut times = Vec::with_capacity(load.calls);
            for _ in 0..load.calls {
                let began = Instant::now();
                call().await;
                times.push(began.elapsed());
            }
            times
        });
    }
    let mut times = Vec::with_capacity(load.callers * load.calls);
    while let Some(of_one) = callers.join_next().await {
        times.extend(of_one.expect("a caller that panics measures nothing"));
    }
    let took = began.elapsed();
    times.sort_unstable();
    Sample {
        p50: at(&times, 50),
        p99: at(&times, 99),
        #[expect(clippy::cast_precision_loss, reason = "far fewer calls than 2^52")]
        rate: times.len() as f64 / took.as_secs_f64(),
    }
}

fn at(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() - 1) * percent / 100]
}

/// Which of two figures is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Figure {
    /// The median time of a call.
    P50,
    /// Calls in a second.
    Rate,
}

/// What is aimed at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aim {
    AtMost(f64),
    AtLeast(f64),
    /// Shown for whoever chooses a store.
    Nothing,
}

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Line {
    what: String,
    floor: String,
    ratios: Vec<f64>,
    aim: Aim,
    last: (Sample, Sample),
    figure: Figure,
}

impl Line {
    pub(crate) fn of(
        what: &str,
        floor: &str,
        figure: Figure,
        aim: Aim,
        rounds: &[(Sample, Sample)],
    ) -> Self {
        let ratio = |(floor, subject): &(Sample, Sample)| match figure {
            Figure::P50 => subject.p50.as_secs_f64() / floor.p50.as_secs_f64(),
            Figure::Rate => subject.rate / floor.rate,
        };
        let mut ratios: Vec<f64> = rounds.iter().map(ratio).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        Self {
            what: what.to_owned(),
            floor: floor.to_owned(),
            ratios,
            aim,
            last: *rounds.last().expect("at least one round"),
            figure,
        }
    }

    fn median(&self) -> f64 {
        self.ratios[self.ratios.len() / 2]
    }

    fn is_met(&self) -> Option<bool> {
        match self.aim {
            Aim::AtMost(most) => Some(self.median() <= most),
            Aim::AtLeast(least) => Some(self.median() >= least),
            Aim::Nothing => None,
        }
    }
}

/// A row of a Markdown table: the ratio's median and range, what was aimed at, and the last round's absolute figures,
/// which are this machine's alone.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let aim = match self.aim {
            Aim::AtMost(most) => format!("≤ {most}"),
            Aim::AtLeast(least) => format!("≥ {least}"),
            Aim::Nothing => String::new(),
        };
        let (floor, subject) = self.last;
        let figures = match self.figure {
            Figure::P50 => format!(
                "p50 {:?} / {:?}, p99 {:?} / {:?}",
                round(subject.p50),
                round(floor.p50),
                round(subject.p99),
                round(floor.p99)
            ),
            Figure::Rate => format!("{:.0} / {:.0} per s", subject.rate, floor.rate),
        };
        write!(
            f,
            "| {} | {} | {:.2} ({:.2}–{:.2}) | {aim} | {} | {figures} |",
            self.what,
            self.floor,
            self.median(),
            self.ratios.first().copied().unwrap_or_default(),
            self.ratios.last().copied().unwrap_or_default(),
            match self.is_met() {
                Some(true) => "yes",
                Some(false) => "no",
                None => "",
            },
        )
    }
}

fn round(time: Duration) -> Duration {
    Duration::from_micros(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}

/// Measures floor and subject in turns, so that a noisy moment hits both.
pub(crate) async fn in_turns<A, FutA, B, FutB>(
    rounds: usize,
    load: Load,
    floor: A,
    subject: B,
) -> Vec<(Sample, Sample)>
where
    A: Fn() -> FutA + Send + Sync + 'static,
    FutA: Future<Output = ()> + Send,
    B: Fn() -> FutB + Send + Sync + 'static,
    FutB: Future<Output = ()> + Send,
{
    let (floor, subject) = (Arc::new(floor), Arc::new(subject));
    let mut samples = Vec::with_capacity(rounds);
    // The first round warms connections and caches, and does not count.
    for round in 0..=rounds {
        let call = Arc::clone(&floor);
        let below = sample(load, move || call()).await;
        let call = Arc::clone(&subject);
        let above = sample(load, move || call()).await;
        if round > 0 {
            samples.push((below, above));
        }
    }
    samples
}
