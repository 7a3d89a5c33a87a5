"""Files of gmsh (.msh) of versions 2 and 4, as text and binary."""
