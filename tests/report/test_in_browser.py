"""The report in a real browser: quiet, offline, and moved by keyboard and pointer."""

from __future__ import annotations

import numpy as np
import pytest
from browser import CHROMIUM, Browser
from hostile import hostile_findings

from pushrank.report import write_report

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")

AREA = "document.querySelector('.area')"
VIEW = "document.querySelector('.plot').getAttribute('viewBox')"
TICKS = """[...document.querySelectorAll('.axis text')].map((t) => [
    t.textContent, ...["x", "y"].map((side) => t.getBoundingClientRect()[side])
])"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(hostile_findings(n_models=7), path)
    return path


@pytest.fixture
def browser(report, tmp_path):
    with Browser(tmp_path) as opened:
        opened.open(report)
        yield opened


def test_it_opens_in_silence_and_asks_for_nothing(browser, report):
    browser.value("new Promise((r) => setTimeout(r, 300))")
    assert browser.said("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded") == []
    asked = [e["params"]["request"]["url"] for e in browser.said("Network.requestWillBeSent")]
    assert asked == [report.as_uri()]
    assert browser.value("document.title") != "broken"  # what a cell would set, could it run


def test_a_keyboard_reads_and_zooms(browser):
    reached = []
    for _ in range(30):  # by tabs alone
        browser.press("Tab")
        reached.append(browser.value("document.activeElement.className || document.activeElement.tagName"))
        if reached[-1] == "area":
            break
    assert "area" in reached
    assert reached[0] == "skip"
    assert reached.count("BUTTON") == 3
    first = browser.value(f"{AREA}.getAttribute('aria-valuetext')")
    assert first.startswith("1 rows looked at: good ")
    for _ in range(9):
        browser.press("ArrowRight")
    assert browser.value(f"{AREA}.getAttribute('aria-valuetext')").startswith("10 rows looked at: good ")
    assert browser.value("document.querySelector('.legend output').textContent").endswith(" %")
    assert browser.value(f"{AREA}.getAttribute('role')") == "slider"
    whole, ticks = browser.value(VIEW), browser.value(TICKS)
    browser.press("+")
    zoomed = browser.value(VIEW)
    assert float(zoomed.split()[2]) == pytest.approx(0.5 * float(whole.split()[2]))
    assert browser.value(TICKS) != ticks
    browser.press("End")  # the window follows
    assert browser.value(VIEW) != zoomed
    assert browser.value(f"{AREA}.getAttribute('aria-valuetext')").startswith("400 rows looked at")
    browser.press("-")
    browser.press("0")
    assert browser.value(VIEW) == whole


def test_the_script_draws_the_axes_that_were_there(browser):
    """Ticks are laid out in two languages; where they differed, the picture would jump on the first key."""
    still = browser.value(TICKS)
    for area in range(3):
        browser.value(f"document.querySelectorAll('.area')[{area}].focus({{preventScroll: true}})")
        browser.press("0")
    redrawn = browser.value(TICKS)
    assert [text for text, *_ in redrawn] == [text for text, *_ in still]
    np.testing.assert_allclose([at for _, *at in redrawn], [at for _, *at in still], atol=0.5)
    assert len(still) > 20


def test_a_pointer_reads_and_drags_to_zoom(browser):
    browser.value("document.querySelector('.area').scrollIntoView({block: 'center'})")
    box = browser.value(
        f"(({{x, y, width, height}}) => [x, y, width, height])({AREA}.getBoundingClientRect())"
    )
    x, y, width, height = box
    whole = browser.value(VIEW)
    browser.mouse("mouseMoved", x + 0.5 * width, y + 0.5 * height)
    assert browser.value("document.querySelector('.place').textContent") == "20 rows looked at"  # sqrt of 400
    browser.mouse("mousePressed", x + 0.25 * width, y + 0.5 * height)
    browser.mouse("mouseMoved", x + 0.75 * width, y + 0.5 * height)
    assert browser.value("document.querySelectorAll('.cursor rect').length") == 1
    browser.mouse("mouseReleased", x + 0.75 * width, y + 0.5 * height)
    assert float(browser.value(VIEW).split()[2]) == pytest.approx(0.5 * float(whole.split()[2]), rel=0.01)
    browser.value("document.querySelectorAll('.tools button')[2].click()")
    assert browser.value(VIEW) == whole


def test_a_model_can_be_put_aside(browser):
    hidden = "[...document.querySelectorAll('.plot')].map((p) => p.querySelectorAll('.off').length)"
    assert browser.value(hidden) == [0, 0, 0]
    browser.value("document.querySelector('.legend input').focus()")
    browser.press(" ")
    assert browser.value(hidden) == [2, 0, 0]  # its curve and its band
    browser.value(f"{AREA}.focus()")
    assert "good" not in browser.value(f"{AREA}.getAttribute('aria-valuetext')")


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_but_tables_scrolls_sideways(browser, width):
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        page=True, width=width, height=800, deviceScaleFactor=1, mobile=width < 500,
    )  # fmt: skip
    assert browser.value("document.documentElement.scrollWidth") <= width
    heights = browser.value(
        "[...document.querySelectorAll('.axis text')].map((t) => t.getBoundingClientRect().height)"
    )
    assert min(heights) >= 12  # legible without pinching


def test_on_paper_the_controls_are_gone(browser):
    browser.call("Emulation.setEmulatedMedia", page=True, media="print")
    for part in ("nav", ".tools", ".keys", ".legend input", "details"):
        assert browser.value(f"getComputedStyle(document.querySelector('{part}')).display") == "none", part
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.call("Page.printToPDF", page=True)["data"]
