"""Delivering notices: webhooks from the outbox, and digests by e-mail and chat."""
