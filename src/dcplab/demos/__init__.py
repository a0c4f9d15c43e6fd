"""What a lab shows beside its exercises: one demonstration a module. What could end a process runs in one of its own."""
