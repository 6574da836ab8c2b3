state = CASE WHEN {t_stays_unknown} THEN {unknown} ELSE p_state END,
        deadline = p_deadline,
        updated = CASE
            WHEN t.state = CASE WHEN {t_stays_unknown} THEN {unknown} ELSE p_state END THEN t.updated
            ELSE now
        END,
        result_format = CASE WHEN {t_stays_unknown} THEN t.result_format ELSE p_result_format END,
        result = CASE WHEN {t_stays_unknown} THEN t.result ELSE p_result END,
        result_ref = CASE WHEN {t_stays_unknown} THEN t.result_ref ELSE coalesce(p_result_ref, t.result_ref) END,
        reason = CASE WHEN p_state = {failed} AND t.in_doubt THEN '{in_doubt_reason}' ELSE p_reason END
