#!/usr/bin/env python3
"""Is a page of weft report well-formed, closed to the network, and readable for everybody? Standard library alone.
    tests/report_page.py [--whole] PAGE.html...       prints what is wrong, exit 1; --whole: no label of a figure is cut
WCAG 2.2 AA as far as a program sees it: language, one h1, landmarks, captions, scopes, names of figures, labels of inputs, links
that lead somewhere, contrast of every pair of colours of the style in light and dark."""
import re, sys
import xml.etree.ElementTree as tree

H, S = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/2000/svg}"
# (what is read, what it lies on, least contrast): text 4.5.
PAIRS = [("ink", "paper", 4.5), ("dim", "paper", 4.5), ("link", "paper", 4.5), ("ink", "head", 4.5), ("dim", "head", 4.5),
         ("ink", "pick", 4.5), ("link", "pick", 4.5), ("link", "head", 4.5)]

def light(color):
    color = color if len(color) == 7 else "#" + "".join(2 * c for c in color[1:])
    parts = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    parts = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

def contrast(a, b):
    x, y = sorted((light(a), light(b)))
    return (y + 0.05) / (x + 0.05)

def roots(style):
    """What light and dark set; forced colours are looked at by themselves."""
    return [part for part in re.findall(r":root\{(.*?)\}", style, re.S) if "#" in part]

# Words of CSS Color 4 for the colours that a user forces.
SYSTEM = ("Canvas", "CanvasText", "LinkText", "GrayText", "Highlight", "HighlightText", "ButtonText")

def block(style, head):
    """What stands between the braces behind head; "": it is not there."""
    at = style.find(head + "{")
    depth, from_ = 0, at + len(head)
    for i in range(from_, len(style) if at >= 0 else 0):
        depth += {"{": 1, "}": -1}.get(style[i], 0)
        if depth == 0:
            return style[from_ + 1:i]
    return ""

def check_forced(style, bad):
    """Where a user forces colours every colour of the page is one of the system's, what is read stands on what it is written
    for, and marks have an edge, as their fill may be that of the ground."""
    forced = block(style, "@media (forced-colors:active)")
    colors = dict(re.findall(r"--(\w+):(\w+)", block(forced, ":root")))
    used = set(re.findall(r"var\(--(\w+)\)", style))
    bad += ["forced colours: --%s is not one of the system's" % x for x in sorted(used) if colors.get(x) not in SYSTEM]
    bad += ["forced colours: %s is no colour of the system" % x
            for x in re.findall(r"(?:stroke|fill|color|background):([\w#]+)", forced) if x not in SYSTEM]
    bad += ["forced colours: %s on %s" % (colors.get(a), colors.get(b)) for a, b, least in PAIRS
            if colors.get(a) == colors.get(b) or colors.get(b) != "Canvas" or colors.get(a) == "Canvas"]
    if not re.search(r"svg g\[fill\][^{]*\{stroke:CanvasText\}", forced):
        bad.append("forced colours: marks have no edge")
    if not re.search(r"\.on[^{]*\{outline:[^}]*Highlight\}", forced):
        bad.append("forced colours: what is selected has no outline")

def check_colors(style, bad):
    sets = [dict(re.findall(r"--(\w+):(#\w+)", part)) for part in roots(style)]
    if len(sets) != 2:
        bad.append("the style has %d sets of colours, expected light and dark" % len(sets))
    for colors in sets:
        bad += ["%s on %s: contrast %.2f, expected %.1f" % (a, b, contrast(colors[a], colors[b]), least)
                for a, b, least in PAIRS if contrast(colors[a], colors[b]) < least]

# Lines of these are lighter than 3 to 1; their markers have an edge and their dashes differ. White is paper with an edge.
LIGHT = ("#E69F00", "#56B4E9")

def papers(style):
    return [re.search(r"--paper:(#\w+)", part).group(1) for part in roots(style)]

def check_marks(svg, paper, bad):
    """What is drawn stands out from the page, light or dark, by itself or by its edge; series differ in shape and in colour."""
    shapes = {}
    name = "".join(svg.find(S + "title").itertext())
    for g in svg.iter(S + "g"):
        fill, edge = g.get("fill"), g.get("stroke")
        if not any(x.tag in (S + "path", S + "a") for x in g) or edge == "currentColor" or g.get("class"):
            continue # ink and what follows the page
        for ground in paper:
            if max(contrast(c, ground) for c in (fill, edge) if c and c != "none") < 3 and not (fill is None and edge in LIGHT):
                bad.append("%s: %s with edge %s on %s has a contrast below 3" % (name, fill, edge, ground))
    for g in svg.findall(S + "g"): # markers; boxes are in an svg of their own
        paths = [p for p in g.iter(S + "path")]
        if paths and g.get("fill") not in (None, "none"):
            shapes.setdefault(g.get("fill"), re.sub(r"-?[\d.]+", "", paths[0].get("d").split("z")[0])[:40] + str(paths[0].get("d").count("l")))
    if len(set(shapes.values())) < len(shapes):
        bad.append("%s: series of one shape: %s" % (name, shapes))

def check(path, whole=False):
    bad = []
    text = open(path, encoding="utf-8").read()
    try:
        root = tree.fromstring(text)
    except tree.ParseError as e:
        return ["not well-formed: %s" % e]
    def need(what, ok):
        if not ok:
            bad.append(what)
    every = lambda name: list(root.iter(H + name))
    words = lambda x: "".join(x.itertext()).strip() if x is not None else ""
    need("lang", root.get("lang"))
    need("title", words(root.find(H + "head/" + H + "title")))
    need("one h1", len(every("h1")) == 1)
    for name in ("header", "main", "footer"):
        need("one " + name, len(every(name)) == 1)
    ids = [x.get("id") for x in root.iter() if x.get("id")]
    need("ids are unique", len(ids) == len(set(ids)))
    for section in every("section"):
        need("a section has the name of its heading", section.get("aria-labelledby") in ids)
    for table in every("table"):
        need("a table has a caption", words(table.find(H + "caption")))
        need("a th has a scope", all(x.get("scope") for x in table.iter(H + "th")))
    for svg in [s for f in every("figure") for s in f.findall(S + "svg")]:
        need("a figure has a name", words(svg.find(S + "title")))
        need("a figure has a description", words(svg.find(S + "desc")))
        check_marks(svg, papers(words(every("style")[0])), bad)
        need("a label is whole", not whole or not [x for x in svg.iter(S + "text") if words(x).endswith("\u2026")])
        need("a mark has a name", all(words(next(a.iter(S + "title"), None)) for a in svg.iter(S + "a")))
        groups = {x: g.get("font-size") for g in svg.iter(S + "g") for x in g}
        sizes = [float(x.get("font-size") or groups.get(x) or 13) for x in svg.iter(S + "text")]
        need("text of 9 px at 400 px", min(sizes or [13]) * (400 - 24) / float(svg.get("viewBox").split()[2]) >= 9 - 0.15)
    need("an input has a label", all(x in [i for l in every("label") for i in l.iter(H + "input")] for x in every("input")))
    need("tabindex is in the order of the page", all(x.get("tabindex", "0") == "0" for x in root.iter()))
    all_rows = '{"all":true' in text
    for a in list(root.iter(H + "a")) + list(root.iter(S + "a")):
        need("a link stays on the page: %s" % a.get("href"), a.get("href", "").startswith("#"))
        need("a link leads somewhere: %s" % a.get("href"), not all_rows or a.get("href")[1:] in ids)
    need("nothing is loaded", not [x for x in root.iter() if x.get("src") or x.tag in (H + "img", H + "iframe", H + "link")])
    rest = re.sub(r'xmlns="http://www.w3.org/(1999/xhtml|2000/svg)"', "", text)
    need("no address", not re.search(r"https?:|url\(|@import", rest))
    need("the policy", "default-src 'none'" in every("meta")[1].get("content"))
    style, script = words(every("style")[0]), words(every("script")[1])
    need("script of at most 8 kB: %d" % len(script), len(script) <= 8000)
    need("style of at most 4 kB: %d" % len(style), len(style) <= 4000)
    check_colors(style, bad)
    check_forced(style, bad)
    return sorted(set(bad))

failed = False
for page in [x for x in sys.argv[1:] if x != "--whole"]:
    for line in check(page, "--whole" in sys.argv):
        print("%s: %s" % (page.rsplit("/", 1)[-1], line))
        failed = True
sys.exit(failed)
