"""Use cases: a request (plain data that checks itself) goes in, a result comes out, with one `Progress`."""
