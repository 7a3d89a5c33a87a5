"""The discrete curl on blocks of elements: reference element, traces, fluxes, boundary conditions."""
