"""Formulas of the documentation become MathML when it is built: a reader needs no network."""

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("latex2mathml", reason="formulas are converted by the docs extra")
pytest.importorskip("sphinx", reason="formulas are converted by the docs extra")
ROOT = Path(__file__).parents[2]
FORMULA = re.compile(
    r"\$\$(.+?)\$\$|(?<![\\$])\$(?!\s)([^$\n]+?)(?<![\s\\])\$(?!\d)|^```\{math\}\n(.+?)^```", re.S | re.M
)
CODE = re.compile(r"^```(?!\{math\}).*?^```|`[^`\n]+`", re.S | re.M)


def imported(name, monkeypatch, *folders):
    for folder in folders:
        monkeypatch.syspath_prepend(str(ROOT / folder))
    module = __import__(name)
    sys.modules.pop(name)
    return module


def formulas(path):
    for match in FORMULA.finditer(CODE.sub("", path.read_text(encoding="utf-8"))):
        yield re.sub(r"(?m)^:\w+:.*$", "", next(filter(None, match.groups())))


def test_every_formula_becomes_mathml(monkeypatch):
    mathml = imported("mathml", monkeypatch, "docs/tools").mathml
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]
    converted = [mathml(tex) for path in pages for tex in formulas(path)]
    assert len(converted) > 500
    assert all(one.startswith("<math ") and "\\" not in one for one in converted)
    assert "msqrt" in mathml(r"\sqrt{2}", block=True)


@pytest.mark.parametrize("tex", [r"\nosuchcommand x", r"\frac{1}{"])
def test_a_formula_that_would_be_shown_as_tex_is_refused(tex, monkeypatch):
    with pytest.raises(ValueError, match="no MathML"):
        imported("mathml", monkeypatch, "docs/tools").mathml(tex)


def test_pages_that_load_from_elsewhere_are_found(tmp_path, monkeypatch, capsys):
    main = imported("check_pages", monkeypatch, "scripts").main
    (tmp_path / "own.js").write_text("let x = 1")
    (tmp_path / "good.html").write_text(
        '<script src="own.js"></script><a href="https://a.org">out</a><pre>\\frac</pre>'
        '<link rel="canonical" href="https://a.org"/>'
    )
    assert main(tmp_path) == 0
    for text in (
        '<script src="https://cdn.org/mathjax.js"></script>',
        '<link rel="stylesheet" href="//cdn.org/x.css"/>',
        '<img src="missing.png"/>',
        "<style>@font-face { src: url(https://cdn.org/a.woff) }</style>",
        "<p>\\frac{1}{2}</p>",
    ):
        (tmp_path / "bad.html").write_text(text)
        assert main(tmp_path) == 1, text
        assert "bad.html" in capsys.readouterr().out
    (tmp_path / "bad.html").unlink()
    monkeypatch.setitem(main.__globals__, "LARGEST", 100)
    assert main(tmp_path) == 1 and "0.0 MB, more than 0.0001 MB" in capsys.readouterr().out
