"""What the proofs share: reference tracers, generated programs, readings of films."""
