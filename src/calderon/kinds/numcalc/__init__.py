"""Projects of Mesh2HRTF, whose solver NumCalc reads NC.inp: read, solved and written."""
