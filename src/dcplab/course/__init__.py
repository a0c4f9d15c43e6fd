"""What a lab is, as data: its parts, cases, bank and source."""
