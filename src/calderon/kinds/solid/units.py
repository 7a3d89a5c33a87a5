"""Names of units of the two systems of a case, and multiples in which a number has few digits."""

from dataclasses import dataclass

from calderon.report.formatting import number

BASE = {
    "SI": {
        "length": "m", "stress": "Pa", "force": "N", "moment": "N m", "energy": "J", "area": "m²", "volume": "m³",
        "density": "kg/m³", "acceleration": "m/s²", "stiffness": "N/m³",
        "angular velocity": "rad/s", "heat flux": "W/m²",
    },
    "mm-N-MPa": {
        "length": "mm", "stress": "MPa", "force": "N", "moment": "N mm", "energy": "N mm", "area": "mm²",
        "volume": "mm³", "density": "t/mm³", "acceleration": "mm/s²", "stiffness": "N/mm³",
        "angular velocity": "rad/s", "heat flux": "mW/mm²",
    },
}  # fmt: skip
MULTIPLES = {
    "SI": {
        "length": ((1.0, "m"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm")),
        "stress": ((1e6, "MPa"), (1e3, "kPa"), (1.0, "Pa")),
        "modulus": ((1e9, "GPa"), (1e6, "MPa"), (1e3, "kPa"), (1.0, "Pa")),
        "force": ((1e6, "MN"), (1e3, "kN"), (1.0, "N")),
        "moment": ((1e3, "kN m"), (1.0, "N m")),
        "energy": ((1e3, "kJ"), (1.0, "J"), (1e-3, "mJ")),
    },
    "mm-N-MPa": {
        "length": ((1.0, "mm"), (1e-3, "µm"), (1e-6, "nm")),
        "stress": ((1.0, "MPa"), (1e-3, "kPa")),
        "modulus": ((1e3, "GPa"), (1.0, "MPa"), (1e-3, "kPa")),
        "force": ((1e6, "MN"), (1e3, "kN"), (1.0, "N")),
        "moment": ((1e6, "kN m"), (1e3, "N m"), (1.0, "N mm")),
        "energy": ((1e3, "J"), (1.0, "mJ")),
    },
}
"""By the kind of quantity: sizes and names, the largest first."""


@dataclass(frozen=True)
class Units:
    """The units of a case, by the name of their system."""

    system: str

    def base(self, kind: str) -> str:
        """The unit in which a quantity is computed and written to files."""
        return BASE[self.system][kind]

    def multiple(self, kind: str, size: float) -> tuple[float, str]:
        """The largest multiple that a size reaches, as a number of base units and its name; the smallest if none."""
        known = MULTIPLES[self.system][kind]
        return next((each for each in known if abs(size) >= each[0] * (1 - 1e-9)), known[-1] if size else known[0])

    def shown(self, kind: str, value: float) -> tuple[str, str]:
        """Four digits and the unit."""
        if kind not in MULTIPLES[self.system]:
            return number(value), self.base(kind)
        factor, unit = self.multiple(kind, value)
        return signed(value / factor), unit

    def text(self, kind: str, value: float) -> str:
        return " ".join(self.shown(kind, value))

    def vector(self, kind: str, values: "tuple[float, ...] | list[float]", size: float = 0.0) -> str:
        """Components in one multiple, those below 1e-4 of the largest (or of a size) as 0: "(0, 0, −1) kN"."""
        largest = max([abs(float(each)) for each in values] + [size])
        factor, unit = self.multiple(kind, largest) if kind in MULTIPLES[self.system] else (1.0, self.base(kind))
        rounded = (0.0 if abs(each) <= 1e-4 * largest else float(each) / factor for each in values)
        return f"({', '.join(signed(each) for each in rounded)}) {unit}"


def signed(value: float) -> str:
    """Four digits with a typographic minus sign."""
    return number(value + 0.0).replace("-", "\u2212")
