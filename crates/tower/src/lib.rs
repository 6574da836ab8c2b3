//! Counterfoil for HTTP: a tower layer around one handler.
