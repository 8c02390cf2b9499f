// What a page of weft report does to itself when it is opened: report.sh puts this at the end of its script. The outcome becomes an
// attribute of the page, which --dump-dom shows; the load event is over before that, so all is done in it, behind the page's own.
function selftest() {
  var bad = [], need = function (what, ok) { if (!ok) bad.push(what); }, c, k, seen, a, tr;
  var type = function (s) { word.value = s; word.dispatchEvent(new Event('input')); };
  for (k = cols.length - 1; k > 0 && cols[k].w; k--);
  c = cols[k];
  doc.querySelector('th[data-c="' + k + '"] button').click();
  need('aria-sort', doc.querySelector('th[data-c="' + k + '"]').getAttribute('aria-sort') === 'ascending');
  seen = Array.prototype.map.call(body.rows, function (r) { return value(c, nth[idOf(r)]); });
  need('sort', seen.every(function (v, i) { return !i || v === null || (seen[i - 1] !== null && v >= seen[i - 1]); }));
  doc.querySelector('th[data-c="' + k + '"] button').click();
  need('sort down', value(c, nth[idOf(body.rows[0])]) >= seen[0]);
  type('no row has these words'); need('filter', body.rows.length === 0);
  type(''); need('filter off', body.rows.length === (data.all ? n : Math.min(n, STEP)));
  front.click(); need('front', body.rows.length === Math.min(data.front.length, data.all ? n : STEP));
  front.click();
  a = doc.querySelector('svg a[data-p]');
  if (a) {
    a.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
    tr = doc.getElementById('p' + a.dataset.p);
    need('mark to row', tr && tr.classList.contains('on'));
    need('hash', location.hash === '#p=' + a.dataset.p);
    tr = body.rows[body.rows.length - 1]; tr.click();
    need('row to mark', tr.classList.contains('on'));
    a.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
    need('hover', doc.getElementById('p' + a.dataset.p).classList.contains('at'));
  }
  need('csv', csv().split('\n')[0].split(',')[0] === cols[0].n);
  root.dataset.selftest = bad.length ? bad.join(', ') : 'ok';
}
addEventListener('load', function () {
  root.dataset.laidOut = Math.round(doc.body.offsetHeight && performance.now());
  selftest();
});
