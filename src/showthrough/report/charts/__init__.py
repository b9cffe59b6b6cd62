"""Charts as Vega-Lite specs, one per file; colours are CSS variables: one spec serves light, dark and print."""
