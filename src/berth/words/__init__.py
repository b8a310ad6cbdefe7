"""The sentences for people, by code: a catalogue in each language. Knows nothing else of Berth."""
