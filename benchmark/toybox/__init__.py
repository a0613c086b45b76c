"""The embedded world: scenes, their pictures, their captions, and what is true of them."""
