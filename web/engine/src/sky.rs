//! Eclipses: each function is a call of the package; `web/README.md` tells how one is added.
