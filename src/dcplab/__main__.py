import sys

from dcplab.cli import main

sys.exit(main())
