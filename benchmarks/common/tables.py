"""Tables of benchmarks/README.md from the JSON records in benchmarks/results: `python -m benchmarks --tables`.

A record is either measured, results/NAME-DATE.json as `python -m benchmarks NAME` writes it, or a table,
results/tables/NAME.json, with the rows as they are printed. A comment in README.md, `<!-- table NAME ... -->`, stands
at the end of the paragraph before each table, and the rows of the records that it names are written here.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.common.results import FOLDER

TABLES = FOLDER / "tables"
README = FOLDER.parent / "README.md"
MARKED = re.compile(r"<!-- table (.+?) -->\n\n(?:\|.*\n)*\n?")
COLUMNS = ("what", "size", "tolerance", "error", "set-up", "product", "memory", "rival", "ratio", "machine")
"""Columns of a table, in their order; those of a record that are not among them precede `rival`."""

Row = Mapping[str, str]
Found = dict[str, Any]
"""A measured record as it stands in its file."""


def stored(name: str) -> Found:
    """The content of results/tables/NAME.json."""
    return dict(json.loads((TABLES / f"{name}.json").read_text(encoding="utf-8")))


def latest(measurement: str) -> Found:
    """The newest measured record of this name, with the letter of its machine (else its own name) and its day."""
    path = max(FOLDER.glob(f"{measurement}-[0-9]*.json"), key=lambda path: path.stem[-15:])
    found = json.loads(path.read_text(encoding="utf-8"))
    letter = stored("machines")["measured"].get(path.name, path.stem)
    return {**found, "stamp": f"{letter}, {found['time'][:10]}"}


def assembly(found: Found) -> list[Row]:
    """Rows of `python -m benchmarks assembly`, with bempp-cl where it ran; rates in 10^9 evaluations per second."""
    rows = []
    for each in found["rows"]:
        peer = each["peer_seconds"]
        rows.append(
            {
                "what": f"{each['equation'].capitalize()} {each['layer'].replace('_', ' ')} {each['space']}, "
                f"{each['precision']}",
                "set-up": f"{each['seconds']:.2f} s",
                "regular part": f"{each['regular_seconds']:.3f} s",
                "of 6 x 6 points": f"{each['regular_seconds'] / each['usual_seconds']:.2f}",
                "near pairs": f"{each['near_seconds']:.3f} s",
                "rate": f"{each['evaluations_per_second'] / 1e9:.2f}",
                "of the limit": f"{100 * each['fraction_of_flops']:.0f} %",
                "rival": f"{peer:.2g} s" if peer else "",
                "ratio": f"{peer / each['seconds']:.1f}" if peer else "",
            }
        )
    return rows


def potentials(found: Found) -> list[Row]:
    """Rows of `python -m benchmarks potentials`, with bempp-cl where it ran."""
    return [
        {
            "what": each["name"].capitalize(),
            "product": f"{each['seconds']:.2f} s",
            "rate": f"{each['pairs_per_second'] / 1e9:.2f}",
            "rival": f"{each['peer_seconds']:.2g} s" if each["peer_seconds"] else "",
            "ratio": f"{each['peer_seconds'] / each['seconds']:.1f}" if each["peer_seconds"] else "",
        }
        for each in found["rows"]
    ]


def hmatrix(found: Found) -> list[Row]:
    """Rows of `python -m benchmarks hmatrix`."""
    return [
        {
            "what": f"{each['equation'].capitalize()} {each['layer'].replace('_', ' ')} {each['space']}",
            "size": f"{each['unknowns']:,}",
            "tolerance": f"{found['rtol']:g}",
            "error": f"{each['error']:.1e}",
            "set-up": f"{each['assembly_seconds']:.1f} s",
            "product": f"{1000 * each['product_seconds']:.1f} ms",
            "memory": f"{each['bytes'] / each['unknowns'] / 1024:.1f} KiB an unknown",
            "of dense": f"{100 * each['fraction_of_dense']:.1f} %",
        }
        for each in found["rows"]
    ]


def multipole_accuracy(found: Found) -> list[Row]:
    """Smallest and largest error over the tolerance of all operators, of products with a far field."""
    operators = [each for name, each in found.items() if name.split()[1:2] in (["V"], ["K"], ["K'"], ["W"])]
    row = {"what": f"Laplace on a bracket, V, K, K' and W on {len(operators)} pairs of spaces"}
    for power in range(3, 9):
        rtol = 10.0**-power
        errors = [each[f"{rtol:g}"]["error"] / rtol for each in operators if f"{rtol:g}" in each]
        far = [error for error in errors if error * rtol > 1e-13]
        row[f"1e-{power}"] = f"{min(far):.2g} - {max(far):.2g}" if far else "no far field"
    return [row]


def stepping(found: Found) -> list[Row]:
    """Rows of `python -m benchmarks dg`, both precisions in one; rates in 10^6 updates per second."""
    rows: dict[tuple[str, int], dict[str, str]] = {}
    for each in found["rows"]:
        row = rows.setdefault((each["mesh"], each["order"]), {})
        row["what"] = f"{each['mesh']}, degree {each['order']}"
        row["size"] = f"{each['tetrahedra']:,} tetrahedra"
        row[each["precision"]] = f"{each['updates'] / 1e6:.0f}"
        row[f"limit, {each['precision']}"] = f"{each['bound'] / 1e6:.0f}"
    return list(rows.values())


def ranks(found: Found) -> list[Row]:
    """Rows of `python -m benchmarks dg-scaling`, one for each mesh and degree; rates in 10^6 updates per second."""
    rows: dict[tuple[str, str, int], dict[str, str]] = {}
    for each in found["rows"]:
        row = rows.setdefault((each["mesh"], each["kind"], each["order"]), {})
        row["what"] = f"{each['mesh']}, {each['kind']}, degree {each['order']}"
        row[f"{each['ranks']} x {each['threads']}"] = f"{each['updates'] / 1e6:.0f}"
        if each["ranks"] > 1:
            row["waiting"] = f"{100 * each['waiting']:.0f} %"
    return list(rows.values())


def spheres(found: Found) -> list[Row]:
    """Spheres of `python -m benchmarks dg-accuracy`: relative errors against the series."""
    return [
        {
            "what": each["name"],
            "size": f"{each['tetrahedra']:,} tetrahedra",
            "near field": f"{100 * each['field']:.1f} %",
            "far field": f"{100 * each['far_field']:.1f} %",
            "scattered power": f"{100 * each['power']:.1f} %",
            "time": f"{each['seconds']:.0f} s",
        }
        for each in found["spheres"]
    ]


def heads(found: Found) -> list[Row]:
    """Heads of `python -m benchmarks dg-accuracy`: errors of the power in each layer and in all of them."""
    rows = []
    for each in found["heads"]:
        layers = dict(zip(("grey matter", "fluid", "bone", "skin"), each["powers"], strict=True))
        rows.append(
            {
                "what": f"degree {each['order']}, edges {1000 * each['h']:.0f} mm in tissue, "
                f"{1000 * each['air_h']:.0f} in air",
                "size": f"{each['tetrahedra']:,} tetrahedra",
                **{name: f"{100 * error:.1f} %" for name, error in layers.items()},
                "total": f"{100 * each['sum']:.1f} %",
                "time": f"{each['seconds']:.0f} s",
            }
        )
    return rows


def sound(found: Found) -> list[Row]:
    """Rows of `python -m benchmarks sound`: each figure with that of the plain sphere, and their ratios."""
    rows = []
    for plain, each in zip(found["rows"][::2], found["rows"][1::2], strict=True):
        ratios = [f"{each[key] / plain[key]:.2g}" for key in ("cpu", "bytes", "peak")]
        size = f"of {plain['unknowns']:,}" if plain["unknowns"] != each["unknowns"] else ""
        rows.append(
            {
                "what": f"{each['what']}, {each['method']}",
                "size": f"{each['unknowns']:,} {size}".strip(),
                "memory": f"{each['bytes'] / 1e6:.1f} MB, peak {each['peak'] / 1e6:.0f} MB",
                "time": f"{each['cpu']:.1f} s",
                "rival": f"{plain['what']}: {plain['cpu']:.1f} s, {plain['bytes'] / 1e6:.1f} MB, peak "
                f"{plain['peak'] / 1e6:.0f} MB",
                "ratio": f"time {ratios[0]}, memory {ratios[1]}, peak {ratios[2]}",
            }
        )
    return rows


def coupled(found: Found) -> list[Row]:
    """The row of `python -m benchmarks coupled`."""
    planned, peak = (found[f"{name}_bytes"] / 1e9 for name in ("planned", "peak"))
    inside, values, unknowns = (
        f"{found[name]:,}" for name in ("volume unknowns", "surface values", "surface unknowns")
    )
    processor, wall, factors = (f"{found[f'{name}seconds']:.0f}" for name in ("processor_", "", "factor_"))
    return [
        {
            "what": f"ball of varying material, finite elements inside, {found['method']} outside",
            "size": f"{inside}; {values} and {unknowns} outside",
            "tolerance": "1e-4",
            "error": f"field inside {100 * found['error']:.2g} %",
            "memory": f"planned {planned:.1f} GB, peak {peak:.1f} GB",
            "time": f"{processor} s (wall {wall}), factors {factors}",
            "steps": str(found["iterations"]),
        }
    ]


def host(found: Found) -> list[Row]:
    """Rows of `python -m benchmarks host --full`: host seconds of one thread, and the phases that take most of them."""
    rows = []
    for each in found["rows"]:
        most = sorted(each["phases"].items(), key=lambda phase: -phase[1])[:4]
        rows.append(
            {
                "what": each["row"] + ", kernels cut short" * each["cut"],
                "size": f"{each['unknowns']:,}",
                "host seconds": f"{each['host_seconds']:.2f}",
                "of these shared by threads": f"{each['shared_seconds']:.2f}",
                "phases": ", ".join(f"{name} {seconds:.2f}" for name, seconds in most),
            }
        )
    return rows


def sharing(found: Found) -> list[Row]:
    """Rows of `python -m benchmarks devices`: how much longer the slowest one of two backends takes than with the best
    shares, of all methods; and memory of a device that is requested before it is taken, over what is taken."""
    rows = []
    for team in dict.fromkeys(each["team"] for each in found["sharing"]):
        every = [each for each in found["sharing"] if each["team"] == team]
        longer = ", ".join(f"{each['method']} {100 * each['off']:.0f} %" for each in every)
        most = max(each["unknowns"] for each in every)
        rows.append({"what": f"longer than with the best shares: {team}", "size": f"to {most:,}", "phases": longer})
    ratios = [each["requested"] / each["taken"] for each in found["memory"]]
    most = max(each["unknowns"] for each in found["memory"])
    memory = {"what": "memory requested over taken", "size": f"to {most:,}"}
    return [*rows, memory | {"phases": f"{len(ratios)} cases, {min(ratios):.2f} to {max(ratios):.2f}"}]


MEASURED: dict[str, tuple[str, Callable[[Found], list[Row]]]] = {
    "assembly": ("assembly", assembly),
    "potentials": ("potentials", potentials),
    "hmatrix": ("hmatrix", hmatrix),
    "host": ("host", host),
    "sharing": ("devices", sharing),
    "accuracy-fmm-bracket": ("fmm-accuracy", multipole_accuracy),
    "sound": ("sound", sound),
    "coupled": ("coupled", coupled),
    "dg": ("dg", stepping),
    "dg-scaling": ("dg-scaling", ranks),
    "dg-spheres": ("dg-accuracy", spheres),
    "dg-heads": ("dg-accuracy", heads),
}
"""Tables of measured records: the measurement, and the rows of its record."""


def rows_of(name: str) -> list[Row]:
    """The rows of the table of this name, each with its machine (a letter) and day."""
    if name == "machines":
        return [{"machine": letter, "what": text} for letter, text in stored(name)["letters"].items()]
    if name in MEASURED:
        measurement, rows = MEASURED[name]
        found = latest(measurement)
        return [{**row, "machine": found["stamp"]} for row in rows(found)]
    found = stored(name)
    stamp = ", ".join(each for each in (found["machine"], found["date"]) if each)
    return [{"machine": stamp, **row} for row in found["rows"]]


def columns_of(rows: list[Row]) -> list[str]:
    """The columns that any row fills: COLUMNS in their order, with the record's own ones before `rival`."""
    filled = {column for row in rows for column, cell in row.items() if cell}
    own = dict.fromkeys(column for row in rows for column in row if column not in COLUMNS)
    place = COLUMNS.index("rival")
    return [column for column in (*COLUMNS[:place], *own, *COLUMNS[place:]) if column in filled]


def table(*names: str) -> str:
    """The Markdown of one table with the rows of these records, one after the other."""
    rows = [row for name in names for row in rows_of(name)]
    columns = columns_of(rows)
    lines = [columns, ["---"] * len(columns), *([row.get(column, "") for column in columns] for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def written(text: str) -> str:
    """The text with all its marked tables written anew."""
    made = MARKED.sub(lambda match: f"<!-- table {match[1]} -->\n\n{table(*match[1].split())}\n", text)
    return made.rstrip("\n") + "\n"


def write() -> None:
    """Write the tables of README.md anew."""
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
