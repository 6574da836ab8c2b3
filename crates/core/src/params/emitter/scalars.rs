//! Nulls, booleans, strings and numbers, and decimals where a field is declared one.

use std::fmt;

use super::{
    super::{
        error::{ParamsError, ParamsErrorKind},
        number::{self, Number},
        policy::Numbers,
        text::{self, StackText},
    },
    Emitter, not_a_decimal,
};

impl Emitter {
    pub(in crate::params) fn null(&mut self) -> Result<(), ParamsError> {
        self.before_value()?;
        self.out.push_str("null");
        self.after_value(true)
    }

    pub(in crate::params) fn bool(&mut self, value: bool) -> Result<(), ParamsError> {
        self.before_plain_value()?;
        self.out.push_str(if value { "true" } else { "false" });
        self.after_value(false)
    }

    /// A string.
    pub(in crate::params) fn string(&mut self, value: &str) -> Result<(), ParamsError> {
        if self.before_value()?.decimal {
            return self.decimal(value);
        }
        text::push_string(&mut self.out, value);
        self.after_value(false)
    }

    /// A string that is known to have nothing to escape.
    pub(in crate::params) fn plain_string(&mut self, value: &str) -> Result<(), ParamsError> {
        if self.before_value()?.decimal {
            return self.decimal(value);
        }
        self.out.push('"');
        self.out.push_str(value);
        self.out.push('"');
        self.after_value(false)
    }

    /// A JSON number token, under the number policy.
    pub(in crate::params) fn number(&mut self, token: &str) -> Result<(), ParamsError> {
        if self.before_value()?.decimal {
            return self.decimal(token);
        }
        if number::is_plain_integer(token) {
            self.out.push_str(token);
            return self.after_value(false);
        }
        let number = Number::parse(token)
            .unwrap_or_else(|| Err(not_a_number()))
            .map_err(|e| self.here(e))?;
        if self.policy.numbers() == Numbers::Lossless && !number.is_lossless() {
            return Err(self.here(ParamsError::new(
                ParamsErrorKind::LossyNumber,
                "a number has more digits or range than a 64-bit integer or a double holds; \
                 send fewer digits, or a string if the field is declared a decimal",
            )));
        }
        number.push_es6(&mut self.out);
        self.after_value(false)
    }

    /// Any integer.
    pub(in crate::params) fn integer(
        &mut self,
        value: impl fmt::Display,
    ) -> Result<(), ParamsError> {
        self.number(StackText::of(format_args!("{value}")).as_str())
    }

    /// A double or a single, by the shortest decimal that reads back as it.
    pub(in crate::params) fn float(
        &mut self,
        value: impl zmij::Float,
        finite: bool,
    ) -> Result<(), ParamsError> {
        if !finite {
            return Err(self.at_value(ParamsError::new(
                ParamsErrorKind::NotFinite,
                "NaN and infinity are no JSON numbers",
            )));
        }
        self.number(zmij::Buffer::new().format_finite(value))
    }

    fn decimal(&mut self, token: &str) -> Result<(), ParamsError> {
        self.out.push('"');
        Number::parse(token)
            .unwrap_or_else(|| Err(not_a_decimal()))
            .and_then(|number| number.push_decimal(&mut self.out))
            .map_err(|e| self.here(e))?;
        self.out.push('"');
        self.after_value(false)
    }
}

/// From a type that writes its own number text; the reader has checked its own.
fn not_a_number() -> ParamsError {
    ParamsError::new(
        ParamsErrorKind::Unsupported,
        "a number is not written as JSON numbers are",
    )
}
