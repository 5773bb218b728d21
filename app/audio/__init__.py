"""Sound in: decode to a waveform, find the speech, cut it into windows."""
