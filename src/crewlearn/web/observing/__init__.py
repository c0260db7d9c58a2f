"""What an operator watches: log lines with request ids, counters, and figures of the store."""
