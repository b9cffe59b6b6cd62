"""From a history to an audit: what all releases together tell that none tells alone."""
