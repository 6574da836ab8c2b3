//! What batches have in common: the order in which they lock, and the errors that all of their calls share.

use std::sync::Arc;

use counterfoil_core::{
    OperationId,
    store::{StoreError, StoreErrorKind},
};

use crate::failure::unknown_answer;

/// The calls of a batch in the order of their ids; those with the same id in the order in which they came.
pub(crate) struct Order(Vec<usize>);

impl Order {
    pub(crate) fn new<C>(calls: &[C], id: impl Fn(&C) -> OperationId) -> Self {
        let mut order: Vec<_> = (0..calls.len()).collect();
        order.sort_by_key(|call| *id(&calls[*call]).as_bytes());
        Self(order)
    }

    /// The calls in this order.
    pub(crate) fn of<'c, C>(&self, calls: &'c [C]) -> impl Iterator<Item = &'c C> {
        self.0.iter().map(|call| &calls[*call])
    }

    /// A place as the server counts them, from 1 on.
    pub(crate) fn place(&self, ordinality: i64) -> Result<usize, StoreError> {
        usize::try_from(ordinality.wrapping_sub(1))
            .ok()
            .filter(|place| *place < self.0.len())
            .ok_or_else(unknown_answer)
    }

    /// Which call has a place.
    pub(crate) fn call(&self, place: usize) -> usize {
        self.0[place]
    }

    /// What is in this order, in the order of the calls.
    pub(crate) fn restore<A>(&self, places: Vec<A>) -> Vec<A> {
        let mut numbered: Vec<_> = self.0.iter().zip(places).collect();
        numbered.sort_unstable_by_key(|(call, _)| **call);
        numbered.into_iter().map(|(_, answer)| answer).collect()
    }
}

/// The same error for each call of a statement.
pub(crate) fn shared<A>(error: StoreError, calls: usize) -> Vec<Option<Result<A, StoreError>>> {
    let error = Arc::new(error);
    let copy = |_| {
        let message = match error.kind() {
            StoreErrorKind::NotApplied => "the statement that this call shared was not applied",
            StoreErrorKind::Indeterminate => {
                "it is not known whether the statement that this call shared was applied"
            }
            _ => "the statement that this call shared went wrong",
        };
        Some(Err(
            StoreError::new(error.kind(), message).with_source(Arc::clone(&error))
        ))
    };
    (0..calls).map(copy).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_back_in_the_order_of_the_calls() {
        let ids = [3, 1, 2, 1].map(|byte| OperationId::from_bytes([byte; 16]));
        let order = Order::new(&ids, |id| *id);
        let sorted: Vec<_> = order.of(&ids).map(|id| id.as_bytes()[0]).collect();
        assert_eq!(sorted, [1, 1, 2, 3]);
        assert_eq!([0, 1, 2, 3].map(|place| order.call(place)), [1, 3, 2, 0]);
        assert_eq!(
            order.restore(vec!["a", "b", "c", "d"]),
            ["d", "a", "c", "b"]
        );
        assert_eq!(order.place(4).expect("it is one of four"), 3);
        for none in [0, 5, -1, i64::MIN] {
            assert!(order.place(none).is_err(), "{none}");
        }
    }
}
