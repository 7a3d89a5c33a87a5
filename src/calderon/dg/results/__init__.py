"""Results of a simulation: fields at points and in files, amplitudes, far fields, absorption."""
