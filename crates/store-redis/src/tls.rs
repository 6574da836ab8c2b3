//! Whom to trust. The provider is named, since a program may have two of them.

use std::sync::Arc;

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};

use crate::ConfigError;

/// Trusts whom this machine trusts. Single certificates that can't be read are left out, as most machines have some.
pub(crate) fn of_this_machine() -> Result<ClientConfig, ConfigError> {
    config(rustls_native_certs::load_native_certs().certs)
}

/// Trusts the certificates in a PEM text.
pub(crate) fn trusting(pem: &[u8]) -> Result<ClientConfig, ConfigError> {
    let certificates = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    config(certificates.map_err(|_| ConfigError::Tls)?)
}

fn config(certificates: Vec<CertificateDer<'static>>) -> Result<ClientConfig, ConfigError> {
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(certificates);
    if added == 0 {
        return Err(ConfigError::Tls);
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|_| ConfigError::Tls)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
