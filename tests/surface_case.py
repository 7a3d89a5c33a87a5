"""The text of small cases of a sound-hard body in a plane wave, which several tests run."""

SPHERE = 'shape = "sphere"\nradius = 1\nh = 0.4'
CUBE = 'shape = "cube"\nsize = "1 m"\nh = "0.5 m"'


def surface_case(output, mesh=SPHERE, wavenumber=1.5):
    """A case with these lines in [output] and [mesh]."""
    physics = f'[physics]\nproblem = "sound-hard"\nwavenumber = {wavenumber}\n'
    return f"[mesh]\n{mesh}\n{physics}[incident]\ndirection = [1, 0, 0]\n[output]\n{output}\n"
