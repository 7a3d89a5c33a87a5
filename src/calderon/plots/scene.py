"""A surface rendered by PyVista in a process of its own: `python scene.py scene.npz picture.png`.

Graphics drivers of machines without a screen may crash or hang; here they take only this process along, and the caller
falls back to Matplotlib. The file holds vertices, triangles, shades (0 to 1, at vertices or on triangles), colors
(256, 4), the camera (right, up, eye), centre, half_height in metres, pixels (width, height) and edges.
"""

import sys

import numpy as np


def render(scene: str, picture: str) -> None:
    """Read the scene and write a picture on white."""
    import pyvista

    # the surface with its shades
    data = np.load(scene)
    triangles = data["triangles"]
    faces = np.column_stack([np.full(len(triangles), 3), triangles])
    body = pyvista.PolyData(data["vertices"], faces.ravel())
    (body.point_data if data["on_vertices"] else body.cell_data)["shade"] = data["shades"]
    lookup = pyvista.LookupTable(values=np.round(255 * data["colors"]).astype(np.uint8), scalar_range=(0, 1))
    # two lights: one from above, one from the eye
    plotter = pyvista.Plotter(off_screen=True, window_size=data["pixels"].tolist(), lighting="none")
    centre, eye, up, right = (data[name] for name in ("centre", "eye", "up", "right"))
    distance = 4 * body.length
    key = 0.75 * eye + 0.60 * up - 0.40 * right
    for direction, intensity in ((key, 0.72), (eye, 0.30)):
        plotter.add_light(
            pyvista.Light(position=centre + distance * direction, focal_point=centre, intensity=intensity)
        )
    # surface and camera
    plotter.background_color = pyvista.Color("white")
    plotter.add_mesh(
        body, scalars="shade", cmap=lookup, show_scalar_bar=False, show_edges=bool(data["edges"]), edge_color="#1f2933",
        line_width=1, ambient=0.45, diffuse=0.68, specular=0.12, specular_power=18, smooth_shading=True,
        split_sharp_edges=True, feature_angle=32,
    )  # fmt: skip
    plotter.camera.focal_point = centre
    plotter.camera.position = centre + distance * eye
    plotter.camera.up = up
    plotter.camera.parallel_projection = True
    plotter.camera.parallel_scale = float(data["half_height"])
    plotter.renderer.ResetCameraClippingRange()
    plotter.enable_anti_aliasing("msaa", multi_samples=8)
    plotter.screenshot(picture, transparent_background=False)


if __name__ == "__main__":
    render(sys.argv[1], sys.argv[2])
