"""What readers see: finished builds, published, listed, kept, dropped and compared."""
