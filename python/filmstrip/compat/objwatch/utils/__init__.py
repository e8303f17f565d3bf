"""ObjWatch's logger and small helpers, under its names."""
