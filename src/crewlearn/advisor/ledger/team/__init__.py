"""Who held which station when: stints, and recording the team as it is."""
