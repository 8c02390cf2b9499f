#!/usr/bin/env python3
"""Does a page of weft report print well? By pdftotext (poppler-utils).
    tests/report_pdf.py PAGE.html PAGE.pdf       prints what is wrong, exit 1
No heading stands at the foot of a sheet without what it is of, every heading is there, and of a table that is long the rows of the front alone are."""
import re, subprocess, sys
import xml.etree.ElementTree as tree

H = "{http://www.w3.org/1999/xhtml}"
page, pdf = sys.argv[1:]
root = tree.parse(page).getroot()
words = lambda x: re.sub(r"\s+", " ", "".join(x.itertext())).strip()
text = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True).stdout
bad, sheets = [], [[re.sub(r"\s+", " ", l).strip() for l in s.split("\n") if l.strip()] for s in text.split("\f")]
lines = [l for s in sheets for l in s]
for section in root.iter(H + "section"):
    heading = words(section.find(H + "h2"))
    if not [l for l in lines if heading in l]:
        bad.append("%s is not printed" % heading)
    # A figure or a table has more lines than these.
    if [x for x in section.iter() if x.tag == H + "table" or x.tag.endswith("}svg")]:
        bad += ["%s is at the foot of a sheet" % heading for s in sheets if heading in s[-4:]]
# The name of a row and its first words tell it from the others.
rows = [x for x in root.iter(H + "tr") if x.get("id")]
start = max([k for k, l in enumerate(lines) if l == "All rows"], default=0)
for row in rows:
    cells = [words(c) for c in row][:3]
    printed = bool([l for l in lines[start:] if l.startswith(" ".join(cells))])
    if printed != (row.get("class") == "f"):
        bad.append("row %s is %sprinted" % (cells, "" if printed else "not "))
for line in bad[:20]:
    print("%s: %s" % (pdf.rsplit("/", 1)[-1], line))
sys.exit(bool(bad))
