//! The table: each defect, and the cases that it must fail.

macro_rules! table {
    ($($(#[doc = $doc:literal])* $defect:ident [$($case:ident),* $(,)?],)*) => {
        /// What is wrong with a store.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Defect {
            $($(#[doc = $doc])* $defect,)*
        }

        /// Each defect with its row.
        pub(crate) const ROWS: &[(Defect, &[&str])] = &[
            $((Defect::$defect, &[$(stringify!($case)),*]),)*
        ];
    };
}

table! {
    // The record.
    ForgetsExp [a_first_acquire_claims_in_the_first_epoch],
    ForgetsWhoResolved [a_fence_shuts_the_old_owner_out],
    ForgetsReasons [
        a_fence_shuts_the_old_owner_out,
        a_tombstone_stops_a_claim,
        an_owner_that_doubted_may_still_complete,
    ],
    ForgetsProviderRefs [
        a_late_note_of_the_same_owner_is_kept,
        a_note_is_on_record,
        references_are_kept_by_a_completion,
    ],
    ForgetsResultRefs [
        a_fence_shuts_the_old_owner_out,
        a_note_is_on_record,
        a_receipt_ends_what_was_accepted,
        references_are_kept_by_a_completion,
    ],
    KeepsNoEvidence [
        a_completion_by_another_owner_is_only_evidence,
        a_completion_of_another_epoch_is_only_evidence,
        a_fence_shuts_the_old_owner_out,
        a_takeover_within_its_window_takes_the_next_epoch,
        the_last_four_lost_completions_are_kept,
    ],
    KeepsOneEvidence [the_last_four_lost_completions_are_kept],
    ForgetsTheReleasedOwner [a_released_operation_keeps_its_epoch],
    ShortensLeases [a_renewal_never_shortens_a_lease],
    RewritesTheEnded [a_terminal_outcome_never_changes],
    // Acquire and renew.
    ChecksThenActs [
        of_1000_concurrent_acquires_one_claims,
        of_64_concurrent_acquires_one_claims,
    ],
    IgnoresHash [another_hash_is_told_in_every_state],
    IgnoresHashOfTheEnded [another_hash_is_told_in_every_state],
    IgnoresTenant [another_subject_is_foreign_in_every_state],
    IgnoresPrincipal [
        a_stranger_learns_nothing_of_the_hash,
        another_subject_is_foreign_in_every_state,
    ],
    IgnoresScope [another_scope_is_foreign_in_every_state],
    TellsStrangersOfTheHash [a_stranger_learns_nothing_of_the_hash],
    GivesTheReleasedOwnerATurn [the_released_owners_own_copy_is_refused],
    TakesOverTheRunning [only_the_unknown_is_taken_over],
    TakesOverTheHeld [what_a_reconciler_holds_is_not_taken_over],
    RefusesRetriesAfterExp [a_retry_after_exp_gets_the_result],
    EndsTakeoversAtExp [a_takeover_after_exp_passes],
    RefusesTheSameOwner [
        a_claim_asked_again_begins_its_lease_anew,
        a_claim_from_released_names_what_it_read,
        a_takeover_within_its_window_takes_the_next_epoch,
        the_same_owner_gets_the_same_claim_again,
    ],
    ShowsNothingOfTheRunning [
        another_owner_finds_it_in_flight,
        of_1000_concurrent_acquires_one_claims,
        of_64_concurrent_acquires_one_claims,
        only_the_unknown_is_taken_over,
    ],
    ClaimsTheLapsed [
        a_lapsed_lease_reads_as_unknown_and_is_not_claimed,
        an_overdue_acceptance_reads_as_unknown,
        time_alone_never_frees_an_operation,
    ],
    IgnoresExpOfTheReleased [a_claim_from_released_at_exp_is_refused],
    NeedsNoApproval [a_missing_approval_is_not_an_approval],
    ClaimsTheReleasedUnnamed [
        a_claim_from_released_names_what_it_read,
        a_released_operation_keeps_its_epoch,
    ],
    ClaimsTheReleasedWhateverIsNamed [
        a_claim_from_released_names_what_it_read,
        a_delayed_copy_of_an_older_claim_is_refused,
    ],
    NeverTakesOver [
        a_failed_receipt_after_a_takeover_is_doubt,
        a_release_after_a_takeover_is_doubt,
        a_takeover_after_exp_passes,
        a_takeover_within_its_window_takes_the_next_epoch,
        a_verdict_on_a_stale_epoch_is_refused,
        a_vouched_verdict_ends_the_doubt,
        done_after_a_takeover_stands,
        failed_after_a_takeover_is_doubt,
    ],
    TakesOverForEver [a_takeover_past_its_window_is_refused],
    TakesOverUnnamed [a_takeover_names_what_it_read],
    FreesTheLapsed [
        a_lapsed_lease_reads_as_unknown_and_is_not_claimed,
        an_overdue_acceptance_reads_as_unknown,
        time_alone_never_frees_an_operation,
    ],
    IgnoresTombstones [
        a_released_operation_can_be_cancelled,
        a_tombstone_stops_a_claim,
    ],
    BeginsTheReleasedAnew [
        a_claim_from_released_names_what_it_read,
        a_released_operation_keeps_its_epoch,
        the_released_owners_own_copy_is_refused,
    ],
    ClaimsWhatIsGone [a_claim_that_names_a_missing_record_is_told],
    EndsClaimsEarly [a_claim_just_before_exp_passes],
    EndsClaimsLate [
        a_callers_wrong_clock_changes_nothing,
        a_claim_at_exp_is_refused,
        a_tombstone_at_exp_is_refused,
    ],
    IgnoresExp [
        a_callers_wrong_clock_changes_nothing,
        a_claim_at_exp_is_refused,
        a_tombstone_at_exp_is_refused,
    ],
    BelievesTheCallersClock [
        a_callers_wrong_clock_changes_nothing,
        a_claim_at_exp_is_refused,
        a_tombstone_at_exp_is_refused,
    ],
    CountsNoAttempts [
        a_claim_from_released_names_what_it_read,
        a_first_acquire_claims_in_the_first_epoch,
        a_takeover_within_its_window_takes_the_next_epoch,
        not_executed_frees_it_in_the_next_epoch,
    ],
    KeepsResultsFromRetries [
        a_completion_stands_and_every_retry_gets_it,
        a_fence_shuts_the_old_owner_out,
        a_receipt_ends_what_was_accepted,
        a_result_is_kept_byte_for_byte,
        a_retry_after_exp_gets_the_result,
    ],
    TellsRetriesThatTheLapsedRuns [
        a_lapsed_lease_reads_as_unknown_and_is_not_claimed,
        a_takeover_past_its_window_is_refused,
        an_overdue_acceptance_reads_as_unknown,
        time_alone_never_frees_an_operation,
    ],
    HangsOnTheAbsent [
        calls_on_an_absent_operation_change_nothing,
        every_call_ends_in_time,
    ],
    KeepsTheLeaseOfTheFirstCall [a_claim_asked_again_begins_its_lease_anew],
    RenewsForAnybody [a_renewal_by_another_owner_or_epoch_changes_nothing],
    RenewsNothing [
        a_renewal_can_be_asked_again,
        a_renewed_lease_outlives_ten_leases,
    ],
    RevivesTheLapsed [a_renewal_after_the_lapse_is_told],
    RenewsOnce [
        a_renewal_can_be_asked_again,
        a_renewed_lease_outlives_ten_leases,
    ],
    RenewsTheEnded [an_ended_operation_is_not_renewed],
    // Complete, release, annotate and receive.
    CompletesTheAbsent [calls_on_an_absent_operation_change_nothing],
    ForgetsDoubt [
        a_failed_receipt_after_a_takeover_is_doubt,
        a_release_after_a_takeover_is_doubt,
        failed_after_a_takeover_is_doubt,
    ],
    LetsOwnersEndTheAccepted [an_acceptance_sent_again_is_completed],
    CompletesOnce [
        a_completion_sent_again_is_completed,
        a_receipt_may_come_before_the_acceptance,
        a_result_is_kept_byte_for_byte,
        an_empty_result_is_a_result,
        done_after_a_takeover_stands,
        references_are_kept_by_a_completion,
    ],
    AcceptsOnce [an_acceptance_sent_again_is_completed],
    RefusesLateCompletions [
        a_late_completion_of_the_same_owner_is_kept,
        an_owner_that_doubted_may_still_complete,
    ],
    RefusesLateAcceptances [a_receipt_may_come_before_the_acceptance],
    DoubtsTheDone [done_after_a_takeover_stands],
    DoubtsForEver [a_vouched_verdict_ends_the_doubt],
    CompletesForAnybody [
        a_completion_by_another_owner_is_only_evidence,
        the_last_four_lost_completions_are_kept,
    ],
    CompletesForAnyEpoch [a_completion_of_another_epoch_is_only_evidence],
    CompletesForTheLost [
        a_fence_shuts_the_old_owner_out,
        a_takeover_within_its_window_takes_the_next_epoch,
    ],
    LetsNotesWin [references_are_kept_by_a_completion],
    ErasesReferences [references_are_kept_by_a_completion],
    AcceptsForEver [an_overdue_acceptance_reads_as_unknown],
    AcceptsForAMoment [an_acceptance_without_a_deadline_waits],
    TruncatesResults [a_result_is_kept_byte_for_byte],
    ReadsResultsAsText [a_result_is_kept_byte_for_byte],
    ForgetsFormats [a_result_is_kept_byte_for_byte],
    TakesEmptyForNone [an_empty_result_is_a_result],
    TakesNoneForEmpty [an_empty_result_is_a_result],
    ReleasesOnce [a_release_sent_again_is_released],
    RefusesLateReleases [a_late_release_of_the_same_owner_counts],
    ReleasesForAnybody [a_release_by_another_owner_or_epoch_changes_nothing],
    NotesNothing [
        a_late_note_of_the_same_owner_is_kept,
        a_note_is_on_record,
        references_are_kept_by_a_completion,
    ],
    NotesTheEnded [an_ended_operation_takes_no_notes],
    RefusesLateNotes [a_late_note_of_the_same_owner_is_kept],
    NotesForAnybody [a_note_by_another_owner_or_epoch_changes_nothing],
    ErasesEarlierNotes [a_note_is_on_record],
    LosesReceipts [
        a_receipt_counts_once,
        a_receipt_ends_what_was_accepted,
    ],
    RefusesLateReceipts [a_receipt_after_its_deadline_still_counts],
    RefusesEarlyReceipts [a_receipt_may_come_before_the_acceptance],
    ReceivesAnythingOnceMore [a_receipt_counts_once],
    ReceivesForAnyEpoch [a_receipt_of_another_epoch_changes_nothing],
    ErasesWhatReceiptsLeaveOut [a_receipt_ends_what_was_accepted],
    // Fence, resolve, cancel, find, list and purge.
    FencesWithoutTheEpoch [
        a_fence_shuts_the_old_owner_out,
        of_two_reconcilers_one_holds,
        what_a_reconciler_holds_is_not_taken_over,
    ],
    FencesTheHeld [of_two_reconcilers_one_holds],
    FencesTheRunning [only_the_unknown_is_fenced_or_resolved],
    FencesOnce [a_fence_asked_again_is_the_same_fence],
    HoldsForEver [of_two_reconcilers_one_holds],
    FencesTheStale [a_verdict_on_a_stale_epoch_is_refused],
    ResolvesTheRunning [only_the_unknown_is_fenced_or_resolved],
    ResolvesUnvouched [failed_and_not_executed_need_the_vouch],
    WantsAVouchForAll [
        a_fence_shuts_the_old_owner_out,
        failed_and_not_executed_need_the_vouch,
    ],
    ResolvesTheStale [a_verdict_on_a_stale_epoch_is_refused],
    ResolvesTheHeld [of_two_reconcilers_one_holds],
    FreesInTheSameEpoch [not_executed_frees_it_in_the_next_epoch],
    LosesResolvedResults [a_fence_shuts_the_old_owner_out],
    CancelsForAnybody [anothers_operation_is_not_cancelled],
    CancelsAnyScope [anothers_operation_is_not_cancelled],
    BuriesTheExpired [a_tombstone_at_exp_is_refused],
    InventsTombstones [without_a_tombstone_absent_stays_absent],
    CancelsOnce [a_cancellation_can_be_sent_again],
    CancelsNoReleased [a_released_operation_can_be_cancelled],
    CancelsTheRunning [what_runs_or_ran_is_not_cancelled],
    StopsItsClockForTheAbsent [absence_is_told_with_the_clock],
    ListsAllTenants [a_listing_keeps_to_its_tenant],
    ListsWithoutLimit [a_listing_pages_in_the_order_of_ids],
    ListsTheSamePageAgain [a_listing_pages_in_the_order_of_ids],
    ListsBackwards [a_listing_pages_in_the_order_of_ids],
    ListsOnePage [a_listing_pages_in_the_order_of_ids],
    ListsNoLapsed [a_listing_shows_what_reads_as_the_state_now],
    ListsWithoutResults [a_listing_shows_what_reads_as_the_state_now],
    PurgesNothing [what_ended_is_dropped_after_its_time],
    PurgesWithoutLimit [a_purge_keeps_to_its_limit],
    PurgesEarly [
        retention_counts_from_the_later_of_end_and_exp,
        what_ended_is_kept_until_its_time,
    ],
    PurgesTheOpen [what_is_open_is_never_dropped],
    PurgesTheReclaimed [a_reclaimed_operation_is_not_dropped],
    CountsFromTheEndOnly [retention_counts_from_the_later_of_end_and_exp],
    CountsFromExpOnly [retention_counts_from_the_later_of_end_and_exp],
}
