//! Gather and scatter-add along an axis.
