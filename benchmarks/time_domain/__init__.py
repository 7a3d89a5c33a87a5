"""Time stepping: speed, and ranks side by side."""
