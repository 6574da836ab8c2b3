//! The way from the document to the place that a value goes to, as errors name it.

use super::{
    super::{
        error::{ParamsError, ParamsErrorKind},
        pointer,
        text::StackText,
    },
    Container, Emitter,
};

impl Emitter {
    /// Names the place that a value is being written to, in an error that names none.
    pub(in crate::params) fn here(&self, error: ParamsError) -> ParamsError {
        error.in_field(|| self.pointer())
    }

    /// As [`Emitter::here`], where a value is about to come: in an array that is the next element.
    pub(in crate::params) fn at_value(&self, error: ParamsError) -> ParamsError {
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
    pub(super) fn duplicate(&self, name: &str) -> ParamsError {
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
