//! The one list of cases, and what is made of it.

use std::{fmt, future::Future, pin::Pin};

use super::Harness;

/// One case of the suite.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Case {
    /// The group: the name of the module that the case is in.
    pub group: &'static str,
    /// The behaviour, as the function is named.
    pub name: &'static str,
    /// Runs it; panics where the store breaks the contract.
    pub run: fn(Harness) -> Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.group, self.name)
    }
}

/// All cases.
#[must_use]
pub fn cases() -> Vec<Case> {
    crate::__conformance_cases!(__conformance_list!())
}

/// Expands the conformance suite into one test per case.
///
/// Takes the path of an `async fn() -> Harness`, called once per test. The crate that expands it needs tokio, with the
/// features `macros` and `rt-multi-thread`.
///
/// ```
/// # mod suite {
/// use counterfoil_store_memory::MemoryStore;
/// use counterfoil_testkit::{ManualClock, conformance::Harness};
///
/// async fn harness() -> Harness {
///     let clock = ManualClock::default();
///     Harness::with_clock(MemoryStore::with_clock(clock.clone()), clock)
/// }
///
/// counterfoil_testkit::conformance!(harness);
/// # }
/// ```
///
/// A store whose clock can't be moved by hours leaves the group `retention` out, which is then shown as ignored:
///
/// ```
/// # mod suite {
/// # use counterfoil_store_memory::MemoryStore;
/// # use counterfoil_testkit::conformance::Harness;
/// # async fn harness() -> Harness { Harness::new(MemoryStore::new(), tokio::time::sleep) }
/// counterfoil_testkit::conformance!(harness, without retention = "the server's clock can't be moved");
/// # }
/// ```
#[macro_export]
macro_rules! conformance {
    ($harness:path) => {
        $crate::__conformance_cases!(__conformance_tests!($harness));
    };
    ($harness:path, without retention = $why:literal) => {
        $crate::__conformance_cases!(__conformance_tests!($harness, retention = $why));
    };
}

/// The list. Hands it to another macro, behind the arguments that it is given.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_cases {
    ($then:ident!($($args:tt)*)) => {
        $crate::$then! {
            ($($args)*)
            claims [
                a_first_acquire_claims_in_the_first_epoch
                of_64_concurrent_acquires_one_claims
                of_1000_concurrent_acquires_one_claims
                the_same_owner_gets_the_same_claim_again
                another_owner_finds_it_in_flight
                a_lapsed_lease_reads_as_unknown_and_is_not_claimed
                time_alone_never_frees_an_operation
                a_claim_that_names_a_missing_record_is_told
                a_missing_approval_is_not_an_approval
            ]
            identity [
                another_hash_is_told_in_every_state
                another_subject_is_foreign_in_every_state
                another_scope_is_foreign_in_every_state
                a_stranger_learns_nothing_of_the_hash
            ]
            exp [
                a_claim_just_before_exp_passes
                a_claim_at_exp_is_refused
                a_claim_from_released_at_exp_is_refused
                a_retry_after_exp_gets_the_result
                a_callers_wrong_clock_changes_nothing
            ]
            lease [
                a_renewed_lease_outlives_ten_leases
                a_claim_asked_again_begins_its_lease_anew
                a_renewal_can_be_asked_again
                a_renewal_never_shortens_a_lease
                a_renewal_after_the_lapse_is_told
                a_renewal_by_another_owner_or_epoch_changes_nothing
                an_ended_operation_is_not_renewed
            ]
            complete [
                a_completion_stands_and_every_retry_gets_it
                a_completion_sent_again_is_completed
                a_late_completion_of_the_same_owner_is_kept
                an_owner_that_doubted_may_still_complete
                a_completion_by_another_owner_is_only_evidence
                a_completion_of_another_epoch_is_only_evidence
                the_last_four_lost_completions_are_kept
                a_terminal_outcome_never_changes
                a_result_is_kept_byte_for_byte
                an_empty_result_is_a_result
            ]
            annotate [
                a_note_is_on_record
                a_late_note_of_the_same_owner_is_kept
                a_note_by_another_owner_or_epoch_changes_nothing
                an_ended_operation_takes_no_notes
                references_are_kept_by_a_completion
            ]
            release [
                a_released_operation_keeps_its_epoch
                a_release_sent_again_is_released
                a_release_by_another_owner_or_epoch_changes_nothing
                a_late_release_of_the_same_owner_counts
                a_claim_from_released_names_what_it_read
                a_delayed_copy_of_an_older_claim_is_refused
                the_released_owners_own_copy_is_refused
            ]
            takeover [
                a_takeover_within_its_window_takes_the_next_epoch
                a_takeover_past_its_window_is_refused
                a_takeover_names_what_it_read
                a_takeover_after_exp_passes
                only_the_unknown_is_taken_over
                failed_after_a_takeover_is_doubt
                a_release_after_a_takeover_is_doubt
                done_after_a_takeover_stands
            ]
            reconcile [
                a_fence_shuts_the_old_owner_out
                a_fence_asked_again_is_the_same_fence
                of_two_reconcilers_one_holds
                what_a_reconciler_holds_is_not_taken_over
                only_the_unknown_is_fenced_or_resolved
                failed_and_not_executed_need_the_vouch
                not_executed_frees_it_in_the_next_epoch
                a_vouched_verdict_ends_the_doubt
                a_verdict_on_a_stale_epoch_is_refused
            ]
            accept [
                a_receipt_ends_what_was_accepted
                a_receipt_counts_once
                a_receipt_of_another_epoch_changes_nothing
                a_receipt_may_come_before_the_acceptance
                an_acceptance_sent_again_is_completed
                an_acceptance_without_a_deadline_waits
                an_overdue_acceptance_reads_as_unknown
                a_receipt_after_its_deadline_still_counts
                a_failed_receipt_after_a_takeover_is_doubt
            ]
            cancel [
                a_tombstone_stops_a_claim
                a_cancellation_can_be_sent_again
                a_released_operation_can_be_cancelled
                what_runs_or_ran_is_not_cancelled
                anothers_operation_is_not_cancelled
                without_a_tombstone_absent_stays_absent
                a_tombstone_at_exp_is_refused
            ]
            query [
                absence_is_told_with_the_clock
                calls_on_an_absent_operation_change_nothing
                a_listing_shows_what_reads_as_the_state_now
                a_listing_keeps_to_its_tenant
                a_listing_pages_in_the_order_of_ids
                every_call_ends_in_time
            ]
            retention [
                what_ended_is_kept_until_its_time
                what_ended_is_dropped_after_its_time
                what_is_open_is_never_dropped
                retention_counts_from_the_later_of_end_and_exp
                a_reclaimed_operation_is_not_dropped
                a_purge_keeps_to_its_limit
            ]
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_list {
    (() $($group:ident [$($case:ident)*])*) => {
        vec![$($(
            $crate::conformance::Case {
                group: stringify!($group),
                name: stringify!($case),
                run: |harness| Box::pin(async move {
                    $crate::conformance::$group::$case(&harness).await;
                }),
            },
        )*)*]
    };
}

/// Takes the groups one by one, so that a group that was left out can be told from the others.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_tests {
    (($($args:tt)*)) => {};
    (($harness:path, retention = $why:literal) retention [$($case:ident)*] $($rest:tt)*) => {
        $(
            #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = $why]
            async fn $case() {
                $crate::conformance::retention::$case(&$harness().await).await;
            }
        )*
        $crate::__conformance_tests!(($harness, retention = $why) $($rest)*);
    };
    (($harness:path $(, $($args:tt)*)?) $group:ident [$($case:ident)*] $($rest:tt)*) => {
        $(
            #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                $crate::conformance::$group::$case(&$harness().await).await;
            }
        )*
        $crate::__conformance_tests!(($harness $(, $($args)*)?) $($rest)*);
    };
}
