"""What a simulation gives: fields at points and in files, amplitudes, far fields, absorption."""
