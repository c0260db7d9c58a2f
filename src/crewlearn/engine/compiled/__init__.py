"""The compiled loop: the kernel, the rules that it reaches, and how it is compiled and cached."""
