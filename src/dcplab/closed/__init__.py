"""The course as a closed book: a checkout without solutions, and the grading service that its checks ask.

``release`` writes a learner's checkout: notebooks, and ``front`` as its ``dcplab``, which knows nothing. ``service`` keeps a
Unix socket under another account, ``worker`` runs there what was asked, with the whole course. ``asks`` says what may be asked,
``shown`` what comes back, ``wire`` how it is said.
"""
