//! A policy's pointers as a tree, walked along with the value.

use super::{
    pointer,
    policy::{Fields, ParamsPolicy},
};

/// The tree; its first node is the document.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    only: bool,
}

#[derive(Debug, Default)]
struct Node {
    /// Sorted by name.
    children: Vec<(Box<str>, usize)>,
    /// A field that the policy's list names.
    listed: bool,
    decimal: bool,
}

/// What the policy says about one place in the value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The node, if any pointer leads here or further.
    node: Option<usize>,
    /// A field that the policy's list names, or inside one.
    covered: bool,
    /// Kept in the canonical text.
    pub(super) keep: bool,
    /// The value is a decimal.
    pub(super) decimal: bool,
}

impl Tree {
    pub(super) fn of(policy: &ParamsPolicy) -> Self {
        let (list, only) = match &policy.fields {
            Fields::AllBut(list) => (list, false),
            Fields::Only(list) => (list, true),
        };
        let mut tree = Self {
            nodes: vec![Node::default()],
            only,
        };
        for field in list {
            let at = tree.insert(field);
            tree.nodes[at].listed = true;
        }
        for field in &policy.decimals {
            let at = tree.insert(field);
            tree.nodes[at].decimal = true;
        }
        tree
    }

    pub(super) fn root(&self) -> Place {
        Place {
            node: Some(0),
            covered: false,
            keep: true,
            decimal: false,
        }
    }

    /// Whether a pointer leads further than this place.
    pub(super) fn goes_inside(&self, place: Place) -> bool {
        place
            .node
            .is_some_and(|at| !self.nodes[at].children.is_empty())
    }

    /// The place of a member or an element. With `whole`, fields are kept whatever the policy says of them.
    pub(super) fn step(&self, from: Place, name: &str, whole: bool) -> Place {
        let node = from.node.and_then(|at| self.child(at, name));
        let (listed, decimal) = node.map_or((false, false), |at| {
            (self.nodes[at].listed, self.nodes[at].decimal)
        });
        let covered = from.covered || listed;
        let keep = match self.only {
            // On the way to a bound field, what lies beside it is left out.
            true => covered || node.is_some(),
            false => !listed,
        };
        Place {
            node,
            covered,
            keep: keep || whole,
            decimal,
        }
    }

    fn child(&self, at: usize, name: &str) -> Option<usize> {
        let children = &self.nodes[at].children;
        let found = children.binary_search_by(|(child, _)| child.as_ref().cmp(name));
        found.ok().map(|i| children[i].1)
    }

    fn insert(&mut self, field: &str) -> usize {
        let tokens = pointer::tokens(field).expect("a compiled policy's pointers were checked");
        let mut at = 0;
        for token in tokens {
            let children = &self.nodes[at].children;
            at = match children.binary_search_by(|(child, _)| child.as_ref().cmp(&token)) {
                Ok(found) => children[found].1,
                Err(place) => {
                    let new = self.nodes.len();
                    self.nodes[at].children.insert(place, (token.into(), new));
                    self.nodes.push(Node::default());
                    new
                }
            };
        }
        at
    }
}
