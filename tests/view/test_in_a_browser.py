"""Views and reports in a headless browser: they turn, tell values, and reach no network. One browser for all."""

import re
import shutil
from collections import namedtuple

import numpy as np
import pytest
from PIL import Image

import calderon as cal
from calderon.case import parse
from calderon.report import run, write
from calderon.view import Field, Scene, Steps, Surface, View
from surface_case import surface_case

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright, of the extra [test]")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: apt-get install chromium")
Opened = namedtuple("Opened", "page problems requests")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        options = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        running = driver.chromium.launch(executable_path=CHROMIUM, args=options)
        yield running
        running.close()


@pytest.fixture
def opened(browser):
    """A function that opens a file; whatever is on its page must neither complain nor send a request."""
    found = []

    def open_file(path, width=1000, height=640):
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(120_000)  # ms; with other tests a page is drawn by one busy processor
        one = Opened(page, [], [])
        page.on("console", lambda message: one.problems.append(message.text))
        page.on("pageerror", lambda error: one.problems.append(str(error)))
        page.on("request", lambda request: one.requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_function("document.querySelector('figure.cv').calderon")
        found.append((one, path))
        return page

    yield open_file
    for one, path in found:
        assert not one.problems
        assert [url for url in one.requests if not url.startswith("data:")] == [path.as_uri()]
        one.page.close()


PIXEL = """point => {
  const view = document.querySelector('figure.cv').calderon, box = view.canvas.getBoundingClientRect();
  const [x, y] = view.camera.project(point, box.width, box.height);
  return [box.left + x, box.top + y];
}"""
CAMERA = "(c => [c.azimuth, c.elevation, c.half])(document.querySelector('figure.cv').calderon.camera)"


def tip(page, point):
    """Text that is shown while the mouse is at a point (3,) in space."""
    x, y = page.evaluate(PIXEL, point.tolist())
    page.mouse.move(x, y)
    page.wait_for_function("!document.querySelector('.cv-tip').hidden")
    page.wait_for_timeout(60)
    return page.inner_text(".cv-tip")


def numbers(text):
    return [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?", text.replace("−", "-"))]


def test_a_function_turns_and_tells_its_values(tmp_path, opened):
    mesh = cal.mesh.sphere(1.0, 0.4)
    linear = cal.P1(mesh).interpolation(lambda x: (2.0 + x[:, 0]) * np.exp(1j))
    page = opened(cal.Function(linear.space, linear.coefficients, "pressure", "Pa").to_html(tmp_path / "u.html"))
    facing = int(np.argmax(mesh.normals @ [0.4, -0.7, 0.5]))
    centre = mesh.centroids[facing]
    text = tip(page, centre)
    value, real, imaginary, *place, triangle = numbers(text)
    pixel = 0.006  # metres
    assert abs(value - (2 + centre[0])) < pixel
    assert np.allclose([real, imaginary], value * np.array([np.cos(1), np.sin(1)]), atol=2e-3)
    assert np.allclose(place, centre, atol=pixel) and triangle == facing
    assert text.splitlines()[::2] == ["|pressure|", "complex", "at", "triangle"]
    assert page.locator(".cv-ticks span").all_inner_texts()[:3] == ["0", "1", "2"]  # of |u| from 0 to 3 Pa
    page.click("text=extremes")
    page.click("text=bands")
    with page.expect_download() as saved:
        page.click("[title='save this picture']")
    with Image.open(saved.value.path()) as picture:
        high, wide = picture.height, picture.width
    stage = page.evaluate("(s => [s.clientWidth, s.clientHeight])(document.querySelector('.cv-stage'))")
    assert (wide, high > stage[1] + 100) == (stage[0], True)  # with the title above and the bar below
    page.click("text=phase")
    assert numbers(tip(page, centre))[0] == 57.3
    before, picture = page.evaluate(CAMERA), page.evaluate("document.querySelector('canvas').toDataURL()")
    page.mouse.down()
    page.mouse.move(500, 400, steps=3)
    page.mouse.up()
    page.mouse.wheel(0, -300)
    page.wait_for_function(f"before => {CAMERA}[2] < before[2]", arg=before)  # the wheel was the last
    after = page.evaluate(CAMERA)
    assert after[0] != before[0] and after[1] != before[1]
    page.wait_for_function("before => document.querySelector('canvas').toDataURL() != before", arg=picture)
    page.set_viewport_size({"width": 420, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 420


@pytest.mark.parametrize("own", [True, False])
def test_steps_have_a_range_of_colours_together_or_each(own, tmp_path, opened):
    mesh = cal.mesh.plate(lengths=[1.0, 1.0], h=0.5)
    values = [np.full(mesh.number_of_vertices, size, complex) for size in (1.0, 100.0)]
    layer = Surface("plate", mesh.vertices, mesh.triangles, (Field("current", "J", "A/m", values),))
    scene = Scene((layer,), steps=Steps("frequency", ["1 GHz", "2 GHz"], 0, own=own))
    (tmp_path / "s.html").write_text(View(scene).html(), encoding="utf-8")
    page = opened(tmp_path / "s.html")

    def top():
        return numbers(page.input_value("[aria-label='upper end of the colours']"))[0]

    assert top() == (1 if own else 100)
    page.evaluate("document.querySelector('figure.cv').calderon.goTo(1)")
    assert top() == 100
    page.evaluate("document.querySelector('figure.cv').calderon.goTo(0)")
    page.click("text=one scale")
    assert top() == (100 if own else 1)
    assert page.locator("text=dB").count() == 1  # of complex values
    # currents that flow to all sides do not cancel where they begin; others are averaged
    mesh = "{ triangles: [0, 1, 2, 0, 3, 4], fans: [0, 1, 2, 0, 4, 5], areas: [1, 1] }, true)"
    field = '{ components: 3, on: "triangles" }'
    corner = [f"atCorners(Float32Array.of({v}, 0, 0, {w}, 0, 0), {field}, {mesh}[0]" for v, w in ((1, -1), (3, 1))]
    assert [page.evaluate(each) for each in corner] == [1, 2]


CURVE = """() => {
  const { chart } = document.querySelectorAll('.chart')[1];
  chart.root.scrollIntoView();
  const box = chart.drawing.getBoundingClientRect();
  const { x, y } = chart.data.series[0], i = 60;
  return [box.left + chart.x(x[i]), box.top + chart.y(y[i]), y[i]];
}"""


def test_a_report_has_live_curves_and_pictures_at_any_width(tmp_path, opened):
    output = 'far_field = { plane = "xy", count = 181 }\nslice = { plane = "xy", points = 12 }\nsurface = []'
    waves = "[[wave]]\ndirection = [-1, 0, 0]\namplitude = 3\n[[wave]]\nkind = 'point-source'\nposition = [0, 4, 0]\n"
    results = run(parse(surface_case(output) + waves))
    write(results, tmp_path / "out")
    page = opened(tmp_path / "out" / "report.html")
    left, top, level = page.evaluate(CURVE)
    page.mouse.move(left, top)
    page.wait_for_function("!document.querySelectorAll('.chart')[1].chart.tip.hidden")
    shown = page.evaluate("document.querySelectorAll('.chart')[1].chart.tip.innerText")
    assert abs(numbers(shown)[1] - level) < 0.01 and "dB re 1 m" in shown
    with page.expect_download() as saved:
        page.locator(".chart").nth(1).locator("button", has_text="CSV").click()
    head, *rows = saved.value.path().read_text().splitlines()
    assert "dB re 1 m" in head and len(rows) == 181 and abs(float(rows[60].split(",")[1]) - level) < 1e-6
    page.click(".enlarge")
    assert page.is_visible("dialog.large img")
    page.click("dialog.large")
    page.click("button.copy")
    page.wait_for_selector("button.copy >> text=copied")
    page.click("text=Re >> nth=0")
    page.click("[title='ωt: play']")
    page.wait_for_function("document.querySelector('figure.cv').calderon.phase > 0")
    steps_go_over_the_waves(page, results)
    page.set_viewport_size({"width": 420, "height": 800})
    page.wait_for_function("document.documentElement.scrollWidth <= 420")


def steps_go_over_the_waves(page, results):
    """The slider over sources, with the pressure of each at a place."""
    assert "2 further waves in the view" in page.inner_text("body")
    place = results.mesh.centroids[np.argmax(results.mesh.normals @ [0.3, -0.6, 0.74])]
    page.click("text=abs >> nth=0")
    found, labels = [], []
    for _ in range(3):
        found.append(numbers(tip(page, place))[0])
        labels.append(page.inner_text(".cv-long output"))
        page.click("[title='source: one step on']")
    assert labels == ["1: along (1, 0, 0)", "2: along (−1, 0, 0)", "3: from (0, 4, 0) m"]
    problem = cal.SoundHardScattering(results.mesh, 1.5)
    sources = [cal.PlaneWave([1, 0, 0]), cal.PlaneWave([-1, 0, 0], amplitude=3.0), cal.PointSource([0, 4.0, 0])]
    right = [abs(each.field([place * 1.001])[0]) for each in problem.solve_all(sources)]
    assert found == pytest.approx(right, rel=0.03)
    assert page.evaluate(
        "document.querySelector('.cv-panel').scrollWidth <= document.querySelector('.cv-panel').clientWidth"
    )
