"""Helpers for tests of the web room: callers, servers, browsers and pages."""
