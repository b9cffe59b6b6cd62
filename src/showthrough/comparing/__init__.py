"""Ways to publish one table again and again, side by side: what readers of all releases learn, and what each costs."""
