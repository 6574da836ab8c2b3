//! List and purge: all keys of the servers, page by page.
//!
//! Most keys are not what is asked for. So a script sifts them where they are, many at a time, and only those that may be
//! meant are looked at one by one.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use bytes::Bytes;
use counterfoil_core::{
    OperationId,
    store::{Listing, Page, Record, StoreError, StoreErrorKind},
};
use fred::{
    interfaces::ClusterInterface,
    types::{Value, config::Server},
};
use futures_util::{StreamExt, future::try_join_all, stream};
use tokio::time::Instant;

use super::{RedisStore, bytes as text, number};
use crate::{
    codec::fields::state_number,
    failure::{out_of_step, store_error},
    link::Place,
    security,
};

/// A page of a listing holds no more.
const MAX_PAGE: usize = 1_000;

/// How many keys a server looks at in one go. It serves nobody else meanwhile, for less than a millisecond.
const STEP: u64 = 1_000;

/// How many records a server sifts in one go: again for less than a millisecond.
const SIFT: usize = 100;

/// How many records are asked for at once.
const AT_ONCE: usize = 64;

/// A walk ends here, however many keys there are.
const WALK: Duration = Duration::from_secs(8);

impl RedisStore {
    pub(super) async fn walk_and_list(&self, listing: &Listing) -> Result<Page, StoreError> {
        if listing.tenant.as_deref() == Some("") {
            // To the script that is every tenant, and it is nobody's name.
            return Ok(Page {
                records: Vec::new(),
                more: false,
            });
        }
        let limit = listing.limit.min(MAX_PAGE);
        let mut first: BTreeMap<OperationId, Record> = BTreeMap::new();
        let mut more = false;
        let mut walk = self.walk().await?;
        while let Some(mut keys) = walk.next_keys(self).await? {
            // Once it is known that there is more, nothing is read that comes behind a full page.
            let is_behind = |id: &OperationId, first: &BTreeMap<_, _>, more| {
                more && first.last_key_value().is_none_or(|(last, _)| id > last)
            };
            keys.ids.retain(|id| {
                let is_wanted = listing.after.is_none_or(|after| *id > after);
                is_wanted && !first.contains_key(id) && !is_behind(id, &first, more)
            });
            let sifted = self.sift(&keys, &Wanted::of(listing), walk.until).await?;
            // In the order of their ids, so that the first of a page fill it.
            for some in sifted.chunks(AT_ONCE) {
                let some = some.iter().copied();
                let some = some.filter(|id| !is_behind(id, &first, more)).collect();
                for record in self.pick_all(listing, some, walk.until).await? {
                    first.insert(record.id, record);
                    if first.len() > limit {
                        first.pop_last();
                        more = true;
                    }
                }
            }
        }
        Ok(Page {
            records: first.into_values().collect(),
            more,
        })
    }

    /// Which of these may be what is wanted, in the order that they came in.
    async fn sift(
        &self,
        keys: &Keys,
        wanted: &Wanted,
        until: Instant,
    ) -> Result<Vec<OperationId>, StoreError> {
        let sifting = keys.ids.chunks(SIFT);
        let sifting = sifting.map(|some| self.sift_some(keys, some, wanted, until));
        let sifted = try_join_all(sifting).await?;
        Ok(sifted.concat())
    }

    async fn sift_some(
        &self,
        keys: &Keys,
        some: &[OperationId],
        wanted: &Wanted,
        until: Instant,
    ) -> Result<Vec<OperationId>, StoreError> {
        let Some(any) = some.first() else {
            return Ok(Vec::new());
        };
        let names = some.iter().map(|id| self.keys.key(*id).into());
        let names = names.collect();
        let args = vec![wanted.state.as_str().into(), text(wanted.tenant.clone())];
        let until = until.min(self.link.deadline());
        let reply = self
            .run_on_many(&self.scripts.sift, *any, (keys.place(), names), args, until)
            .await?;
        let marks = reply.value()?;
        if marks.len() != some.len() {
            return Err(out_of_step());
        }
        let marked = some.iter().zip(marks).filter(|(_, mark)| *mark == b'1');
        Ok(marked.map(|(id, _)| *id).collect())
    }

    async fn pick_all(
        &self,
        listing: &Listing,
        ids: Vec<OperationId>,
        until: Instant,
    ) -> Result<Vec<Record>, StoreError> {
        let mut picking = stream::iter(ids)
            .map(|id| self.pick(listing, id, until))
            .buffer_unordered(AT_ONCE);
        let mut records = Vec::new();
        while let Some(picked) = picking.next().await {
            records.extend(picked?);
        }
        Ok(records)
    }

    /// A record that can't be read is left out, and told as a security event: the others are still to be listed.
    async fn pick(
        &self,
        listing: &Listing,
        id: OperationId,
        until: Instant,
    ) -> Result<Option<Record>, StoreError> {
        let args = vec![
            number(state_number(listing.state).into()),
            text(listing.tenant.clone().unwrap_or_default()),
        ];
        let until = until.min(self.link.deadline());
        let picked = match self.run(&self.scripts.pick, id, args, until).await {
            Ok(reply) => match &*reply.what {
                "absent" => Ok(None),
                "found" => self.record(id, reply).map(|record| Some(*record)),
                _ => Err(out_of_step()),
            },
            Err(error) => Err(error),
        };
        match picked {
            Err(error) if error.kind() == StoreErrorKind::Corrupt => {
                security::corrupt_record(id);
                Ok(None)
            }
            picked => picked,
        }
    }

    pub(super) async fn walk_and_drop(&self, limit: usize) -> Result<usize, StoreError> {
        let mut dropped = 0;
        let mut walk = self.walk().await?;
        while dropped < limit
            && let Some(keys) = walk.next_keys(self).await?
        {
            let over = self.sift(&keys, &Wanted::over(), walk.until).await?;
            for some in over.chunks(AT_ONCE) {
                let some = some.iter().copied().take(limit - dropped).collect();
                dropped += self.drop_all(some, walk.until).await?;
            }
        }
        Ok(dropped)
    }

    async fn drop_all(&self, ids: Vec<OperationId>, until: Instant) -> Result<usize, StoreError> {
        let mut dropping = stream::iter(ids)
            .map(|id| {
                let until = until.min(self.link.deadline());
                self.run(&self.scripts.drop, id, Vec::new(), until)
            })
            .buffer_unordered(AT_ONCE);
        let mut dropped = 0;
        while let Some(reply) = dropping.next().await {
            match reply {
                Ok(reply) if reply.what == "dropped" => dropped += reply.number()? as usize,
                Ok(_) => {}
                // What can't be read is not dropped: somebody has to look.
                Err(error) if error.kind() == StoreErrorKind::Corrupt => {}
                Err(error) => return Err(error),
            }
        }
        Ok(dropped)
    }

    async fn walk(&self) -> Result<Walk, StoreError> {
        let until = Instant::now() + WALK;
        self.link.connected(until.min(self.link.deadline())).await?;
        let servers = if self.link.is_clustered() {
            let state = self.link.client().cached_cluster_state();
            // Without the nodes a walk would find nothing, and say that there is nothing.
            let nodes = state.ok_or_else(|| {
                StoreError::new(
                    StoreErrorKind::NotApplied,
                    "the nodes of the cluster are not known yet",
                )
            })?;
            let nodes = nodes.unique_primary_nodes();
            nodes.into_iter().map(Some).collect()
        } else {
            vec![None]
        };
        Ok(Walk {
            servers,
            cursor: "0".to_owned(),
            until,
        })
    }
}

/// What is sifted for.
struct Wanted {
    /// The number of a state, or `over` for what may be dropped.
    state: String,
    /// Empty for any.
    tenant: String,
}

impl Wanted {
    fn of(listing: &Listing) -> Self {
        Self {
            state: state_number(listing.state).to_string(),
            tenant: listing.tenant.clone().unwrap_or_default(),
        }
    }

    fn over() -> Self {
        Self {
            state: "over".to_owned(),
            tenant: String::new(),
        }
    }
}

/// A page of a walk: operations in order, and the server that has their keys.
struct Keys {
    server: Option<Server>,
    ids: Vec<OperationId>,
}

impl Keys {
    fn place(&self) -> Place {
        place_of(self.server.as_ref())
    }
}

fn place_of(server: Option<&Server>) -> Place {
    server.map_or(Place::Anywhere, |server| Place::Node(server.clone()))
}

/// Where a walk over the keys of all masters is.
struct Walk {
    /// Those that are not done with; `None` where there is one only.
    servers: Vec<Option<Server>>,
    cursor: String,
    until: Instant,
}

impl Walk {
    /// The operations of the next page of keys; `None` when all have been seen.
    async fn next_keys(&mut self, store: &RedisStore) -> Result<Option<Keys>, StoreError> {
        let Some(server) = self.servers.last().cloned() else {
            return Ok(None);
        };
        if Instant::now() >= self.until {
            return Err(StoreError::new(
                StoreErrorKind::NotApplied,
                "there are too many keys to walk over in time",
            ));
        }
        let args = vec![
            self.cursor.as_str().into(),
            Value::from_static_str("MATCH"),
            store.keys.pattern().into(),
            Value::from_static_str("COUNT"),
            number(STEP),
        ];
        let until = self.until.min(store.link.deadline());
        let place = place_of(server.as_ref());
        let page = store.link.send("SCAN", place, args, until).await;
        // Whoever shares the server may name keys as he likes, also in no text.
        let (cursor, keys): (String, Vec<Bytes>) =
            page.and_then(Value::convert).map_err(store_error)?;
        if cursor == "0" {
            self.servers.pop();
        }
        self.cursor = cursor;
        let ids: BTreeSet<_> = keys
            .iter()
            .filter_map(|key| store.keys.id_of(key))
            .collect();
        Ok(Some(Keys {
            server,
            ids: ids.into_iter().collect(),
        }))
    }
}
