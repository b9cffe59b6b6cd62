"""Inference in pieces that nothing ties together, wherever they are worked on: here, on all cores, on a cluster."""
