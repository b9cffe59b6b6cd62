"""The page of an audit as typed content: figures with their meaning in words; templates only place them."""
