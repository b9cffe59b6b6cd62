"""From releases to a posterior; ``run.py`` tells the story."""
