"""The words of exports: headers, names of people, numbers, dates and durations."""
