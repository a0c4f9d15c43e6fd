"""The model that both servers run. A checkout has the engine's file itself in this one's place."""

from dcplab.engine.model import SM_SCALE, Activations, Model

__all__ = ["SM_SCALE", "Activations", "Model"]
