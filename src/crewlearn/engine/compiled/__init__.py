"""The compiled loop: its kernel, its inputs, and how it is compiled and cached."""
