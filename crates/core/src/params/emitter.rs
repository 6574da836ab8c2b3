//! Writes the canonical text of one value, told to it piece by piece.
//!
//! Both ways in, JSON bytes and `Serialize`, end here, so that there is one set of rules. The text grows in one buffer:
//! a member that is ignored, or dropped as a null, is written, checked and cut off again; an object whose members did
//! not come in order is rewritten once when it closes. Buffers are kept between values: after the first few, nothing
//! is allocated.

use std::ops::Range;

use super::{
    MAX_DEPTH,
    error::{ParamsError, ParamsErrorKind},
    number::{self, Number},
    pointer,
    policy::{CompiledPolicy, Nulls, Numbers},
    text::{self, StackText},
    tree::Place,
};

#[derive(Debug)]
pub(super) struct Emitter {
    policy: CompiledPolicy,
    /// Keep ignored fields and nulls: a body is read, not hashed.
    whole: bool,
    out: String,
    frames: Vec<Frame>,
    /// The members of all open objects, and behind each object's own those of the ones inside it.
    members: Vec<Member>,
    /// Their names, unescaped.
    names: String,
    scratch: String,
}

#[derive(Debug)]
struct Frame {
    container: Container,
    place: Place,
    /// Where its text, members and names begin.
    out_start: usize,
    first_member: usize,
    names_start: usize,
    /// Members came in order, so far.
    sorted: bool,
    slot: Option<Slot>,
    next_index: usize,
}

/// The place in a container that the next value goes to.
#[derive(Clone, Copy, Debug)]
struct Slot {
    place: Place,
    /// Where the text is cut if the value is dropped.
    cut: usize,
    /// The payload of an enum variant: a null there tells variants apart.
    variant: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    Object,
    Array,
}

#[derive(Clone, Debug)]
struct Member {
    name: Range<usize>,
    /// `"name":value`.
    text: Range<usize>,
    value_start: usize,
    keep: bool,
}

impl Emitter {
    pub(super) fn new(policy: &CompiledPolicy) -> Self {
        Self {
            policy: policy.clone(),
            whole: false,
            out: String::new(),
            frames: Vec::new(),
            members: Vec::new(),
            names: String::new(),
            scratch: String::new(),
        }
    }

    /// Starts a new value.
    pub(super) fn start(&mut self, whole: bool) {
        self.whole = whole;
        self.out.clear();
        self.frames.clear();
        self.members.clear();
        self.names.clear();
    }

    /// The canonical text, once the value has ended.
    pub(super) fn text(&self) -> &str {
        &self.out
    }

    /// How many containers are open.
    pub(super) fn depth(&self) -> usize {
        self.frames.len()
    }

    /// The innermost open container.
    pub(super) fn container(&self) -> Option<Container> {
        self.frames.last().map(|frame| frame.container)
    }

    pub(super) fn begin_object(&mut self) -> Result<(), ParamsError> {
        self.begin(Container::Object)
    }

    pub(super) fn begin_array(&mut self) -> Result<(), ParamsError> {
        self.begin(Container::Array)
    }

    /// The name of the next member of the innermost object.
    pub(super) fn name(&mut self, name: &str) -> Result<(), ParamsError> {
        self.named(name, false)
    }

    /// As [`Emitter::name`], for the one member of an enum variant.
    pub(super) fn variant(&mut self, name: &str) -> Result<(), ParamsError> {
        self.named(name, true)
    }

    pub(super) fn end_array(&mut self) -> Result<(), ParamsError> {
        self.out.push(']');
        self.frames.pop();
        self.after_value(false)
    }

    pub(super) fn end_object(&mut self) -> Result<(), ParamsError> {
        self.check_order(false)?;
        let frame = self.frames.pop().expect("an open object is closed");
        if !frame.sorted {
            self.sort(&frame)?;
        }
        if self.whole && self.frames.is_empty() {
            // The members stay, to be handed out one by one.
            return self.check_size();
        }
        if !frame.sorted {
            self.rewrite(&frame);
        }
        self.out.push('}');
        self.members.truncate(frame.first_member);
        self.names.truncate(frame.names_start);
        self.after_value(false)
    }

    pub(super) fn null(&mut self) -> Result<(), ParamsError> {
        self.before_value()?;
        self.out.push_str("null");
        self.after_value(true)
    }

    pub(super) fn bool(&mut self, value: bool) -> Result<(), ParamsError> {
        self.before_plain_value()?;
        self.out.push_str(if value { "true" } else { "false" });
        self.after_value(false)
    }

    /// A string.
    pub(super) fn string(&mut self, value: &str) -> Result<(), ParamsError> {
        if self.before_value()?.decimal {
            return self.decimal(value);
        }
        text::push_string(&mut self.out, value);
        self.after_value(false)
    }

    /// A string that is known to have nothing to escape.
    pub(super) fn plain_string(&mut self, value: &str) -> Result<(), ParamsError> {
        if self.before_value()?.decimal {
            return self.decimal(value);
        }
        self.out.push('"');
        self.out.push_str(value);
        self.out.push('"');
        self.after_value(false)
    }

    /// A JSON number token, under the number policy.
    pub(super) fn number(&mut self, token: &str) -> Result<(), ParamsError> {
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
    pub(super) fn integer(&mut self, value: impl std::fmt::Display) -> Result<(), ParamsError> {
        self.number(StackText::of(format_args!("{value}")).as_str())
    }

    /// A double or a single, by the shortest decimal that reads back as it.
    pub(super) fn float(
        &mut self,
        value: impl std::fmt::LowerExp,
        finite: bool,
    ) -> Result<(), ParamsError> {
        if !finite {
            return Err(self.at_value(ParamsError::new(
                ParamsErrorKind::NotFinite,
                "NaN and infinity are no JSON numbers",
            )));
        }
        self.number(StackText::of(format_args!("{value:e}")).as_str())
    }

    /// Names the place that a value is being written to, in an error that names none.
    pub(super) fn here(&self, error: ParamsError) -> ParamsError {
        error.in_field(|| self.pointer())
    }

    /// As [`Emitter::here`], where a value is about to come: in an array that is the next element.
    pub(super) fn at_value(&self, error: ParamsError) -> ParamsError {
        error.in_field(|| {
            let mut path = self.pointer();
            if let Some(array) = self.frames.last()
                && array.container == Container::Array
                && array.slot.is_none()
            {
                let index = StackText::of(format_args!("{}", array.next_index));
                pointer::push_token(&mut path, index.as_str());
            }
            path
        })
    }

    /// The members of an object read whole, in order: name and canonical text. Nothing if it was no object.
    pub(super) fn whole_members(&self) -> Option<impl Iterator<Item = (&str, &str)>> {
        let text = |member: &Member| member.value_start..member.text.end;
        let is_object = self.out.starts_with('{');
        is_object.then(|| {
            let members = self.members.iter();
            members.map(move |m| (&self.names[m.name.clone()], &self.out[text(m)]))
        })
    }

    fn begin(&mut self, container: Container) -> Result<(), ParamsError> {
        let place = self.before_plain_value()?;
        if self.frames.len() == MAX_DEPTH {
            return Err(self.here(ParamsError::new(
                ParamsErrorKind::TooDeep,
                "the params are nested more than 64 levels deep",
            )));
        }
        self.frames.push(Frame {
            container,
            place,
            out_start: self.out.len(),
            first_member: self.members.len(),
            names_start: self.names.len(),
            sorted: true,
            slot: None,
            next_index: 0,
        });
        self.out.push(match container {
            Container::Object => '{',
            Container::Array => '[',
        });
        Ok(())
    }

    fn named(&mut self, name: &str, variant: bool) -> Result<(), ParamsError> {
        self.check_order(false)?;
        let frame = self.frames.last_mut().expect("a name stands in an object");
        if let Some(last) = self.members[frame.first_member..].last() {
            let order = text::utf16_order(&self.names[last.name.clone()], name);
            if order.is_eq() {
                frame.slot = None;
                return Err(self.duplicate(name));
            }
            frame.sorted &= order.is_lt();
        }
        let place = self.policy.tree().step(frame.place, name, self.whole);
        let cut = self.out.len();
        if cut > frame.out_start + 1 {
            self.out.push(',');
        }
        frame.slot = Some(Slot {
            place,
            cut,
            variant,
        });
        let names_start = self.names.len();
        self.names.push_str(name);
        let text_start = self.out.len();
        text::push_string(&mut self.out, name);
        self.out.push(':');
        self.members.push(Member {
            name: names_start..self.names.len(),
            text: text_start..text_start,
            value_start: self.out.len(),
            keep: true,
        });
        Ok(())
    }

    /// Before any value but a string, a number or a null, the only ones that a decimal field may hold.
    fn before_plain_value(&mut self) -> Result<Place, ParamsError> {
        let place = self.before_value()?;
        if place.decimal {
            return Err(self.here(not_a_decimal()));
        }
        Ok(place)
    }

    fn before_value(&mut self) -> Result<Place, ParamsError> {
        self.check_size()?;
        let tree = self.policy.tree();
        let Some(frame) = self.frames.last_mut() else {
            return Ok(tree.root());
        };
        if frame.container == Container::Array {
            let place = if tree.goes_inside(frame.place) {
                let index = StackText::of(format_args!("{}", frame.next_index));
                tree.step(frame.place, index.as_str(), self.whole)
            } else {
                tree.step(frame.place, "", self.whole)
            };
            frame.slot = Some(Slot {
                place,
                cut: self.out.len(),
                variant: false,
            });
            if self.out.len() > frame.out_start + 1 {
                self.out.push(',');
            }
            frame.next_index += 1;
        }
        match frame.slot {
            Some(slot) => Ok(slot.place),
            None => self.check_order(true).map(|()| tree.root()),
        }
    }

    /// After each value: cuts off what is not kept.
    fn after_value(&mut self, null: bool) -> Result<(), ParamsError> {
        let depth = self.frames.len();
        let Some(frame) = self.frames.last_mut() else {
            return self.check_size();
        };
        let slot = frame.slot.take().expect("a value had a slot");
        let mut keep = slot.place.keep;
        if frame.container == Container::Object {
            let drops = match self.policy.nulls() {
                Nulls::DropTopLevel => depth == 1,
                Nulls::DropEverywhere => true,
                Nulls::Keep => false,
            };
            let dropped = null && drops && !slot.variant && !self.whole;
            keep &= !dropped;
            let member = self.members.last_mut().expect("a member has a name");
            member.text.end = self.out.len();
            member.keep = keep;
        }
        if !keep {
            self.out.truncate(slot.cut);
        }
        Ok(())
    }

    fn check_size(&self) -> Result<(), ParamsError> {
        // The names of members that were cut off count too, or a value could grow without an end.
        let size = self.out.len().max(self.names.len());
        if size > self.policy.max_bytes() {
            return Err(self.here(too_large(self.policy.max_bytes())));
        }
        Ok(())
    }

    /// Names and values take turns in an object. The reader sees to that; a type's own `Serialize` may not.
    fn check_order(&self, named: bool) -> Result<(), ParamsError> {
        if self.frames.last().is_some_and(|f| f.slot.is_some()) == named {
            return Ok(());
        }
        Err(ParamsError::new(
            ParamsErrorKind::Serialize,
            "the value's own serialization gives a name without a value, or a value without a name",
        ))
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

    /// Brings the members into order. The sort is in place and never quadratic, and equal names end side by side.
    fn sort(&mut self, frame: &Frame) -> Result<(), ParamsError> {
        let names = &self.names;
        let name = |m: &Member| &names[m.name.clone()];
        let members = &mut self.members[frame.first_member..];
        members.sort_unstable_by(|a, b| text::utf16_order(name(a), name(b)));
        let twice = members.windows(2).find(|w| name(&w[0]) == name(&w[1]));
        match twice.map(|w| name(&w[0]).to_owned()) {
            Some(name) => {
                self.members.truncate(frame.first_member);
                Err(self.duplicate(&name))
            }
            None => Ok(()),
        }
    }

    fn rewrite(&mut self, frame: &Frame) {
        self.scratch.clear();
        let kept = self.members[frame.first_member..].iter().filter(|m| m.keep);
        for (i, member) in kept.enumerate() {
            if i > 0 {
                self.scratch.push(',');
            }
            self.scratch.push_str(&self.out[member.text.clone()]);
        }
        self.out.truncate(frame.out_start + 1);
        self.out.push_str(&self.scratch);
    }

    /// The path of slots that are taken.
    fn pointer(&self) -> String {
        let mut path = String::new();
        for (depth, frame) in self.frames.iter().enumerate() {
            if frame.slot.is_none() {
                break;
            }
            if frame.container == Container::Array {
                let index = StackText::of(format_args!("{}", frame.next_index - 1));
                pointer::push_token(&mut path, index.as_str());
                continue;
            }
            let inner = self.frames.get(depth + 1);
            let end = inner.map_or(self.members.len(), |f| f.first_member);
            let name = self.members[end - 1].name.clone();
            pointer::push_token(&mut path, &self.names[name]);
        }
        path
    }

    /// The innermost open container's place is the path to the object, whose slot must be empty by now.
    fn duplicate(&self, name: &str) -> ParamsError {
        let error = ParamsError::new(
            ParamsErrorKind::DuplicateMember,
            "a member stands twice in one object; send it once",
        );
        error.in_field(|| {
            let mut path = self.pointer();
            pointer::push_token(&mut path, name);
            path
        })
    }
}

pub(super) fn too_large(max_bytes: usize) -> ParamsError {
    ParamsError::new(
        ParamsErrorKind::TooLarge,
        format!("the params take more than {max_bytes} bytes"),
    )
}

/// From a type that writes its own number text; the reader has checked its own.
fn not_a_number() -> ParamsError {
    ParamsError::new(
        ParamsErrorKind::Unsupported,
        "a number is not written as JSON numbers are",
    )
}

fn not_a_decimal() -> ParamsError {
    ParamsError::new(
        ParamsErrorKind::InvalidDecimal,
        "expected a decimal, as a JSON number or as a string such as \"10.50\"",
    )
}
