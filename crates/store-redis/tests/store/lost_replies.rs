//! lost_replies
