/* SPDX-License-Identifier: 0BSD */
(function () {
'use strict';
var doc = document, root = doc.documentElement, data = JSON.parse(doc.getElementById('data').textContent);
var body = doc.querySelector('#rows [tabindex] tbody'), box = doc.querySelector('#rows [tabindex]'), word = doc.getElementById('word');
var front = doc.getElementById('front'), said = doc.getElementById('said'), cols = data.cols, ids, n;
var nth = {}, made = {}, order = [], drawn = 0, picked = null, STEP = 200;
var onFront = {}, texts = null;

root.className = 'js';
function idOf(x) { return x.dataset.p || x.id.slice(1); }
Array.prototype.forEach.call(body.rows, function (tr) { made[idOf(tr)] = tr; });
if (data.all) cols.forEach(function (c, k) {
  c.v = Array.prototype.map.call(body.rows, function (tr) {
    var s = tr.cells[k].textContent;
    return s === '' ? null : c.w ? s : Number(s.replace(/,/g, '')) / c.m;
  });
});
ids = cols[0].v; n = ids.length;
ids.forEach(function (id, i) { nth[id] = i; if (data.all ? made[id].className : false) data.front.push(i); });
data.front.forEach(function (i) { onFront[i] = true; });

function value(c, i) { var v = c.v[i]; return c.w && !data.all ? (0 > v ? null : c.w[v]) : v; }
function shown(c, i) {
  var v = value(c, i), x;
  if (v === null) return '';
  if (c.w) return v;
  x = v * c.m;
  if (x === 0) return '0';
  if (Math.abs(x) >= 1e15 || 1e-9 > Math.abs(x)) return x.toPrecision(5);
  return Math.abs(x) >= 1000 || Number.isInteger(x) ? Math.round(x).toLocaleString('en-US')
    : Number(x.toPrecision(5)).toLocaleString('en-US', { maximumFractionDigits: 14 });
}
function row(i) {
  var id = ids[i], tr = made[id];
  if (tr) return tr;
  tr = doc.createElement('tr');
  tr.id = 'p' + id;
  if (onFront[i]) tr.className = 'f';
  cols.forEach(function (c, k) {
    var cell = doc.createElement(k ? 'td' : 'th'), a;
    if (k) { cell.textContent = shown(c, i); if (c.w) cell.className = 't'; }
    else {
      cell.scope = 'row';
      a = doc.createElement('a'); a.href = '#p' + id; a.textContent = id; cell.appendChild(a);
    }
    tr.appendChild(cell);
  });
  return (made[id] = tr);
}
function more(to) {
  var part = doc.createDocumentFragment();
  for (to = Math.min(to, order.length); to > drawn; drawn++) part.appendChild(row(order[drawn]));
  body.appendChild(part);
}
function draw() {
  while (body.firstChild) body.removeChild(body.firstChild);
  drawn = 0; more(data.all ? n : STEP);
  box.scrollTop = 0;
  said.textContent = order.length + ' of ' + n + ' rows';
}
function text(i) {
  texts = texts || [];
  if (texts[i] === undefined)
    texts[i] = cols.map(function (c) { return shown(c, i); }).join(' ').toLowerCase();
  return texts[i];
}
function filter() {
  var words = word.value.toLowerCase().split(' ').filter(Boolean), i;
  order = [];
  for (i = 0; n > i; i++)
    if ((!front.checked || onFront[i]) && words.every(function (w) { return text(i).includes(w); })) order.push(i);
  arrange(); draw();
}
var by = -1, down = false;
function arrange() {
  var c = cols[by];
  if (!c) return;
  order.sort(function (a, b) {
    var x = value(c, a), y = value(c, b), s;
    if (x === null || y === null) return (x === null) - (y === null) || a - b;
    s = x > y ? 1 : y > x ? -1 : 0;
    return (down ? -s : s) || a - b;
  });
}
function sort(button) {
  var th = button.parentNode, k = Number(th.dataset.c);
  down = by === k ? !down : false; by = k;
  Array.prototype.forEach.call(th.parentNode.cells, function (h) { h.removeAttribute('aria-sort'); });
  th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  arrange(); draw();
}
function mark(name, id, yes) {
  Array.prototype.forEach.call(doc.querySelectorAll('[data-p="' + id + '"],#p' + id), function (x) { x.classList.toggle(name, yes); });
}
function pick(id, show) {
  var i = nth[id], tr;
  if (i === undefined) return;
  if (picked !== null) mark('on', picked, false);
  picked = id;
  tr = row(i);
  if (!tr.parentNode) body.insertBefore(tr, body.firstChild);
  mark('on', id, true);
  said.textContent = cols.map(function (c) { return c.t + ' ' + (shown(c, i) || '-') + (c.u ? ' ' + c.u : ''); }).slice(0, 12).join(', ');
  if (show) tr.scrollIntoView({ block: 'center' });
}
function hash() {
  var m = /^#p=?(\d+)$/.exec(location.hash);
  if (m) pick(m[1], true);
}
function csv() {
  var quote = function (s) { s = s === null ? '' : String(s); return /[",\n]/.test(s) ? '"' + s.replace(/"/g, '""') + '"' : s; };
  var lines = [cols.map(function (c) { return quote(c.n); }).join(',')], i;
  for (i = 0; n > i; i++) lines.push(cols.map(function (c) {
    var v = value(c, i);
    return quote(c.w && /^[=+\-@']/.test(v) ? "'" + v : c.w || v === null ? v : Number(v.toPrecision(7)));
  }).join(','));
  return lines.join('\n') + '\n';
}
doc.addEventListener('click', function (e) {
  var t = e.target, of = t.closest('[data-p],tr[id]');
  if (t.closest('thead button')) sort(t.closest('button'));
  else if (of) {
    e.preventDefault();
    pick(idOf(of), of.tagName !== 'TR');
    try { history.replaceState(null, '', '#p=' + idOf(of)); } catch (no) { location.hash = 'p=' + idOf(of); }
  } else if (t.id === 'csv') t.href = URL.createObjectURL(new Blob([csv()], { type: 'text/csv' }));
});
['mouseover', 'mouseout', 'focusin', 'focusout'].forEach(function (kind, k) {
  doc.addEventListener(kind, function (e) {
    var of = e.target.closest ? e.target.closest('[data-p],tr[id]') : null;
    if (of) mark('at', idOf(of), k % 2 === 0);
  });
});
word.addEventListener('input', filter);
front.addEventListener('change', filter);
box.addEventListener('scroll', function () { if (box.scrollTop + box.clientHeight + 400 > box.scrollHeight) more(drawn + STEP); });
addEventListener('hashchange', hash);

addEventListener('load', function () {
  var i, first = {};
  drawn = body.rows.length;
  for (i = 0; drawn > i; i++) { order.push(nth[idOf(body.rows[i])]); first[order[i]] = true; }
  for (i = 0; n > i; i++) if (!first[i]) order.push(i);
  hash();
});
}());
