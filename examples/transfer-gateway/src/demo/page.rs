//! What the demo prints: coloured on a terminal, plain in a pipe or with `NO_COLOR`.

use std::{collections::BTreeSet, io::Write};

use anstyle::{AnsiColor, Style};

use super::{
    client::Heard,
    texts::{Side, Texts},
};

/// How wide a line gets, in columns.
const WIDTH: usize = 100;
const SIDE: usize = 13;
const ACTION: usize = 20;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
const ODD: Style = AnsiColor::Yellow.on_default();

/// The page. Whoever closes the pipe misses the rest; that is no failure.
pub(super) struct Page<W> {
    out: W,
    texts: &'static Texts,
    last: Option<Side>,
    said: BTreeSet<String>,
}

impl<W: Write> Page<W> {
    pub(super) const fn new(out: W, texts: &'static Texts) -> Self {
        Self {
            out,
            texts,
            last: None,
            said: BTreeSet::new(),
        }
    }

    pub(super) fn intro(&mut self) {
        self.paragraph(0, Style::new(), self.texts.intro);
    }

    /// A step's title, and what the agent does in it.
    pub(super) fn step(&mut self, number: usize) {
        let step = &self.texts.steps[number - 1];
        self.last = None;
        self.line(&format!("\n{BOLD}{number}. {}{BOLD:#}", step.title));
        self.paragraph(3, DIM, step.tells);
    }

    /// What a call was told.
    pub(super) fn told(&mut self, side: Side, action: &str, heard: &Heard) {
        self.told_times(side, action, 1, heard);
    }

    /// What so many equal calls were told.
    pub(super) fn told_times(&mut self, side: Side, action: &str, times: usize, heard: &Heard) {
        let (style, what) = self.in_short(side, heard, times == 1);
        let times = if times > 1 {
            format!("{times} × ")
        } else {
            String::new()
        };
        self.row(side, action, style, &format!("{times}{what}"));
        if let Some(instruction) = heard.text("instruction") {
            self.instruct(instruction);
        }
    }

    /// The one next step, as the answer says it; what was said before in so many words is not said again.
    fn instruct(&mut self, instruction: &str) {
        let indent = 3 + SIDE + ACTION;
        if self.said.insert(instruction.to_owned()) {
            self.paragraph(indent, DIM, instruction);
        } else {
            self.paragraph(indent, DIM, self.texts.as_above);
        }
    }

    /// A line about a call in the page's own words.
    pub(super) fn noted(&mut self, side: Side, action: &str, what: &str) {
        self.row(side, action, Style::new(), what);
    }

    /// The two ledgers side by side. Returns whether ours is right.
    pub(super) fn ledgers(&mut self, rows: &[(&str, usize, usize)]) -> bool {
        let texts = self.texts;
        self.line(&format!("\n{BOLD}{}{BOLD:#}", texts.ledgers));
        let head = [texts.intent, texts.ours, texts.bare];
        self.line(&format!(
            "   {}{}{}",
            padded(head[0], 32),
            padded(head[1], 16),
            head[2]
        ));
        let (mut ours, mut bare) = (0, 0);
        let mut right = true;
        for (intent, our, their) in rows {
            right &= *our == 1;
            ours += our;
            bare += their;
            self.ledger_row(intent, (*our, 1), (*their, 1));
        }
        self.ledger_row(texts.total, (ours, rows.len()), (bare, rows.len()));
        let (style, verdict) = if right {
            (GOOD, texts.right)
        } else {
            (BAD, texts.wrong)
        };
        self.line("");
        self.paragraph(0, style, verdict);
        right
    }

    fn ledger_row(&mut self, intent: &str, ours: (usize, usize), bare: (usize, usize)) {
        let cell = |(count, wanted): (usize, usize)| {
            let style = if count == wanted { GOOD } else { BAD };
            (style, padded(&count.to_string(), 16))
        };
        let ((a, ours), (b, bare)) = (cell(ours), cell(bare));
        let intent = padded(intent, 32);
        self.line(&format!(
            "   {intent}{a}{ours}{a:#}{b}{}{b:#}",
            bare.trim_end()
        ));
    }

    fn in_short(&self, side: Side, heard: &Heard, with_id: bool) -> (Style, String) {
        match heard {
            Heard::Nothing { after } => {
                let seconds = format!("{:.2} s", after.as_secs_f64());
                (ODD, format!("{} {seconds}", self.texts.no_answer))
            }
            Heard::Broken => (ODD, self.texts.broken.to_owned()),
            Heard::Answer { http, status, .. } => {
                let id = heard
                    .text("transfer_id")
                    .or_else(|| heard.text("result_ref"));
                let said = status.as_deref().or_else(|| heard.text("status"));
                let parts = [Some(http.as_str()), said, id.filter(|_| with_id)];
                let style = match side {
                    Side::Ours => GOOD,
                    Side::Bare => Style::new(),
                };
                let parts: Vec<&str> = parts.into_iter().flatten().collect();
                (style, parts.join(" "))
            }
        }
    }

    fn row(&mut self, side: Side, action: &str, style: Style, what: &str) {
        let name = if self.last == Some(side) {
            ""
        } else {
            self.texts.side(side)
        };
        self.last = Some(side);
        let (name, action) = (padded(name, SIDE), padded(action, ACTION));
        self.line(&format!("   {name}{action}{style}{what}{style:#}"));
    }

    fn paragraph(&mut self, indent: usize, style: Style, text: &str) {
        for line in wrapped(text, WIDTH - indent) {
            let spaces = " ".repeat(indent);
            self.line(&format!("{spaces}{style}{line}{style:#}"));
        }
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}");
    }
}

/// Filled with spaces up to so many columns.
fn padded(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(missing))
}

/// In columns: Chinese characters take two.
fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

const fn columns(c: char) -> usize {
    if is_wide(c) { 2 } else { 1 }
}

const fn is_wide(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ff00}'..='\u{ff60}')
}

/// Lines of at most so many columns, broken at spaces and between Chinese characters.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for piece in pieces(text) {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && width(line) + width(piece.trim_end()) > columns {
            line.truncate(line.trim_end().len());
            lines.push(piece.to_owned());
        } else {
            line.push_str(piece);
        }
    }
    lines
}

/// A word with the space behind it, or a Chinese character with the mark behind it.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((_, c)) = chars.next() {
        let Some((next, following)) = chars.peek().copied() else {
            break;
        };
        let mark = matches!(
            following,
            '，' | '。' | '：' | '；' | '、' | '）' | '”' | '！' | '？'
        );
        if c == ' ' || (is_wide(c) && !mark) {
            pieces.push(&text[start..next]);
            start = next;
        }
    }
    pieces.push(&text[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_to_their_width_and_lose_no_word() {
        let text = "Wait two seconds, then ask for the status of this operation.";
        let lines = wrapped(text, 20);
        assert!(lines.iter().all(|line| width(line) <= 20), "{lines:?}");
        assert_eq!(lines.join(" "), text);
    }

    #[test]
    fn chinese_breaks_between_characters_and_not_before_a_mark() {
        let text = "请等待两秒，然后查询操作状态。";
        let lines = wrapped(text, 10);
        assert!(lines.iter().all(|line| width(line) <= 12), "{lines:?}");
        assert!(
            lines.iter().all(|line| !line.starts_with(['，', '。'])),
            "{lines:?}"
        );
        assert_eq!(lines.concat(), text);
    }

    #[test]
    fn what_is_padded_lines_up_whatever_the_script() {
        assert_eq!(width(&padded("裸接口", 13)), width(&padded("bare", 13)));
    }
}
