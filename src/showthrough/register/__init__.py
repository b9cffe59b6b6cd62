"""Who can be in which group of a release: by quasi-identifiers, by nearest centroid."""
