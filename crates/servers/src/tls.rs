//! What a server shows to those who speak TLS with it.

use std::fmt;

/// A certificate and its key, in PEM.
#[derive(Clone)]
pub(crate) struct Tls {
    pub(crate) certificate: Vec<u8>,
    pub(crate) key: Vec<u8>,
}

impl Tls {
    pub(crate) fn new(certificate: &[u8], key: &[u8]) -> Self {
        Self {
            certificate: certificate.to_vec(),
            key: key.to_vec(),
        }
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}
