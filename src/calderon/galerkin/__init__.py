"""The double integral: blocks of Galerkin matrices from forms, by drivers that know no physics."""
