//! Reads one JSON text into the emitter, in one pass and without recursion.

use super::{
    emitter::{Container, Emitter},
    error::ParamsError,
    lexer::{Lexer, Token},
};

/// Tells the emitter all of one JSON text. `unescaped` is a buffer for strings with escapes.
///
/// The text may stand inside a value that the emitter is at already.
pub(super) fn read(
    text: &str,
    emitter: &mut Emitter,
    unescaped: &mut String,
) -> Result<(), ParamsError> {
    let base = emitter.depth();
    let mut lexer = Lexer::new(text);
    loop {
        let opened =
            value(&mut lexer, emitter, unescaped).map_err(|error| emitter.at_value(error))?;
        if opened {
            continue;
        }
        let more = next_value(&mut lexer, emitter, unescaped, base);
        if !more.map_err(|error| emitter.here(error))? {
            return lexer.end();
        }
    }
}

/// Reads a scalar, an empty container, or the head of a container: then a value follows, and the answer is yes.
fn value(
    lexer: &mut Lexer<'_>,
    emitter: &mut Emitter,
    unescaped: &mut String,
) -> Result<bool, ParamsError> {
    match lexer.peek() {
        Some(b'{') => {
            lexer.eat(b'{');
            emitter.begin_object()?;
            if !lexer.eat(b'}') {
                name(lexer, emitter, unescaped)?;
                return Ok(true);
            }
            emitter.end_object()?;
        }
        Some(b'[') => {
            lexer.eat(b'[');
            emitter.begin_array()?;
            if !lexer.eat(b']') {
                return Ok(true);
            }
            emitter.end_array()?;
        }
        Some(b'"') => match lexer.string(unescaped)? {
            Token::Plain(text) => emitter.plain_string(text)?,
            Token::Unescaped(text) => emitter.string(text)?,
        },
        Some(b'-' | b'0'..=b'9') => {
            let token = lexer.number()?;
            emitter.number(token)?;
        }
        Some(b't') => {
            lexer.literal("true")?;
            emitter.bool(true)?;
        }
        Some(b'f') => {
            lexer.literal("false")?;
            emitter.bool(false)?;
        }
        Some(b'n') => {
            lexer.literal("null")?;
            emitter.null()?;
        }
        _ => return Err(lexer.error("expected a JSON value")),
    }
    Ok(false)
}

/// Closes the containers that end here, and says whether another value follows.
fn next_value(
    lexer: &mut Lexer<'_>,
    emitter: &mut Emitter,
    unescaped: &mut String,
    base: usize,
) -> Result<bool, ParamsError> {
    while emitter.depth() > base {
        match emitter.container() {
            Some(Container::Object) => {
                if lexer.eat(b',') {
                    name(lexer, emitter, unescaped)?;
                    return Ok(true);
                }
                if !lexer.eat(b'}') {
                    return Err(lexer.error("expected a comma or the end of the object"));
                }
                emitter.end_object()?;
            }
            Some(Container::Array) => {
                if lexer.eat(b',') {
                    return Ok(true);
                }
                if !lexer.eat(b']') {
                    return Err(lexer.error("expected a comma or the end of the array"));
                }
                emitter.end_array()?;
            }
            None => break,
        }
    }
    Ok(false)
}

fn name(
    lexer: &mut Lexer<'_>,
    emitter: &mut Emitter,
    unescaped: &mut String,
) -> Result<(), ParamsError> {
    if lexer.peek() != Some(b'"') {
        return Err(lexer.error("expected the name of a member in double quotes"));
    }
    let name = lexer.string(unescaped)?;
    emitter.name(name.as_str())?;
    if !lexer.eat(b':') {
        return Err(lexer.error("expected a colon after the name of a member"));
    }
    Ok(())
}
