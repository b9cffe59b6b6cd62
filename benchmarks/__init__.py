"""Measurements that anybody can repeat; see README.md."""
