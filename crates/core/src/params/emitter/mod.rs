//! Writes the canonical text of one value, told to it piece by piece.
//!
//! Both ways in, JSON bytes and `Serialize`, end here, so that there is one set of rules. The text grows in one buffer:
//! a member that is ignored, or dropped as a null, is written, checked and cut off again; an object whose members did
//! not come in order is rewritten once when it closes. Buffers are kept between values: after the first few, nothing
//! is allocated.

mod path;
mod scalars;

use std::ops::Range;

use super::{
    MAX_DEPTH,
    error::{ParamsError, ParamsErrorKind},
    policy::{CompiledPolicy, Nulls},
    text::{self, StackText},
    tree::Place,
};

/// No `Debug`: the buffers hold what may be secret.
pub(in crate::params) struct Emitter {
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
pub(in crate::params) enum Container {
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
    pub(in crate::params) fn new(policy: &CompiledPolicy) -> Self {
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
    pub(in crate::params) fn start(&mut self, whole: bool) {
        self.whole = whole;
        self.out.clear();
        self.frames.clear();
        self.members.clear();
        self.names.clear();
    }

    /// The canonical text, once the value has ended.
    pub(in crate::params) fn text(&self) -> &str {
        &self.out
    }

    /// How many containers are open.
    pub(in crate::params) fn depth(&self) -> usize {
        self.frames.len()
    }

    /// The innermost open container.
    pub(in crate::params) fn container(&self) -> Option<Container> {
        self.frames.last().map(|frame| frame.container)
    }

    pub(in crate::params) fn begin_object(&mut self) -> Result<(), ParamsError> {
        self.begin(Container::Object)
    }

    pub(in crate::params) fn begin_array(&mut self) -> Result<(), ParamsError> {
        self.begin(Container::Array)
    }

    /// The name of the next member of the innermost object.
    pub(in crate::params) fn name(&mut self, name: &str) -> Result<(), ParamsError> {
        self.named(name, false)
    }

    /// As [`Emitter::name`], for the one member of an enum variant.
    pub(in crate::params) fn variant(&mut self, name: &str) -> Result<(), ParamsError> {
        self.named(name, true)
    }

    pub(in crate::params) fn end_array(&mut self) -> Result<(), ParamsError> {
        self.out.push(']');
        self.frames.pop();
        self.after_value(false)
    }

    pub(in crate::params) fn end_object(&mut self) -> Result<(), ParamsError> {
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

    /// The members of an object read whole, in order: name and canonical text. Nothing if it was no object.
    pub(in crate::params) fn whole_members(&self) -> Option<impl Iterator<Item = (&str, &str)>> {
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
}

pub(in crate::params) fn too_large(max_bytes: usize) -> ParamsError {
    ParamsError::new(
        ParamsErrorKind::TooLarge,
        format!("the params take more than {max_bytes} bytes"),
    )
}

fn not_a_decimal() -> ParamsError {
    ParamsError::new(
        ParamsErrorKind::InvalidDecimal,
        "expected a decimal, as a JSON number or as a string such as \"10.50\"",
    )
}
