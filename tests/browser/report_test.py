#!/usr/bin/env python3
"""Opens reports in headless Chromium: every chart draws and has tooltips with units, faults are named, axes show the knee, the slider
moves, nothing is complained about, nothing is loaded, and the page fits at 1280 and 390 pixels, dark and light. Screenshots stay in the
folder given.

report_test.py MRCSIM REPOSITORY FOLDER; exits with 77 and a reason where there is no browser."""
import base64
import json
import pathlib
import re
import shutil
import subprocess
import sys

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
except ImportError:
    print("SKIPPED: python3-selenium is missing")
    sys.exit(77)

MRCSIM, REPOSITORY, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if not CHROMIUM or not DRIVER:
    print("SKIPPED: chromium or chromedriver is missing (Debian: chromium, chromium-driver)")
    sys.exit(77)

WIDTHS = (1280, 390)
SHOT_HEIGHT = 1500
THEMES = ("light", "dark")
failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)
        print("FAILED:", message)


def mrcsim(*arguments, code=0):
    done = subprocess.run([MRCSIM, *map(str, arguments)], capture_output=True, text=True, check=False)
    expect(done.returncode == code, f"mrcsim {' '.join(map(str, arguments))}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def make_reports():
    """A run with loss, the same with events and histograms in it, a database with each kind of study."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    pair = REPOSITORY / "tb/scenarios/pair.toml"
    quick = ("--set", "traffic.byte_scale=0.02", "--set", "host.payload=reference")
    # Three send to one, so that switch queues fill.
    flows = ["start_us,src,dst,bytes,tag"]
    flows += [f"{20 * i},{source},3,1048576,{i * 3 + source}" for i in range(40) for source in range(3)]
    (FOLDER / "incast.csv").write_text("\n".join(flows) + "\n")
    plain = "[traffic]\ntrace = \"incast.csv\"\n[fabric]\nnics = 4\nloss_rate = 0.001\n"
    (FOLDER / "incast.toml").write_text(plain)
    mrcsim("run", FOLDER / "incast.toml", "--quiet", "--out", FOLDER / "run")
    mrcsim("report", FOLDER / "run", "-o", FOLDER / "run.html")

    # The same while a port of the node under test goes and comes, and a plane is lossy for a time.
    (FOLDER / "faults.toml").write_text(plain + """
[[fault]]
at_us = 200
kind = "nic_port_loss"
where = "nic0.port3"
for_us = 250
[[fault]]
at_us = 500
kind = "loss"
where = "nic0"
probability = 0.02
for_us = 150
""")
    mrcsim("run", FOLDER / "faults.toml", "--quiet", "--out", FOLDER / "faults")
    result = json.loads((FOLDER / "faults/result.json").read_text())
    expect(len(result["events"]) >= 3, f"faults: events are {result['events']}")
    expect(any(len(buffer["histogram"]) > 2 for buffer in result["buffers"]), "faults: no buffer has a histogram")
    mrcsim("report", FOLDER / "faults", "-o", FOLDER / "faults.html")

    # Text from outside stays text.
    result["events"][0]["effect"] = "</script><img src=x onerror=alert(1)>"
    (FOLDER / "hostile").mkdir()
    (FOLDER / "hostile/result.json").write_text(json.dumps(result))
    shutil.copy(FOLDER / "faults/series.json", FOLDER / "hostile/series.json")
    mrcsim("report", FOLDER / "hostile", "-o", FOLDER / "hostile.html")

    database = FOLDER / "study.sqlite"
    mrcsim("sweep", pair, *quick, "--vary", "nic.retransmit_buffer.entries=32..512:x2", "--vary", "pcie.read_tags=64,128,256",
           "--seeds", 2, "--db", database, "--quiet")
    mrcsim("size", pair, *quick, "--buffer", "nic.retransmit_buffer.entries", "--seeds", 3, "--db", database, "--quiet")
    mrcsim("size", pair, *quick, "--all", "--buffer", "nic.retransmit_buffer.entries", "--buffer", "pcie.read_tags",
           "--seeds", 1, "--db", database, "--quiet")
    mrcsim("sweep", pair, *quick, "--vary", "fabric.loss_rate=0..0.01", "--vary", "pcie.read_tags=64..512", "--design", "lhs",
           "--points", 10, "--db", database, "--quiet")
    mrcsim("report", database, "-o", FOLDER / "study.html")

    # A run that is slow, with the answer of why.
    slow = ("--set", "traffic.rows=8", "host.payload=reference", "nic.retransmit_buffer.entries=64")
    mrcsim("why", pair, *slow, "--seeds", 2, "--db", FOLDER / "why.sqlite", "--quiet")
    mrcsim("run", pair, *slow, "--quiet", "--out", FOLDER / "slow")
    mrcsim("report", FOLDER / "slow", "--why", FOLDER / "why.sqlite", "-o", FOLDER / "slow.html")
    mrcsim("report", FOLDER / "why.sqlite", "-o", FOLDER / "why.html")


def check_source(page):
    text = page.read_text()
    expect(not re.search(r"""(?:src|href)\s*=\s*["']?\s*(?:https?:)?//""", text), f"{page.name}: refers to the network")
    expect("<link" not in text and "@import" not in text and "<iframe" not in text, f"{page.name}: loads something")
    expect(page.stat().st_size < 2_000_000, f"{page.name}: {page.stat().st_size} bytes")


def open_browser():
    options = Options()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(DRIVER), options=options)


# What is on each canvas: enough pixels that are not transparent, in several colours; and inside the page's width.
CHARTS = """
return window.mrcsimCharts.map((entry) => {
  const canvas = entry.canvas;
  if (!canvas.width || !canvas.height) return [entry.title, 0, 0, true];
  const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  const colours = new Set();
  let painted = 0;
  for (const pixel of pixels) if (pixel >>> 24) { ++painted; if (colours.size < 64) colours.add(pixel); }
  const box = canvas.getBoundingClientRect();
  return [entry.title, painted / pixels.length, colours.size, box.right <= document.documentElement.clientWidth + 1];
});
"""
# A line, bar or cell in a colour of the data, away from axes and legend.
DATA_DRAWN = """
return window.mrcsimCharts.map((entry) => {
  const area = entry.chart.chartArea, ratio = entry.chart.currentDevicePixelRatio;
  if (!area || area.width < 20) return [entry.title, 0];
  const shot = entry.canvas.getContext('2d').getImageData(area.left * ratio, area.top * ratio, area.width * ratio, area.height * ratio).data;
  let coloured = 0;
  for (let i = 0; i < shot.length; i += 4) {
    const most = Math.max(shot[i], shot[i + 1], shot[i + 2]), least = Math.min(shot[i], shot[i + 1], shot[i + 2]);
    if (shot[i + 3] > 30 && most - least > 8) ++coloured;
  }
  return [entry.title, coloured];
});
"""


# Of each chart with tooltips: what one says when it is pointed at.
TOOLTIPS = """
return window.mrcsimCharts.filter((entry) => entry.chart.options.plugins.tooltip.enabled).map((entry) => {
  const datasetIndex = entry.chart.data.datasets.findIndex((set) => set.data.length);
  const index = Math.floor((entry.chart.data.datasets[datasetIndex].data.length - 1) / 2);
  const tooltip = entry.chart.tooltip;
  tooltip.setActiveElements([{ datasetIndex, index }], { x: 0, y: 0 });
  return [entry.title, tooltip.title.concat(tooltip.body.flatMap((part) => part.lines)).join(' | ')];
});
"""
UNIT = re.compile(r"\d (Gb/s|us|%|k?bit|Mbit|entries|bytes|tags|QPs|WQEs|TLPs|packets|grants|requests|credits|headers|bits)(?![a-z])")
# Types and beginnings of the axes, and the faults named, by title.
AXES = """
return Object.fromEntries(window.mrcsimCharts.map((entry) => [entry.title, {
  x: entry.chart.scales.x.type, y_min: entry.chart.scales.y.min, label: entry.canvas.getAttribute('aria-label')}]));
"""


def check_axes(browser, name, stem):
    axes = browser.execute_script(AXES)
    if stem in ("faults", "hostile"):
        for title in ("Goodput by plane, Gb/s", "Queue depth"):
            label = axes[title]["label"]
            expect("1. nic_port_loss nic0.port3, 2. loss nic0" in label, f"{name}: {title} names other faults: {label}")
    if stem == "study":
        # The first sweep multiplied and its goodput is within a factor of two; the second is linear.
        first, second = browser.execute_script("return window.mrcsimCharts.filter((e) => e.title === 'Goodput').map((e) => "
                                               "[e.chart.scales.x.type, e.chart.scales.y.min])")
        expect(first[0] == "logarithmic" and first[1] > 0, f"{name}: first sweep: {first}")
        expect(second[0] == "linear", f"{name}: second sweep: {second}")
        sizing = axes["goodput against nic.retransmit_buffer.entries"]
        expect(sizing["x"] == "logarithmic", f"{name}: {sizing}")


def check_tooltips(browser, name):
    for title, text in browser.execute_script(TOOLTIPS):
        expect(UNIT.search(text), f"{name}: tooltip of \"{title}\" has no unit: {text}")


# The scenario in the command of a run; hostile has no run.json.
FROM = {"run": ("incast.toml",), "faults": ("faults.toml",), "slow": ("tb/scenarios/pair.toml",)}


def check_first(browser, name, stem):
    """Where the page is from and what limits the run come before the first chart."""
    text = browser.execute_script("const canvas = document.querySelector('canvas'); const range = document.createRange(); "
                                  "range.setStart(document.body, 0); range.setEndBefore(canvas); return range.toString()")
    if stem not in ("study", "why"):
        for wanted in ("What limits it, and what helps", "each port in a plane of its own", " UTC, mrcsim ", *FROM.get(stem, ())):
            expect(wanted in text, f"{name}: \"{wanted}\" is not before the first chart")
    if stem in ("faults", "hostile"):
        expect("Switch queues that were too long" in text, f"{name}: no switch queues before the first chart")
    if stem in ("slow", "why"):
        expect("99 % of the gain with" in text and "nic.retransmit_buffer.entries=" in text, f"{name}: no remedies before the first chart")


# Of the picture: height, number of links and of those that lead nowhere, colours of text and paper, and whether it comes before
# the first chart.
PICTURE = """
const picture = document.querySelector('#picture svg');
if (!picture) return null;
const fill = (selector) => getComputedStyle(picture.querySelector(selector)).fill;
const links = [...picture.querySelectorAll('a[href]')];
const chart = document.querySelector('canvas');
return [picture.getBoundingClientRect().height, links.length,
        links.filter((link) => !document.querySelector(link.getAttribute('href'))).length, fill('text'), fill('.paper'),
        !chart || Boolean(picture.compareDocumentPosition(chart) & Node.DOCUMENT_POSITION_FOLLOWING)];
"""


# Widths of the bars for the whole run, at a time, and for the whole run again; and the text beside the slider.
REPLAY = """
const slider = document.getElementById('replay');
if (!slider) return null;
const widths = () => [...document.querySelectorAll('#picture [data-full]')].map((bar) => bar.getAttribute('width')).join();
const move = (to) => { slider.value = to; slider.dispatchEvent(new Event('input')); return widths(); };
const whole = widths(), at = move(1), text = document.querySelector('.replay-bar output').textContent;
return [whole, at, move(-1), text];
"""


def check_picture(browser, name, theme, wanted):
    found = browser.execute_script(PICTURE)
    expect((found is not None) == wanted, f"{name}: picture: {found}")
    if not found:
        return
    height, links, lost, ink, paper, first = found
    expect(height > 400 and links > 50 and lost == 0 and first, f"{name}: picture: {found}")
    moved = browser.execute_script(REPLAY)
    expect(moved and moved[0] != moved[1] and moved[0] == moved[2] and " us:" in moved[3], f"{name}: replay: {moved}")
    ink, paper = (sum(map(int, re.findall(r"\d+", colour)[:3])) / 3 for colour in (ink, paper))
    expect((paper > ink + 120) if theme == "light" else (ink > paper + 120), f"{name}: picture: {ink} on {paper}")


def take_screenshots(browser, page, width, theme, height):
    """In pieces: far below what is on the screen, charts are not painted."""
    metrics = {"width": width, "height": SHOT_HEIGHT, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    for piece in range(min(10, -(-height // SHOT_HEIGHT))):
        browser.execute_script(f"window.scrollTo(0, {piece * SHOT_HEIGHT})")
        browser.execute_async_script("const done = arguments[0]; setTimeout(done, 200)")
        shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        (FOLDER / f"{page.stem}-{width}-{theme}-{piece}.png").write_bytes(base64.b64decode(shot["data"]))
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics | {"height": 900})


def check_page(browser, page, width, theme, wanted):
    name = f"{page.stem} {width} {theme}"
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                            {"features": [{"name": "prefers-color-scheme", "value": theme}]})
    browser.get(page.as_uri())
    expect(browser.execute_script("return window.mrcsimReady === true"), f"{name}: the script did not reach its end")
    height = browser.execute_script("return document.documentElement.scrollHeight")
    take_screenshots(browser, page, width, theme, height)
    check_first(browser, name, page.stem)
    browser.execute_script("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    browser.execute_async_script("const done = arguments[0]; setTimeout(done, 600)")
    # Before the canvases are read back, which the browser itself remarks on.
    for entry in browser.get_log("browser"):
        if entry["level"] in ("SEVERE", "WARNING"):
            expect(False, f"{name}: console: {entry['message']}")
    charts = browser.execute_script(CHARTS)
    titles = " | ".join(chart[0] for chart in charts)
    for title in wanted:
        expect(title in titles, f"{name}: no chart \"{title}\" among {titles}")
    for title, painted, colours, inside in charts:
        expect(painted > 0.005 and colours >= 4, f"{name}: \"{title}\" is blank ({painted:.4f} painted, {colours} colours)")
        expect(inside, f"{name}: \"{title}\" is wider than the page")
    for title, coloured in browser.execute_script(DATA_DRAWN):
        expect(coloured > 10, f"{name}: \"{title}\" shows no data ({coloured} pixels)")
    check_tooltips(browser, name)
    check_axes(browser, name, page.stem)
    check_picture(browser, name, theme, page.stem not in ("study", "why"))
    overflow = browser.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    expect(overflow <= 0, f"{name}: {overflow} pixels wider than the screen")
    small = browser.execute_script("return [...document.querySelectorAll('p,td,th,h1,h2,h3,span,summary')].filter((e) => "
                                   "e.offsetParent && parseFloat(getComputedStyle(e).fontSize) < 12).length")
    expect(small == 0, f"{name}: {small} texts below 12 pixels")
    background, ink = browser.execute_script("const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]")
    light = sum(map(int, re.findall(r"\d+", background)[:3])) / 3
    dark = sum(map(int, re.findall(r"\d+", ink)[:3])) / 3
    expect((light > dark + 120) if theme == "light" else (dark > light + 120), f"{name}: {ink} on {background}")
    browser.get_log("browser")
    requests = browser.execute_script("return performance.getEntriesByType('resource').map((e) => e.name)")
    expect(not requests, f"{name}: loads {requests}")
    print(f"{name}: {len(charts)} charts, {height} pixels high")


def main():
    make_reports()
    run_charts = ("Lost line rate", "Goodput by plane", "Message time, cumulative", "Time of nic0, by issue slot", "Time of nic3",
                  "Level over time", "EV states of nic0", "Queue depth", "Bits by structure")
    pages = {
        "run": run_charts,
        "faults": run_charts + ("Share of time at or below",),
        "hostile": ("EV states of nic0",),
        "slow": ("Lost line rate", "Goodput by plane"),
        "why": ("With each remedy",),
        "study": ("Goodput", "Message time, p99", "SRAM against goodput", "goodput against nic.retransmit_buffer.entries"),
    }
    browser = open_browser()
    try:
        for name, wanted in pages.items():
            page = FOLDER / f"{name}.html"
            check_source(page)
            for width in WIDTHS:
                for theme in THEMES:
                    check_page(browser, page, width, theme, wanted)
    finally:
        browser.quit()
    print(f"screenshots in {FOLDER}")
    return 1 if failures else 0


sys.exit(main())
