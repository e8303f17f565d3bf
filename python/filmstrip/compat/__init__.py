"""The interfaces of other tools, done by filmstrip."""
