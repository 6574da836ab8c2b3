//! Reads the header `X-Chaos`.

use std::{str::FromStr, time::Duration};

use http::{HeaderMap, StatusCode};

use super::{Chaos, Crash, HEADER, Says, Shape};

/// The longest wait that a call may ask for: an hour, in milliseconds.
const MAX_DELAY_MS: u64 = 3_600_000;
/// The largest body: 256 MiB.
const MAX_BIG: usize = 1 << 28;
/// The most chunks: 256 MiB of them.
const MAX_CHUNKS: usize = 1 << 16;

impl Chaos {
    /// What the headers ask for; nothing without one.
    ///
    /// # Errors
    ///
    /// A sentence that names the value.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, String> {
        let mut chaos = Self::default();
        for line in headers.get_all(HEADER) {
            let line = line
                .to_str()
                .map_err(|_| "X-Chaos is not printable ASCII".to_owned())?;
            for value in line.split(';').map(str::trim) {
                chaos.add(value)?;
            }
        }
        Ok(chaos)
    }

    fn add(&mut self, value: &str) -> Result<(), String> {
        let (name, number) = match value.split_once('=') {
            Some((name, number)) => (name, Some(number)),
            None => (value, None),
        };
        match (name, number) {
            ("delay", Some(ms)) => once(&mut self.delay, millis(value, ms)?, value),
            ("delay-after", Some(ms)) => once(&mut self.delay_after, millis(value, ms)?, value),
            ("status", Some(code)) => {
                set(&mut self.says, Says::Status(code_of(value, code)?), value)
            }
            ("refuse", Some(code)) => {
                set(&mut self.says, Says::Refuse(code_of(value, code)?), value)
            }
            ("fail", Some(code)) => set(&mut self.says, Says::Fail(code_of(value, code)?), value),
            ("accept", None) => set(&mut self.says, Says::Accept, value),
            ("big", Some(n)) => set(&mut self.body, Shape::Big(up_to(value, n, MAX_BIG)?), value),
            ("stream", Some(n)) => set(
                &mut self.body,
                Shape::Stream(up_to(value, n, MAX_CHUNKS)?),
                value,
            ),
            ("break", Some(n)) => set(
                &mut self.body,
                Shape::Break(up_to(value, n, MAX_CHUNKS)?),
                value,
            ),
            ("drop-response", None) => once(&mut self.drop_response, true, value),
            (name, None) => match crash(name) {
                Some(crash) => set(&mut self.crash, crash, value),
                None => Err(unknown(value)),
            },
            _ => Err(unknown(value)),
        }
    }
}

fn crash(name: &str) -> Option<Crash> {
    Some(match name {
        "panic-before" => Crash::PanicBefore,
        "panic-after" => Crash::PanicAfter,
        "exit-before-claim" => Crash::ExitBeforeClaim,
        "exit-after-claim" => Crash::ExitAfterClaim,
        "exit-after-effect" => Crash::ExitAfterEffect,
        "exit-after-complete" => Crash::ExitAfterComplete,
        _ => return None,
    })
}

fn set<T>(slot: &mut Option<T>, new: T, value: &str) -> Result<(), String> {
    match slot.replace(new) {
        None => Ok(()),
        Some(_) => Err(contradicts(value)),
    }
}

/// For slots whose default is "not asked for".
fn once<T: Default + PartialEq>(slot: &mut T, new: T, value: &str) -> Result<(), String> {
    if *slot != T::default() {
        return Err(contradicts(value));
    }
    *slot = new;
    Ok(())
}

fn millis(value: &str, ms: &str) -> Result<Duration, String> {
    number(ms)
        .filter(|ms| *ms <= MAX_DELAY_MS)
        .map(Duration::from_millis)
        .ok_or_else(|| format!("X-Chaos {value:?} needs milliseconds, at most {MAX_DELAY_MS}"))
}

fn code_of(value: &str, code: &str) -> Result<StatusCode, String> {
    number(code)
        .filter(|code| (200..600).contains(code))
        .and_then(|code| StatusCode::from_u16(code).ok())
        .ok_or_else(|| format!("X-Chaos {value:?} needs an HTTP status from 200 to 599"))
}

fn up_to(value: &str, n: &str, most: usize) -> Result<usize, String> {
    number(n)
        .filter(|n| *n <= most)
        .ok_or_else(|| format!("X-Chaos {value:?} needs a number up to {most}"))
}

/// Digits alone; `parse` would take a sign too.
fn number<T: FromStr>(text: &str) -> Option<T> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

fn unknown(value: &str) -> String {
    format!(
        "X-Chaos {value:?} is none of the known faults: delay=MS, delay-after=MS, status=CODE, refuse=CODE, fail=CODE, \
         accept, panic-before, panic-after, exit-before-claim, exit-after-claim, exit-after-effect, \
         exit-after-complete, drop-response, big=BYTES, stream=N, break=N"
    )
}

fn contradicts(value: &str) -> String {
    format!("X-Chaos {value:?} contradicts another value of the same header")
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn parsed(line: &'static str) -> Result<Chaos, String> {
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, HeaderValue::from_static(line));
        Chaos::of(&headers)
    }

    #[test]
    fn every_value_is_read() {
        let code = |code| StatusCode::from_u16(code).expect("a status");
        let says = |says| Chaos {
            says: Some(says),
            ..Chaos::default()
        };
        let body = |body| Chaos {
            body: Some(body),
            ..Chaos::default()
        };
        let crash = |crash| Chaos {
            crash: Some(crash),
            ..Chaos::default()
        };
        for (line, expected) in [
            ("status=503", says(Says::Status(code(503)))),
            ("refuse=429", says(Says::Refuse(code(429)))),
            ("fail=409", says(Says::Fail(code(409)))),
            ("accept", says(Says::Accept)),
            ("big=7", body(Shape::Big(7))),
            ("stream=3", body(Shape::Stream(3))),
            ("break=0", body(Shape::Break(0))),
            ("panic-before", crash(Crash::PanicBefore)),
            ("panic-after", crash(Crash::PanicAfter)),
            ("exit-before-claim", crash(Crash::ExitBeforeClaim)),
            ("exit-after-claim", crash(Crash::ExitAfterClaim)),
            ("exit-after-effect", crash(Crash::ExitAfterEffect)),
            ("exit-after-complete", crash(Crash::ExitAfterComplete)),
        ] {
            assert_eq!(parsed(line), Ok(expected), "{line}");
        }
        assert_eq!(Chaos::of(&HeaderMap::new()), Ok(Chaos::default()));
    }

    #[test]
    fn several_are_joined() {
        let chaos = parsed("delay=20; delay-after=30;status=500 ; drop-response;panic-after")
            .expect("good");
        assert_eq!(chaos.delay, Duration::from_millis(20));
        assert_eq!(chaos.delay_after, Duration::from_millis(30));
        assert!(chaos.drop_response);
        assert_eq!(chaos.crash, Some(Crash::PanicAfter));
    }

    #[test]
    fn what_is_malformed_or_contradicts_itself_is_refused_in_a_sentence() {
        for line in [
            "",
            "sleep=1",
            "delay",
            "delay=",
            "delay=-1",
            "delay=+1",
            "delay=1s",
            "delay=99999999",
            "status=199",
            "status=600",
            "status=abc",
            "accept=1",
            "drop-response=1",
            "exit",
            "delay=1;delay=2",
            "fail=400;refuse=400",
            "accept;status=500",
            "big=1;stream=1",
            "panic-after;exit-after-effect",
            "stream=99999999",
            "delay=1;",
        ] {
            let refused = parsed(line).expect_err(line);
            assert!(refused.starts_with("X-Chaos "), "{line}: {refused}");
        }
    }
}
