"""From the single source of a lab, ``solutions/NN_name/NN_name.py``, to what is opened, read and released."""
