"""What a release costs its readers: information loss, group sizes, error of counting queries."""
