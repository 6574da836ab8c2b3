//! Untrusted text made fit to be shown: short, and without characters that hide or reorder what is read.

use std::fmt::Write;

/// At most `limit` characters of `text`, with control, bidirectional, invisible and private characters as `\u{…}`.
///
/// A name in a request is whatever its sender wrote. Characters that can't be seen carry hidden instructions to a
/// model, and bidirectional ones show a person something else than what is there. What is cut ends in `…`.
pub(crate) fn visible(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    let mut chars = text.chars().peekable();
    let mut shown = String::new();
    while let Some(c) = chars.next() {
        shown.clear();
        if is_hidden(c) {
            // Writing to a string can't fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        } else {
            shown.push(c);
        }
        let width = shown.chars().count();
        let room_for_mark = usize::from(chars.peek().is_some());
        if used + width + room_for_mark > limit {
            out.push('…');
            break;
        }
        out.push_str(&shown);
        used += width;
    }
    out
}

/// Characters that have no shape of their own, or change the order of others: Unicode's Cc, Cf, Co, Zl, Zp, the
/// spaces but for the common one, variation selectors and fillers.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{00}'..='\u{1f}' | '\u{7f}'..='\u{a0}' | '\u{ad}' | '\u{34f}'
        | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
        | '\u{115f}'..='\u{1160}' | '\u{1680}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{2800}'
        | '\u{3000}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{10ffff}'
    )
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn hidden_and_bidirectional_characters_are_shown() {
        let text = "a\u{202e}b\u{200b}c\nd\u{e0041}\u{feff}";
        assert_eq!(
            visible(text, 99),
            r"a\u{202e}b\u{200b}c\u{a}d\u{e0041}\u{feff}"
        );
    }

    #[test]
    fn plain_text_of_any_language_stays() {
        for text in ["/lines/0/amount", "金额 1", "naïve ß", "😀", ""] {
            assert_eq!(visible(text, 99), text);
        }
    }

    #[test]
    fn what_is_cut_says_so_and_keeps_to_the_limit() {
        assert_eq!(visible("abcd", 4), "abcd");
        assert_eq!(visible("abcde", 4), "abc…");
        // An escape is never cut in two.
        assert_eq!(visible("ab\u{200b}", 5), "ab…");
        for limit in 1..40 {
            let shown = visible(&"x\u{200b}".repeat(20), limit);
            assert!(shown.chars().count() <= limit, "{limit}: {shown}");
        }
    }
}
