"""Pictures that hold still."""
