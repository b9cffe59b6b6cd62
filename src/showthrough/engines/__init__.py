"""Where work runs: this process, all cores, or a Spark cluster."""
