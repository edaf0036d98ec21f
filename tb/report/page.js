// Draws the report from the data beside it. Every chart is listed in window.mrcsimCharts.
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const page = document.getElementById('page');
  const narrow = () => window.innerWidth < 600;
  window.mrcsimCharts = [];

  // ---- colours, read from the style sheet so that both themes have theirs
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const cssList = (name) => css(name).split(',').map((c) => c.trim());
  const series = (i) => { const all = cssList('--series'); return all[i % all.length]; };
  const withAlpha = (hex, alpha) => hex + Math.round(alpha * 255).toString(16).padStart(2, '0');
  const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  function heat(share) {
    const stops = cssList('--heat');
    const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
    const low = channels(stops[Math.floor(at)]);
    const high = channels(stops[Math.min(stops.length - 1, Math.floor(at) + 1)]);
    const mix = low.map((c, i) => Math.round(c + (high[i] - c) * (at - Math.floor(at))));
    return `rgb(${mix.join(',')})`;
  }

  // ---- text
  const number = (value, digits = 3) => {
    if (value === null || value === undefined || Number.isNaN(value)) return '–';
    if (Number.isInteger(value)) return value.toLocaleString('en-US');
    const size = Math.abs(value);
    return value.toLocaleString('en-US', { maximumFractionDigits: size >= 1000 ? 0 : size >= 100 ? 1 : digits });
  };
  const percent = (share) => `${number(100 * share, 2)} %`;
  const bits = (value) => value < 1e5 ? `${number(value)} bit` : value < 1e8 ? `${number(value / 1e3, 1)} kbit` : `${number(value / 1e6, 1)} Mbit`;
  const bytes = (value) => {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let i = 0;
    while (value >= 1024 && i < 4) { value /= 1024; ++i; }
    return `${number(value, 1)} ${units[i]}`;
  };

  // ---- page elements
  function add(parent, tag, text, className) {
    const element = document.createElement(tag);
    if (text !== undefined && text !== null) element.textContent = text;
    if (className) element.className = className;
    parent.appendChild(element);
    return element;
  }
  const section = (title, text, parent = page, id = '') => {
    const box = add(parent, 'section');
    if (id) box.id = id;
    add(box, 'h2', title);
    if (text) add(box, 'p', text);
    return box;
  };
  function cards(parent, rows) {
    const box = add(parent, 'div', null, 'cards');
    for (const [label, value, className] of rows) {
      const card = add(box, 'div', null, 'card');
      add(card, 'b', value, className);
      add(card, 'span', label);
    }
  }
  /// `columns`: [title, isNumber]; `rows`: arrays of text; `marked`: rows in bold.
  function table(parent, columns, rows, marked = () => false) {
    const box = add(add(parent, 'div', null, 'scroll'), 'table');
    const head = add(add(box, 'thead'), 'tr');
    for (const [title, isNumber] of columns) add(head, 'th', title, isNumber ? 'n' : '');
    const body = add(box, 'tbody');
    rows.forEach((row, i) => {
      const line = add(body, 'tr', null, marked(i) ? 'mark' : '');
      row.forEach((cell, k) => add(line, 'td', cell, columns[k][1] ? 'n' : ''));
    });
    return box;
  }
  /// A fold whose content is made when it is opened for the first time.
  function fold(parent, title, fill) {
    const box = add(parent, 'details');
    add(box, 'summary', title);
    box.addEventListener('toggle', () => { if (box.open && !box.dataset.filled) { box.dataset.filled = '1'; fill(box); } });
    return box;
  }

  // ---- charts
  const redraw = [];
  function chart(parent, title, height, make, note) {
    const panel = add(parent, 'div', null, 'panel');
    add(panel, 'h3', title);
    if (note) add(panel, 'p', note);
    if (typeof Chart === 'undefined') {
      add(panel, 'p', 'This chart is missing: mrcsim was built without Chart.js (Debian: libjs-chart.js).');
      return panel;
    }
    const box = add(panel, 'div', null, 'chart');
    box.style.height = `${height}px`;
    const canvas = add(box, 'canvas');
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', title);
    const entry = { title, canvas, chart: null };
    const draw = () => {
      if (entry.chart) entry.chart.destroy();
      Chart.defaults.color = css('--ink-2');
      Chart.defaults.borderColor = css('--line');
      Chart.defaults.font.family = 'system-ui, "DejaVu Sans", sans-serif';
      Chart.defaults.font.size = narrow() ? 10 : 12;
      entry.chart = new Chart(canvas, make());
    };
    draw();
    redraw.push(draw);
    window.mrcsimCharts.push(entry);
    return panel;
  }
  const axis = (title, more = {}) => ({ title: { display: true, text: title }, ...more });
  /// Tooltips in words: `title` and `lines` make texts from an item of the chart.
  const tip = (title, lines) => ({
    callbacks: {
      title: (items) => items.length ? title(items[0]) : '',
      label: (item) => [lines(item)].flat().filter(Boolean).flatMap((line) => wrapped(line)),
    },
  });
  /// A tooltip is as wide as its longest line.
  function wrapped(text, most = 72) {
    const lines = [''];
    for (const word of text.split(' ')) {
      const last = lines.length - 1;
      if (lines[last] && lines[last].length + word.length >= most) lines.push(word); else lines[last] += (lines[last] ? ' ' : '') + word;
    }
    return lines;
  }
  const meaningOf = (key) => { const p = data.parameters[key.replace(/^node\.nic\d+\./, '')]; return p ? p.meaning : ''; };
  const unitOf = (key) => { const p = data.parameters[key.replace(/^node\.nic\d+\./, '')]; return p ? p.unit : ''; };
  const withUnit = (key) => unitOf(key) && !key.endsWith(unitOf(key)) ? `${key}, ${unitOf(key)}` : key;
  /// Where all values lie in the upper half, an axis from zero would flatten the knee.
  function kneeAxis(title, values) {
    const known = values.filter((value) => typeof value === 'number' && Number.isFinite(value));
    const low = Math.min(...known), high = Math.max(...known);
    if (!known.length || low < 0.5 * high || low === high) return axis(title, { beginAtZero: true });
    return axis(`${title} (not from 0)`, { suggestedMin: low - 0.15 * (high - low), suggestedMax: high + 0.1 * (high - low) });
  }
  /// Ticks of a logarithmic axis: values that were tried if they are few, otherwise 1, 2, 5 of each decade.
  function logAxis(title, values) {
    const tried = [...new Set(values)].sort((a, b) => a - b);
    const nice = (value) => [1, 2, 5].includes(Number((value / 10 ** Math.floor(Math.log10(value) + 1e-9)).toFixed(6)));
    return axis(title, {
      type: 'logarithmic', min: tried[0], max: tried[tried.length - 1],
      afterBuildTicks: (scale) => { scale.ticks = (tried.length <= 12 ? tried : scale.ticks.map((tick) => tick.value).filter(nice)).map((value) => ({ value })); },
      ticks: { callback: (value) => number(value), autoSkip: true, minRotation: 0, maxRotation: 45 },
    });
  }
  const base = (more) => ({
    responsive: true, maintainAspectRatio: false, animation: false,
    interaction: { mode: 'nearest', intersect: false },
    ...more,
    plugins: { legend: { position: 'bottom', labels: { boxWidth: 12, boxHeight: 12 } }, ...(more.plugins || {}) },
  });
  const lineStyle = (i) => ({ borderColor: series(i), backgroundColor: series(i), borderWidth: 2, pointRadius: 0, pointHitRadius: 8, clip: 8 });

  /// At most `most` points: neighbours are averaged.
  function thin(values, most) {
    const step = Math.max(1, Math.ceil(values.length / most));
    const out = [];
    for (let i = 0; i < values.length; i += step) {
      const part = values.slice(i, i + step);
      out.push(part.reduce((a, b) => a + b, 0) / part.length);
    }
    return { values: out, step };
  }
  const timeline = (values, stepUs, most = 400) => {
    const t = thin(values, most);
    return t.values.map((y, i) => ({ x: (i + 0.5) * t.step * stepUs, y }));
  };

  /// Faults of the scenario among the events, with their ends.
  function faultsOf(events) {
    const begins = events.filter((event) => event.what.startsWith('fault.') && !event.what.endsWith('.end'));
    return begins.map((begin, i) => {
      const end = events.find((event) => event.what === `${begin.what}.end` && event.where === begin.where && event.time_us >= begin.time_us);
      return { from: begin.time_us, to: end ? end.time_us : null, label: `${i + 1}. ${begin.what.slice(6)} ${begin.where}`, effect: begin.effect };
    });
  }
  /// Faults over a chart whose x axis is time: a shade for as long as one lasts, and its name. Reactions are ticks at the bottom.
  /// `above`: the names are above the chart and begin and end are lines, so that no color of the data changes.
  const eventMarks = (events, above = false) => ({
    id: 'events',
    afterInit(c) {
      const names = faultsOf(events).map((fault) => fault.label);
      if (names.length) c.canvas.setAttribute('aria-label', `${c.canvas.getAttribute('aria-label').split('. Faults:')[0]}. Faults: ${names.join(', ')}`);
    },
    afterDatasetsDraw(c) {
      const { ctx, chartArea: area, scales: { x } } = c;
      const inside = (at) => Math.min(Math.max(at, area.left), area.right);
      const faults = faultsOf(events);
      ctx.save();
      ctx.font = `${narrow() ? 10 : 11}px system-ui, "DejaVu Sans", sans-serif`;
      ctx.textBaseline = 'top';
      ctx.fillStyle = css('--ink-2');
      for (const event of events) {
        if (!event.what.startsWith('fault.')) ctx.fillRect(inside(x.getPixelForValue(event.time_us)) - 0.5, area.bottom - 5, 1, 5);
      }
      const ends = [];
      for (const fault of faults) {
        const left = inside(x.getPixelForValue(fault.from));
        const right = fault.to === null ? area.right : inside(x.getPixelForValue(fault.to));
        ctx.fillStyle = withAlpha(css('--event'), 0.13);
        if (!above) ctx.fillRect(left, area.top, Math.max(1, right - left), area.bottom - area.top);
        ctx.fillStyle = css('--event');
        ctx.fillRect(left - 0.5, area.top, 1.5, area.bottom - area.top);
        if (above && fault.to !== null) ctx.fillRect(right - 0.5, area.top, 1, area.bottom - area.top);
        const width = ctx.measureText(fault.label).width + 8;
        const at = Math.max(area.left, Math.min(left, area.right - width));
        const row = (ends.findIndex((end) => end <= at) + 1 || ends.push(0)) - 1;
        ends[row] = at + width;
        if (row > (above ? 0 : 5)) continue;
        const top = above ? area.top - 16 : area.top + 1 + 15 * row;
        ctx.fillStyle = withAlpha(css('--panel'), above ? 1 : 0.85);
        ctx.fillRect(at + 2, top, width - 3, 14);
        ctx.fillStyle = css('--event');
        ctx.fillText(fault.label, at + 4, top + 2);
      }
      ctx.restore();
    },
  });
  const faultNote = (events) => faultsOf(events).length ? ' Shaded: faults of the scenario; ticks at the bottom: reactions of the NICs (see Events).' : '';

  /// `rows`: [label, values over time]; a cell's colour is its share of `most`. Faults are drawn over it.
  function heatMap(parent, title, rows, stepUs, most, unit, events, note) {
    const thinned = rows.map(([label, values]) => [label, thin(values, 300)]);
    const length = thinned.length ? thinned[0][1].values.length * thinned[0][1].step * stepUs : 1;
    const cells = {
      id: 'cells',
      beforeDatasetsDraw(c) {
        const { ctx, scales: { x, y } } = c;
        const cell = Math.abs(y.getPixelForValue(1) - y.getPixelForValue(0));
        ctx.save();
        thinned.forEach(([, t], row) => {
          t.values.forEach((value, i) => {
            const left = x.getPixelForValue(i * t.step * stepUs);
            const right = x.getPixelForValue((i + 1) * t.step * stepUs);
            ctx.fillStyle = heat(value / most);
            ctx.fillRect(left, y.getPixelForValue(row) - cell / 2 + 0.5, right - left + 0.6, Math.max(1, cell - 1));
          });
        });
        ctx.restore();
      },
    };
    const height = Math.max(110, 60 + (faultsOf(events).length ? 16 : 0) + thinned.length * (narrow() ? 15 : 18));
    const panel = chart(parent, title, height, () => ({
      type: 'scatter', data: { datasets: [{ data: [] }] }, plugins: [cells, eventMarks(events, true)],
      options: base({
        events: [],
        layout: { padding: { top: faultsOf(events).length ? 16 : 0 } },
        scales: {
          x: axis('time, us', { type: 'linear', min: 0, max: length, grid: { display: false } }),
          y: { type: 'linear', min: -0.5, max: thinned.length - 0.5, reverse: true, grid: { display: false }, afterBuildTicks: (s) => { s.ticks = thinned.map((_, value) => ({ value })); }, ticks: { autoSkip: false, callback: (value) => thinned[value] ? thinned[value][0] : '' } },
        },
        plugins: { legend: { display: false }, tooltip: { enabled: false } },
      }),
    }), note);
    if (typeof Chart === 'undefined') return panel;
    const scale = add(panel, 'div', null, 'scale');
    add(scale, 'span', `0`);
    add(scale, 'i').style.background = `linear-gradient(90deg, var(--heat))`;
    add(scale, 'span', `${number(most, 1)} ${unit}`);
    const readout = add(panel, 'div', null, 'readout');
    const entry = window.mrcsimCharts[window.mrcsimCharts.length - 1];
    entry.canvas.addEventListener('mousemove', (event) => {
      const { x, y } = entry.chart.scales;
      const row = Math.round(y.getValueForPixel(event.offsetY));
      const time = x.getValueForPixel(event.offsetX);
      const t = thinned[row] && thinned[row][1];
      const value = t && t.values[Math.floor(time / (t.step * stepUs))];
      readout.textContent = value === undefined ? '' : `${thinned[row][0]}, ${number(time, 1)} us: ${number(value, 2)} ${unit}`;
    });
  }

  /// A slider under the picture: levels of buffers and goodput of planes at a time of the series instead of those of the whole run.
  /// What has no series fades.
  function replay(series) {
    const picture = document.querySelector('#picture svg');
    const follow = picture ? [...picture.querySelectorAll('[data-full]')] : [];
    const valuesOf = (bar) => bar.dataset.level ? series.buffer_occupancy[bar.dataset.level] : series.plane_goodput_gbps[bar.dataset.plane];
    const bars = series ? follow.map((bar) => ({ bar, whole: bar.getAttribute('width'), values: valuesOf(bar) })).filter((b) => b.values) : [];
    const steps = Math.max(0, ...bars.map((b) => b.values.length));
    if (steps < 2) return;
    const row = add(page, 'label', 'replay', 'replay-bar');
    const slider = add(row, 'input');
    Object.assign(slider, { type: 'range', min: -1, max: steps - 1, step: 1, value: -1, id: 'replay' });
    const shown = add(row, 'output', 'the whole run');
    slider.addEventListener('input', () => {
      const step = Number(slider.value);
      picture.classList.toggle('replay', step >= 0);
      shown.textContent = step < 0 ? 'the whole run' : `${number(step * series.step_us, 1)} … ${number((step + 1) * series.step_us, 1)} us: levels, and goodput of planes`;
      for (const { bar, whole, values } of bars) {
        const share = Math.min(1, (values[step] || 0) / bar.dataset.full);
        bar.setAttribute('width', step < 0 ? whole : share * bar.dataset.width);
      }
    });
  }

  // ---- where the page comes from
  /// "transport mrc", or each with its NICs where some have another.
  function transports(parameters, nics, plural) {
    const others = Object.entries(parameters).filter(([key]) => /^node\.nic\d+\.transport$/.test(key)).map(([, value]) => value);
    const count = new Map([[parameters.transport, nics - others.length]]);
    for (const transport of others) count.set(transport, (count.get(transport) || 0) + 1);
    if (count.size === 1) return `transport ${parameters.transport}`;
    return `transports ${[...count].map(([transport, of]) => `${transport} (${plural(of, 'NIC')})`).join(', ')}`;
  }
  function topology(parameters) {
    const get = (key) => Number(parameters[key]);
    const [nics, ports, below, t1s, pods] = ['fabric.nics', 'nic.ports', 'fabric.nics_per_t0', 'fabric.t1s_per_plane', 'fabric.pods'].map(get);
    if (![nics, ports, below].every(Number.isFinite)) return '';
    const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
    const t0s = get('fabric.t0s_per_plane') || Math.ceil(nics / below);
    const switches = pods > 1 ? `${plural(t0s, 'T0')} and ${number((t1s || below) * pods)} T1s per plane in ${pods} pods below T2s`
      : t0s > 1 ? `${number(t0s)} T0s and ${plural(t1s || below, 'T1')} per plane` : 'one T0 per plane';
    return `${plural(nics, 'NIC')} with ${plural(ports, 'port')} of ${number(get('nic.port_gbps'))} Gb/s, each port in a plane of its own; ${switches}; ${transports(parameters, nics, plural)}.`;
  }
  function origin(made) {
    const box = add(page, 'dl', null, 'origin');
    const row = (name, value, tag) => { if (value) { add(box, 'dt', name); add(add(box, 'dd'), tag, value); } };
    row('command', made.command, 'code');
    row('run', [made.time, made.version ? `mrcsim ${made.version}` : ''].filter(Boolean).join(', '), 'span');
    if (data.written) row('page written', `${data.written.time}, mrcsim ${data.written.version}`, 'span');
  }

  // ---- parts of a run's report
  /// What the ports waited for; docs/result.md has all causes.
  const CAUSES = [
    [/^port\.line$/, 'what was ahead on the ports'], [/^latency$/, 'nothing: the latency of the way'],
    [/^uet\.credit/, 'credit from the receiver'], [/^rocev2\.rate/, 'the rate that DCQCN allows'],
    [/^rocev2\.one_path/, 'the one port that a flow uses'], [/^fabric\.pause/, 'switches that had paused the NIC'], [/\.link_retry$/, 'frames that a link retransmits'],
    [/^tenant\.rate_limit/, 'the rate limit of the tenant'], [/^host\.latency/, 'posting, the doorbell and reads of WQE and payload'],
    [/^host\.(root_complex|iommu|memory|numa_link|pcie_switch|peer)/, 'this part of the host'], [/memory_table/, 'keys and pages read from host memory'],
    [/^framing/, 'preamble, gap and headers around the payload'], [/^control/, 'SACKs, probes and other control packets'],
    [/^retransmission/, 'retransmitted packets'], [/sack_threshold/, 'bytes until the next SACK'], [/^unacknowledged/, 'payload sent and not acknowledged at the end'],
    [/^no_work/, 'the trace had nothing to send'], [/^host\.outstanding/, 'the host may not post more before a completion'],
    [/^acknowledgement/, 'the last acknowledgements and completions'], [/context_miss$/, 'QP contexts read from host memory'],
    [/context_wait$/, 'a place for a packet whose QP context is read'], [/^wqe_fetch/, 'WQEs read from host memory'],
    [/^cwnd/, 'the congestion window'], [/^mpr/, 'the receive window'], [/rx_staging/, 'the staging buffer of the receiver'],
    [/bitmap_banks/, 'bitmaps for packets out of order'], [/retransmit_buffer\.(entries|bytes)/, 'room for packets that are not acknowledged'],
    [/pcie\.read_tags/, 'tags for PCIe reads'], [/pcie\.completion_buffer/, 'room for the data of PCIe reads'], [/pcie\..*credits/, 'PCIe credits'],
    [/pcie\.line/, 'the rate of the PCIe link'], [/pcie\.read_latency/, 'the latency of host memory'], [/pcie\.address_translation/, 'address translations'],
    [/port\.link_down/, 'a port that the NIC detects as down'], [/\.slow$/, 'a line below its full rate'], [/no_good_ev/, 'an EV that is GOOD'],
    [/^fabric\./, 'a link of the fabric'], [/sram\./, 'a port of this memory'], [/queue$|tx_fifo$|fifo$/, 'a queue shorter than the pipeline in front of it'],
    [/^unattributed/, 'remainder to line rate'],
  ];
  function causeMeaning(cause) {
    const found = CAUSES.find(([pattern]) => pattern.test(cause.replace(/^receiver\./, '')));
    const what = found ? found[1] : 'the box itself: its interval or datapath';
    return cause.startsWith('receiver.') ? `${what}, at the receiver` : what;
  }
  /// Of a size: how much more its cause takes than with the unlimited buffer.
  const more = (point) => point.cause_us ?? point.cause_gbps;
  const moreUnit = (point) => 'cause_us' in point ? 'us' : 'Gb/s';
  const settingsText = (settings) => Object.entries(settings).map(([key, value]) => `${key}=${value}`).join(' ');

  /// The answer of `mrcsim why`: what helps, by runs.
  function remedies(box, answer) {
    const metric = ['goodput_gbps', 'message_time_p99_us', 'simulated_time_us'].find((name) => name in answer.baseline);
    const [unit, gain, less] = metric === 'goodput_gbps' ? ['Gb/s', 'gain_gbps', ''] : ['us', 'gain_us', ' less'];
    if (!answer.remedies.length) { add(box, 'p', `Nothing worth changing: none of ${number(answer.settings_tried)} settings that were run gains 1 %.`); return; }
    add(box, 'p', `As it is: ${number(answer.baseline[metric], 1)} ${unit}. What helps, of ${number(answer.settings_tried)} settings that were run:`);
    const range = (row) => row[`${gain}_low`] === row[`${gain}_high`] ? '' : ` (${number(row[`${gain}_low`], 1)} … ${number(row[`${gain}_high`], 1)})`;
    table(box, [['change'], [unit, 1], [`gain, ${unit}${less}`, 1], ['asked of'], ['99 % of the gain with'], ['what limits then']], answer.remedies.map((row) => [
      settingsText(row.settings), number(row[metric], 1), `${number(row[gain], 1)}${range(row)}`, row.kind, settingsText(row.smallest), row.next_cause]), (i) => i === 0)
      .querySelectorAll('tbody tr').forEach((line, i) => { line.firstChild.title = Object.keys(answer.remedies[i].settings).map((key) => `${key}: ${meaningOf(key)}`).join('\n'); });
    const alone = answer.remedies[0].alone || [];
    if (!alone.length) return;
    add(box, 'p', 'Each change of the first pair alone:');
    table(box, [['change'], [`gain, ${unit}${less}`, 1]], alone.map((row) => [
      settingsText(row.settings), row.completes ? `${number(row[gain], 1)}${range(row)}` : 'does not complete']));
  }

  /// `mrcsim why` for the scenario and the settings of the command of a run.
  function whyCommand(command) {
    const words = (command || '').match(/'[^']*'|[^\s']+/g) || [];
    const at = words.indexOf('run');
    if (at < 0) return 'mrcsim why SCENARIO --set …';
    const kept = ['mrcsim', 'why'];
    let taking = false, scenario = true;
    for (let i = at + 1; i < words.length; ++i) {
      if (words[i].startsWith('-')) { taking = words[i] === '--set'; if (taking) kept.push(words[i]); else if (!['--quiet', '--yes'].includes(words[i]) && !words[i].includes('=')) ++i; continue; }
      if (taking || scenario) kept.push(words[i]);
      if (!taking) scenario = false;
    }
    return kept.join(' ');
  }

  /// Causes, remedies and full queues of the fabric, before any chart.
  function whatLimits(result) {
    const causes = result.limits.filter((row) => row.cause !== 'framing' && row.gbps > 0.01 * result.line_rate_gbps).slice(0, 5);
    const queues = (result.switch_ports || []).filter((row) => row.dropped + row.trimmed + row.ce_marked > 0)
      .sort((a, b) => b.dropped + b.trimmed - a.dropped - a.trimmed || b.ce_marked - a.ce_marked);
    if (!result.limits.length && !queues.length && !data.why) return;
    const box = section('What limits it, and what helps', null, page, 'why');
    if (causes.length) {
      table(box, [['cause'], ['lost, Gb/s', 1], ['the ports waited for'], ['relieved by']], causes.map((row) => [row.cause, number(row.gbps, 1), causeMeaning(row.cause), (row.relieved_by || []).join(', ')]));
    } else if (result.limits.length) {
      add(box, 'p', 'No cause besides framing takes 1 % of the line rate.');
    }
    if (data.why) {
      remedies(box, data.why.answer);
      add(add(box, 'p'), 'code', data.why.command);
    } else if (causes.length) {
      const line = add(box, 'p', 'What a change gains is found by runs, and comes into this page with mrcsim report --why: ');
      add(line, 'code', whyCommand(data.run && data.run.command));
    }
    if (queues.length) {
      add(box, 'h3', 'Switch queues that were too long');
      table(box, [['output port'], ['dropped', 1], ['trimmed', 1], ['CE-marked', 1], ['longest queue, bytes', 1]], queues.slice(0, 6).map((row) => [row.port, number(row.dropped), number(row.trimmed), number(row.ce_marked), number(row.most_queued_bytes)]));
      if (queues.length > 6) fold(box, `${queues.length - 6} more`, (inner) => table(inner, [['output port'], ['dropped', 1], ['trimmed', 1], ['CE-marked', 1], ['longest queue, bytes', 1]], queues.slice(6).map((row) => [row.port, number(row.dropped), number(row.trimmed), number(row.ce_marked), number(row.most_queued_bytes)])));
    }
  }

  function headline(result) {
    const limit = result.framing_limit_gbps;
    const time = result.message_time_us;
    add(page, 'h1', `${result.scenario}, seed ${result.seed}`);
    add(page, 'p', `${topology(result.parameters)} Goodput, message times and limits are those of ${result.node_under_test}.`);
    origin(data.run || { version: result.mrcsim_version });
    cards(page, [
      ['status', result.status, ['complete', 'known'].includes(result.status) ? 'good' : 'bad'],
      [limit ? `goodput, ${percent(result.goodput_gbps / limit)} of ${number(limit, 1)} after framing` : 'goodput', `${number(result.goodput_gbps, 1)} Gb/s`],
      ['message time, median', `${number(time.p50, 2)} us`],
      ['message time, p99', `${number(time.p99, 2)} us`],
      ['simulated', `${number(result.simulated_time_us, 1)} us`],
      [`of ${number(result.messages.count)} messages complete`, number(result.messages.completed)],
      ['delivered', bytes(result.bytes.delivered)],
      ['bytes differ', number(result.bytes.corrupted), result.bytes.corrupted ? 'bad' : ''],
      ['data packets sent', number(result.packets.sent)],
      ['retransmitted', number(result.packets.retransmitted)],
      ['dropped, trimmed', `${number(result.packets.dropped)}, ${number(result.packets.trimmed)}`],
      ['on-chip memory', bits(result.sram.reduce((sum, row) => sum + row.bits, 0))],
      ...[['UET', result.uet], ['RoCEv2', result.rocev2]].flatMap(([transport, counts]) => Object.entries(counts || {}).filter(([, value]) => value > 0)
        .map(([key, value]) => [`${transport}: ${key.replace(/_us$/, ', us').replace(/_/g, ' ')}`, number(value)])),
    ]);
    for (const line of result.details) add(page, 'p', line, 'bad');
    for (const line of result.notes || []) add(page, 'p', line);
    page.appendChild(document.getElementById('picture'));
  }

  function limits(result) {
    const rows = result.limits.filter((row) => row.gbps > 0.005 * result.line_rate_gbps / 8);
    if (!rows.length) return;
    const box = section('Lost line rate by cause', `${number(result.goodput_gbps, 1)} Gb/s goodput and these sum to ${number(result.line_rate_gbps)} Gb/s.`, page, 'limits');
    chart(box, 'Lost line rate, Gb/s', 60 + 24 * rows.length, () => ({
      type: 'bar',
      data: { labels: rows.map((row) => row.cause), datasets: [{ data: rows.map((row) => row.gbps), backgroundColor: series(0), maxBarThickness: 18 }] },
      options: base({ indexAxis: 'y', scales: { x: axis('Gb/s', { beginAtZero: true }), y: { grid: { display: false }, ticks: { autoSkip: false } } }, plugins: { legend: { display: false }, tooltip: tip((item) => item.label, (item) => {
        const row = rows[item.dataIndex];
        return [`${number(row.gbps, 2)} Gb/s, ${percent(row.gbps / result.line_rate_gbps)} of line rate`, `the ports waited for ${causeMeaning(row.cause)}`, ...(row.relieved_by || []).map((key) => `relieved by ${key}: ${meaningOf(key)}`)];
      }) } }),
    }));
  }

  function overTime(result, all) {
    const box = section('Over time', null);
    const grid = add(box, 'div', null, 'grid');
    if (all && all.plane_goodput_gbps.length) {
      const bins = all.plane_goodput_gbps.map((values) => thin(values, 100));
      const width = bins[0].step * all.step_us;
      const length = all.plane_goodput_gbps[0].length * all.step_us;
      // The last bin reaches to the end of the run.
      const points = (bin) => [...bin.values.map((y, i) => ({ x: i * width, y })), { x: length, y: bin.values[bin.values.length - 1] }];
      const wide = chart(grid, 'Goodput by plane, Gb/s', 340, () => ({
        type: 'line',
        data: { datasets: bins.map((bin, i) => ({ label: `plane ${i}`, data: points(bin), ...lineStyle(i), borderWidth: 1, backgroundColor: withAlpha(series(i), 0.55), stepped: 'before', fill: i === 0 ? 'origin' : '-1' })) },
        plugins: [eventMarks(result.events || [])],
        options: base({
          parsing: false, interaction: { mode: 'index', intersect: false },
          scales: { x: axis('time, us', { type: 'linear', min: 0, max: length }), y: axis('Gb/s, stacked', { stacked: true, beginAtZero: true }) },
          plugins: { tooltip: tip((item) => `${number(item.parsed.x, 1)} … ${number(Math.min(length, item.parsed.x + width), 1)} us`, (item) => `${item.dataset.label}: ${number(item.raw.y, 1)} Gb/s of ${number(Number(result.parameters['nic.port_gbps']))}`) },
        }),
      }), `First transmissions of the node under test in bins of ${number(width, 2)} us, planes on top of each other.${faultNote(result.events || [])}`);
      wide.classList.add('wide');
    }
    const cdf = result.message_time_quantiles || [];
    if (cdf.length) {
      const wide = chart(grid, 'Message time, cumulative', 260, () => ({
        type: 'line',
        data: { datasets: [{ label: 'share of messages', data: cdf.map((row) => ({ x: row.us, y: 100 * row.share })), ...lineStyle(0) }] },
        options: base({ parsing: false, scales: { x: axis('time from post to completion, us', { type: 'linear' }), y: axis('% of messages', { min: 0, max: 100 }) }, plugins: { legend: { display: false }, tooltip: tip((item) => `${number(item.raw.x, 2)} us`, (item) => `${number(item.raw.y, 2)} % of the messages took at most this from post to completion`) } }),
      }), `Median ${number(result.message_time_us.p50, 2)} us, p99 ${number(result.message_time_us.p99, 2)} us, longest ${number(result.message_time_us.max, 2)} us.`);
      wide.classList.add('wide');
    }
  }

  function bufferPanels(parent, rows, all) {
    const grid = add(parent, 'div', null, 'grid');
    for (const row of rows) {
      const name = `${row.node}.${row.name}`;
      const over = all && all.buffer_occupancy[name];
      const histogram = row.histogram || [];
      const panel = add(grid, 'div', null, 'panel');
      add(panel, 'h3', name);
      add(panel, 'p', `${number(row.mean, 1)} mean, ${number(row.p99)} p99, ${number(row.high_water)} high water of ${number(row.capacity)} ${row.unit}; full ${percent(row.time_full_share)} of the time`);
      if (histogram.length) {
        // Share of the time at or below a level reads well however wide the bins are.
        let sum = 0;
        const steps = histogram.map((bin) => ({ x: bin.upper, y: 100 * (sum += bin.share) }));
        // A little beyond the highest level, so that a step up at it does not lie on the chart's edge.
        const top = 1.05 * Math.max(steps[steps.length - 1].x, 1);
        steps.push({ x: top, y: 100 });
        chart(panel, 'Share of time at or below a level', 150, () => ({
          type: 'line',
          data: { datasets: [{ data: [{ x: 0, y: histogram[0].upper === 0 ? steps[0].y : 0 }, ...steps], ...lineStyle(0), stepped: 'before', fill: 'origin', backgroundColor: withAlpha(series(0), 0.25) }] },
          options: base({ parsing: false, scales: { x: axis(row.unit, { type: 'linear', min: 0, max: top, ticks: { includeBounds: false } }), y: axis('% of time', { min: 0, max: 100 }) }, plugins: { legend: { display: false }, tooltip: tip((item) => `at most ${number(item.raw.x)} ${row.unit}`, (item) => `${number(item.raw.y, 2)} % of the time`) } }),
        }));
      }
      if (over && over.length) {
        chart(panel, 'Level over time', 150, () => ({
          type: 'line',
          data: { datasets: [{ data: timeline(over, all.step_us, 300), ...lineStyle(1), borderWidth: 1.5 }] },
          options: base({ parsing: false, scales: { x: axis('time, us', { type: 'linear', min: 0 }), y: axis(row.unit, { beginAtZero: true }) }, plugins: { legend: { display: false }, tooltip: tip((item) => `${number(item.raw.x, 1)} us`, (item) => `${number(item.raw.y, 1)} of ${number(row.capacity)} ${row.unit}`) } }),
        }));
      }
    }
  }

  function buffers(result, all) {
    const used = result.buffers.filter((row) => row.high_water > 0);
    if (!used.length) return;
    // First those that had no room for somebody; a level of 1 of 1 says little.
    const short = (row) => row.refusals > 0 && row.capacity > 1;
    const fullness = (row) => 10 * short(row) + row.time_full_share * 2 + row.high_water / row.capacity + row.mean / row.capacity;
    used.sort((a, b) => fullness(b) - fullness(a));
    const box = section('Buffers', `${used.length} of ${result.buffers.length} buffers were used; first those that had no room for somebody, the fullest before the others.`, page, 'buffers');
    bufferPanels(box, used.slice(0, 6), all);
    for (const node of [...new Set(used.slice(6).map((row) => row.node))]) {
      const rows = used.slice(6).filter((row) => row.node === node);
      fold(box, `${rows.length} more of ${node}`, (inner) => bufferPanels(inner, rows, all));
    }
    fold(box, 'All buffers as a table', (inner) => table(inner,
      [['buffer'], ['capacity', 1], ['mean', 1], ['p99', 1], ['high water', 1], ['time full', 1], ['unit']],
      result.buffers.map((row) => [`${row.node}.${row.name}`, number(row.capacity), number(row.mean, 1), number(row.p99), number(row.high_water), percent(row.time_full_share), row.unit])));
  }

  const SLOT_STATES = { busy: 'it issues', starved: 'nothing to take, though the NIC has work', idle: 'the NIC has no work for it' };
  function ledgerChart(parent, node, rows) {
    const totals = {};
    for (const row of rows) for (const [cause, share] of Object.entries(row.blocked)) totals[cause] = (totals[cause] || 0) + share;
    const causes = Object.keys(totals).filter((cause) => totals[cause] > 0.005).sort((a, b) => totals[b] - totals[a]);
    const shown = causes.slice(0, 7);
    const rest = (row) => Object.entries(row.blocked).filter(([cause]) => !shown.includes(cause)).reduce((sum, [, share]) => sum + share, 0);
    chart(parent, `Time of ${node}, by issue slot`, 90 + 22 * rows.length, () => {
      const set = (label, values, colour) => ({ label, data: values.map((v) => 100 * v), backgroundColor: colour, stack: 'time', maxBarThickness: 16 });
      const datasets = [set('busy', rows.map((row) => row.busy), css('--busy'))];
      shown.forEach((cause, i) => datasets.push(set(`blocked by ${cause}`, rows.map((row) => row.blocked[cause] || 0), series([5, 2, 7, 6, 4, 1, 3][i]))));
      if (rows.some((row) => rest(row) > 0.001)) datasets.push(set('blocked by others', rows.map(rest), css('--ink-2')));
      datasets.push(set('starved', rows.map((row) => row.starved), css('--starved')), set('idle', rows.map((row) => row.idle), css('--idle')));
      return {
        type: 'bar', data: { labels: rows.map((row) => row.box), datasets },
        options: base({ indexAxis: 'y', interaction: { mode: 'nearest', intersect: true }, scales: { x: axis('% of time', { stacked: true, min: 0, max: 100 }), y: { stacked: true, grid: { display: false }, ticks: { autoSkip: false } } }, plugins: { tooltip: tip((item) => item.label, (item) => [`${item.dataset.label}: ${number(item.raw, 2)} % of the time`, SLOT_STATES[item.dataset.label] || '']) } }),
      };
    });
  }

  function ledger(result) {
    const nodes = [...new Set(result.ledger.map((row) => row.node))];
    if (!nodes.length) return;
    const box = section('Time of the issue slots', 'Each moment of an issue slot is busy, starved (work exists upstream), idle (no work), or blocked by one resource.', page, 'ledger');
    const under = nodes.includes(result.node_under_test) ? result.node_under_test : nodes[0];
    ledgerChart(box, under, result.ledger.filter((row) => row.node === under));
    for (const node of nodes.filter((name) => name !== under)) fold(box, node, (inner) => ledgerChart(inner, node, result.ledger.filter((row) => row.node === node)));
  }

  function lateRanks(box, result) {
    const rows = result.job.late_ranks || [];
    if (!rows.length) return;
    const linear = result.parameters['traffic.placement'] === 'linear' && Number(result.parameters['traffic.ranks_per_nic']) === 1 && Number(result.parameters['traffic.nics_per_rank']) === 1;
    const faultsAt = (rank) => !linear ? [] : [...new Set((result.events || []).filter((event) => event.where === `nic${rank}` || event.where.startsWith(`nic${rank}.`)).map((event) => `${event.what} at ${event.where}`))];
    add(box, 'h3', 'Ranks whose messages or computations took longest');
    table(box, [['rank', 1], ['late by'], ['sends, us', 1], ['receives, us', 1], ['computation, us', 1], ['exposed communication, us', 1], ['events at its NIC']],
      rows.map((row) => [number(row.rank), row.late_by, number(row.sends_late_us, 2), number(row.receives_late_us, 2), number(row.computation_late_us, 2), number(row.exposed_communication_us, 1), faultsAt(row.rank).join('; ')]));
    add(box, 'p', 'Messages: mean time beyond the mean of all messages of the same size. A rank that waits for one of these is not in the table.');
  }

  function jobTimes(result) {
    const job = result.job;
    if (!job || !job.ranks || !job.step_time_us) return;
    const meanAndMost = (time) => `${number(time.mean, 1)} us mean, ${number(time.max, 1)} us most`;
    const box = section('The job', `${number(job.ranks)} ranks${job.ranks_played < job.ranks ? ', one played for all, because they are identical' : ''}.`, page, 'job');
    cards(box, [
      ['step', `${number(job.step_time_us, 1)} us`],
      ['computation', meanAndMost(job.compute_us)],
      ['exposed communication', meanAndMost(job.exposed_communication_us)],
      ...(job.ranks_played > 1 ? [[`last rank ${number(job.straggler.rank)}, after the median rank`, `${number(job.straggler.behind_us, 1)} us`]] : []),
    ]);
    if (job.collectives.length) {
      table(box, [['collective'], ['ranks', 1], ['bytes', 1], ['count', 1], ['mean, us', 1], ['longest, us', 1], ['start skew, us', 1], ['bus bandwidth, Gb/s', 1]],
        job.collectives.map((row) => [`${row.kind}, ${row.algorithm}`, number(row.ranks), number(row.bytes), number(row.count), number(row.time_us.mean, 1), number(row.time_us.max, 1), number(row.start_skew_us, 1), number(row.bus_bandwidth_gbps, 1)]));
    }
    lateRanks(box, result);
  }

  function paths(result, all) {
    const events = result.events || [];
    if (all) {
      const nodes = Object.keys(all.ev_states).filter((node) => Object.values(all.ev_states[node]).some((values) => values.some((v) => v > 0)));
      if (nodes.length) {
        const box = section('Paths', 'Number of entropy values (EVs) per state, over all queue pairs of a node' + `.${faultNote(events).replace('Shaded', 'Marked')}`);
        const under = nodes.includes(result.node_under_test) ? result.node_under_test : nodes[0];
        const map = (parent, node) => {
          const rows = Object.entries(all.ev_states[node]);
          const most = Math.max(1, ...rows.map(([, values]) => values.reduce((a, b) => Math.max(a, b), 0)));
          heatMap(parent, `EV states of ${node}`, rows, all.step_us, most, 'EVs', events);
        };
        map(box, under);
        const others = nodes.filter((node) => node !== under);
        if (others.length) fold(box, `${others.length} other node${others.length > 1 ? 's' : ''}`, (inner) => others.forEach((node) => map(inner, node)));
      }
    }
    if (events.length) {
      const box = section('Events', null);
      const show = (parent, rows) => table(parent, [['time, us', 1], ['what'], ['where'], ['effect']], rows.map((e) => [number(e.time_us, 2), e.what, e.where, e.effect]));
      show(box, events.slice(0, 12));
      if (events.length > 12) fold(box, `all ${events.length} events`, (inner) => show(inner, events));
    }
    if (all) {
      const peak = (values) => values.reduce((a, b) => Math.max(a, b), 0);
      const rows = Object.entries(all.queue_bytes).filter(([, values]) => peak(values) > 0).sort((a, b) => peak(b[1]) - peak(a[1]));
      if (rows.length) {
        const box = section('Switch queues', rows.length > 40 ? `The 40 deepest of ${rows.length} queues that ever held a packet.` : `The ${rows.length} queues that ever held a packet when sampled.`, page, 'switches');
        heatMap(box, 'Queue depth', rows.slice(0, 40), all.step_us, peak(rows[0][1]), 'B', events);
      }
    }
  }

  function sram(result) {
    if (!result.sram.length) return;
    const rows = [...result.sram].sort((a, b) => b.bits - a.bits);
    const box = section('On-chip memory', `${bits(rows.reduce((sum, row) => sum + row.bits, 0))} in ${result.node_under_test}, from its parameters.`);
    chart(box, 'Bits by structure, kbit', 60 + 24 * rows.length, () => ({
      type: 'bar', data: { labels: rows.map((row) => row.structure), datasets: [{ data: rows.map((row) => row.bits / 1e3), backgroundColor: series(1), maxBarThickness: 18 }] },
      options: base({ indexAxis: 'y', scales: { x: axis('kbit', { beginAtZero: true }), y: { grid: { display: false }, ticks: { autoSkip: false } } }, plugins: { legend: { display: false }, tooltip: tip((item) => item.label, (item) => { const row = rows[item.dataIndex]; return [`${bits(row.bits)}${row.ecc_bits ? `, with ${bits(row.ecc_bits)} of check bits` : ''}`, row.depth ? `${number(row.instances)} x ${number(row.depth)} x ${number(row.width_bits)} bit, ${row.ports}, about ${number(row.area_mm2)} mm2` : '']; }) } }),
    }));
  }

  function configuration(parameters, parent = page) {
    const known = data.parameters;
    const lookup = (name) => known[name] || known[name.replace(/^node\.nic\d+\./, '')] || {};
    const text = (value) => typeof value === 'string' ? value : JSON.stringify(value);
    const rows = Object.entries(parameters).map(([name, value]) => ({ name, value: text(value), ...lookup(name) }));
    const differs = rows.filter((row) => row.default !== undefined && row.value !== row.default);
    const box = section('Configuration', `${differs.length} of ${rows.length} parameters differ from their default.`, parent);
    const cells = (row) => [row.name, `${row.value}${row.unit ? ' ' + row.unit : ''}`, row.default || '–', row.source || '', row.meaning || ''];
    const columns = [['parameter'], ['value', 1], ['default', 1], ['source'], ['meaning']];
    if (differs.length) table(box, columns, differs.map(cells));
    fold(box, 'The whole effective configuration', (inner) => table(inner, columns, rows.map(cells), (i) => differs.includes(rows[i])));
  }

  function runReport() {
    const { result, series: all } = data;
    document.title = `${result.scenario} – mrcsim`;
    headline(result);
    replay(all);
    jobTimes(result);
    whatLimits(result);
    limits(result);
    overTime(result, all);
    ledger(result);
    buffers(result, all);
    paths(result, all);
    sram(result);
    configuration(result.parameters);
    if (!all) add(page, 'p', 'The folder has no series.json: curves over time are not available.');
  }

  // ---- parts of a study's report
  const isNumber = (value) => typeof value === 'number';

  function sweepReport(box, study) {
    const keys = [...new Set(study.points.flatMap((point) => Object.keys(point.settings)))];
    const varying = keys.filter((key) => new Set(study.points.map((point) => point.settings[key])).size > 1);
    const numeric = varying.filter((key) => study.points.every((point) => isNumber(point.settings[key])));
    const failed = study.points.reduce((sum, point) => sum + point.runs - point.complete, 0);
    cards(box, [
      ['points', number(study.points.length)], ['runs', number(study.points.reduce((sum, point) => sum + point.runs, 0))],
      ['not complete', number(failed), failed ? 'bad' : 'good'],
      ['best goodput', `${number(Math.max(...study.points.map((point) => point.goodput_gbps || 0)), 1)} Gb/s`],
    ]);
    const grid = add(box, 'div', null, 'grid');
    const x = numeric[0];
    if (x) {
      const others = varying.filter((key) => key !== x);
      const groups = {};
      for (const point of study.points) {
        const name = others.map((key) => `${key.split('.').slice(-2).join('.')}=${point.settings[key]}`).join(', ') || 'goodput';
        (groups[name] = groups[name] || []).push(point);
      }
      const lattice = Object.values(groups).some((points) => points.length > 1);
      const positive = study.points.every((point) => point.settings[x] > 0);
      const values = study.points.map((point) => point.settings[x]);
      // Logarithmic where the sweep multiplied, or where values lie far apart.
      const swept = ((study.description || {}).vary || []).find((text) => text.startsWith(`${x}=`)) || '';
      const wide = positive && (/\.\..*:x/.test(swept) || Math.max(...values) / Math.min(...values) > 20);
      const seedRange = (p) => p.runs > 1 ? `, ${number(p.goodput_min_gbps, 1)} … ${number(p.goodput_max_gbps, 1)} over the seeds` : '';
      box.insertBefore(add(box, 'p', [x, meaningOf(x)].filter(Boolean).join(': ') + '.'), grid);
      const names = Object.keys(groups).slice(0, lattice ? 8 : undefined);
      const curve = (title, unit, get) => chart(grid, title, 340, () => ({
        type: 'line',
        data: { datasets: lattice
          ? names.map((name, i) => ({ label: name, data: groups[name].map((p) => ({ x: p.settings[x], y: get(p), point: p })).sort((a, b) => a.x - b.x), ...lineStyle(i), pointRadius: 3 }))
          : [{ label: 'points', data: study.points.map((p) => ({ x: p.settings[x], y: get(p), point: p })), ...lineStyle(0), showLine: false, pointRadius: 4 }] },
        options: base({ parsing: false, scales: { x: wide ? logAxis(withUnit(x), values) : axis(withUnit(x), { type: 'linear' }), y: kneeAxis(unit, study.points.map(get)) }, plugins: {
          legend: { display: lattice && names.length > 1, position: 'bottom', labels: { boxWidth: 12, boxHeight: 12 } },
          tooltip: tip((item) => settingsText(item.raw.point.settings), ({ raw: { point: p } }) => [`goodput ${number(p.goodput_gbps, 1)} Gb/s${seedRange(p)}`, `message time p99 ${number(p.message_time_p99_us, 2)} us`, p.top_limit ? `limited by ${p.top_limit}` : '']),
        } }),
      }));
      curve('Goodput', 'Gb/s', (point) => point.goodput_gbps);
      curve('Message time, p99', 'us', (point) => point.message_time_p99_us);
      if (Object.keys(groups).length > 8 && lattice) add(box, 'p', `The first 8 of ${Object.keys(groups).length} curves; all points are in the table.`);
    }
    const complete = study.points.filter((point) => point.complete > 0);
    if (new Set(complete.map((point) => point.sram_bits)).size > 1) paretoCharts(grid, complete.map((point) => ({ ...point, front: null })));
    fold(box, `All ${study.points.length} points`, (inner) => table(inner,
      [...keys.map((key) => [key, 1]), ['complete', 1], ['Gb/s', 1], ['min … max', 1], ['p99 us', 1], ['SRAM', 1], ['first limit']],
      study.points.map((p) => [...keys.map((key) => isNumber(p.settings[key]) ? number(p.settings[key], 6) : p.settings[key]), `${p.complete} of ${p.runs}`, number(p.goodput_gbps, 1), `${number(p.goodput_min_gbps, 1)} … ${number(p.goodput_max_gbps, 1)}`, number(p.message_time_p99_us, 2), bits(p.sram_bits || 0), p.top_limit || ''])));
    if (study.failures.length) {
      add(box, 'h3', 'Runs that did not end well');
      table(box, [['settings'], ['seed', 1], ['error']], study.failures.map((run) => [run.settings, number(run.seed), run.error]));
    }
  }

  function paretoCharts(grid, points) {
    const dominated = (p) => points.some((o) => o.sram_bits <= p.sram_bits && o.goodput_gbps >= p.goodput_gbps && o.message_time_p99_us <= p.message_time_p99_us && (o.sram_bits < p.sram_bits || o.goodput_gbps > p.goodput_gbps || o.message_time_p99_us < p.message_time_p99_us));
    for (const p of points) if (p.front === null) p.front = !dominated(p);
    const spread = Math.max(...points.map((p) => p.sram_bits)) / Math.min(...points.map((p) => p.sram_bits));
    const plot = (title, unit, get) => chart(grid, title, 320, () => {
      const set = (label, keep, colour, more) => ({ label, data: points.filter(keep).map((p) => ({ x: p.sram_bits / 1e3, y: get(p), point: p })), ...lineStyle(0), borderColor: colour, backgroundColor: colour, showLine: false, pointRadius: 4, ...more });
      return {
        type: 'scatter',
        data: { datasets: [
          set('least SRAM that holds', (p) => p.best, series(5), { pointRadius: 8, pointStyle: 'rectRot' }),
          set('front', (p) => p.front && !p.best, series(0), { pointRadius: 5 }),
          set('beaten by another', (p) => !p.front, css('--starved')),
        ].filter((d) => d.data.length) },
        options: base({ parsing: false, interaction: { mode: 'nearest', intersect: true }, scales: { x: axis('SRAM, kbit', { type: spread > 20 ? 'logarithmic' : 'linear' }), y: axis(unit, { beginAtZero: false }) }, plugins: { tooltip: tip((item) => settingsText(item.raw.point.settings || item.raw.point.sizes || {}), (item) => [`${number(item.raw.x, 1)} kbit of SRAM: ${number(item.raw.y, 2)} ${unit}`, item.dataset.label]) } }),
      };
    });
    plot('SRAM against goodput', 'Gb/s', (p) => p.goodput_gbps);
    plot('SRAM against p99 message time', 'us', (p) => p.message_time_p99_us);
  }

  function sizeReport(box, study) {
    const a = study.answer;
    if (!a) { add(box, 'p', 'No answer yet: the study was interrupted.'); return; }
    const factor = a.relative ? 100 : 1;
    const unit = a.relative ? '% of the unlimited run' : a.unit;
    const at = a.curve.find((point) => point.value === a.answer);
    cards(box, a.answer === null ? [['answer', 'none', 'bad']] : [
      [`smallest ${a.buffer} that holds ${a.hold}`, number(a.answer)],
      ['95 % interval', `${number(a.answer_low)} … ${number(a.answer_high)}`],
      [`there, ${unit}`, number(factor * at.mean, 2)],
      ['SRAM of this buffer', bits(at.buffer_bits)],
    ]);
    if (a.why_none) add(box, 'p', a.why_none, 'bad');
    if (a.scanned) add(box, 'p', 'The curve is not monotonic: the values around the answer were scanned, and all tried values from the answer on hold.');
    if (a.noise) add(box, 'p', `${a.noise[0].toUpperCase()}${a.noise.slice(1)}.`, 'bad');
    const near = a.curve.filter((point) => a.answer === null || (point.value <= 4 * a.answer && point.value >= a.answer / 8));
    if (meaningOf(a.buffer)) add(box, 'p', `${a.buffer}: ${meaningOf(a.buffer)}.`);
    chart(box, `${a.hold.split(/[<>]/)[0]} against ${a.buffer}`, 360, () => {
      const points = (get) => near.map((p) => ({ x: Math.max(1, p.value), y: get(p) === null ? null : factor * get(p) }));
      const datasets = [
        { label: 'mean over the seeds', data: points((p) => p.mean), ...lineStyle(0), pointRadius: near.length > 60 ? 2 : 4 },
        { label: '95 % interval of the mean', data: points((p) => p.low), ...lineStyle(0), borderWidth: 0, backgroundColor: withAlpha(series(0), 0.2) },
        { label: 'upper', data: points((p) => p.high), ...lineStyle(0), borderWidth: 0, backgroundColor: withAlpha(series(0), 0.2), fill: '-1' },
        { label: `holds: ${a.hold}`, data: [near[0], near[near.length - 1]].map((p) => ({ x: Math.max(1, p.value), y: factor * a.threshold })), ...lineStyle(5), borderDash: [6, 4], borderWidth: 1.5 },
      ];
      if (at) datasets.push({ label: `answer: ${number(a.answer)}`, data: [{ x: Math.max(1, a.answer), y: factor * at.mean }], ...lineStyle(5), pointRadius: 8, pointStyle: 'rectRot', showLine: false });
      return { type: 'line', data: { datasets }, options: base({ parsing: false, scales: { x: logAxis(withUnit(a.buffer), near.map((p) => Math.max(1, p.value))), y: { ...kneeAxis(unit, near.map((p) => p.mean === null ? null : factor * p.mean)), ...(a.relative && a.threshold <= 1 ? { max: Math.max(105, ...near.map((p) => factor * p.mean)) } : {}) } }, plugins: {
        legend: { position: 'bottom', labels: { boxWidth: 12, boxHeight: 12, filter: (item) => item.text !== 'upper' } },
        tooltip: { filter: (item) => item.datasetIndex === 0, ...tip((item) => `${a.buffer} = ${number(near[item.dataIndex].value)}${unitOf(a.buffer) ? ` ${unitOf(a.buffer)}` : ''}`, (item) => {
          const p = near[item.dataIndex];
          return [`${number(factor * p.mean, 2)} ${unit}, 95 % interval ${number(factor * p.low, 2)} … ${number(factor * p.high, 2)}: ${p.holds ? 'holds' : 'misses'} ${a.hold}`, p.cause && more(p) > 0.05 ? `lost more than unlimited: ${p.cause}, ${number(more(p), 1)} ${moreUnit(p)}` : ''];
        }) },
      } }) };
    });
    const row = (p) => [number(p.value), number(factor * p.mean, 2), `${number(factor * p.low, 2)} … ${number(factor * p.high, 2)}`, p.holds ? 'yes' : 'no', bits(p.buffer_bits), bits(p.sram_bits), p.cause && (more(p) > 0.05 || !p.holds) ? `${p.cause}${more(p) > 0 ? ` +${number(more(p), 1)} ${moreUnit(p)}` : ''}` : ''];
    const columns = [['value', 1], [unit, 1], ['95 % interval', 1], ['holds'], ['this buffer', 1], ['all SRAM', 1], ['largest cause, relative to the unlimited run']];
    const close = a.curve.filter((p) => a.answer === null || (p.value >= a.answer / 4 && p.value <= a.answer * 2.1));
    const few = close.length > 14 ? close.filter((p, i) => p.value === a.answer || i % Math.ceil(close.length / 12) === 0) : close;
    table(box, columns, few.map(row), (i) => few[i].value === a.answer);
    if (few.length < a.curve.length) fold(box, `All ${a.curve.length} values that were tried`, (inner) => table(inner, columns, a.curve.map(row), (i) => a.curve[i].value === a.answer));
  }

  function sensitivityReport(box, study) {
    const a = study.answer;
    if (!a) return;
    const byParameter = {};
    for (const row of a.rows) (byParameter[row.parameter] = byParameter[row.parameter] || []).push(row);
    const change = (row) => row.answer === null ? 0 : Math.abs(Math.log(row.answer / a.answer));
    const moving = Object.entries(byParameter).filter(([, rows]) => rows.some((row) => change(row) > 0)).sort((p, q) => Math.max(...q[1].map(change)) - Math.max(...p[1].map(change)));
    add(box, 'p', `The answer ${number(a.answer)} of ${a.buffer} with one assumption changed at a time: ${moving.length} of ${Object.keys(byParameter).length} assumptions change it.`);
    const shown = moving.slice(0, 20);
    if (shown.length) chart(box, 'Range of the answer, by assumption', 80 + 24 * shown.length, () => ({
      type: 'bar',
      data: { labels: shown.map(([name]) => name), datasets: [{ label: 'lowest to highest answer', data: shown.map(([, rows]) => { const all = [a.answer, ...rows.filter((row) => row.answer !== null).map((row) => row.answer)]; return [Math.min(...all), Math.max(...all)]; }), backgroundColor: series(0), maxBarThickness: 16 }] },
      options: base({ indexAxis: 'y', scales: { x: axis(withUnit(a.buffer), { type: 'logarithmic' }), y: { grid: { display: false }, ticks: { autoSkip: false } } }, plugins: { legend: { display: false }, tooltip: tip((item) => `${item.label}: ${meaningOf(item.label)}`, (item) => `the answer is ${number(item.raw[0])} … ${number(item.raw[1])} ${unitOf(a.buffer)} over the range of this assumption`) } }),
    }));
    const columns = [['assumption'], ['usual', 1], ['set to', 1], ['answer', 1], ['']];
    fold(box, `All ${a.rows.length} settings`, (inner) => table(inner, columns, a.rows.map((row) => [row.parameter, row.usual, row.value, row.answer === null ? 'none' : number(row.answer), row.why_none])));
  }

  function allReport(box, study) {
    const a = study.answer;
    if (!a) { add(box, 'p', 'No answer yet: the study was interrupted.'); return; }
    const best = a.points.find((point) => point.best);
    cards(box, best ? [
      [`least SRAM that holds ${a.hold}`, bits(best.sram_bits)], ['goodput there', `${number(best.goodput_gbps, 1)} Gb/s`],
      ['p99 message time there', `${number(best.message_time_p99_us, 2)} us`], ['sets tried', number(a.points.length)],
    ] : [['answer', `no set holds ${a.hold}`, 'bad']]);
    const usable = a.points.filter((point) => point.sram_bits > 0 && point.goodput_gbps > 0);
    // Everything unlimited costs thousands of times the SRAM: in the same picture the others would be one spot.
    const sane = usable.filter((point) => point.sram_bits <= 8 * Math.min(...usable.map((other) => other.sram_bits)));
    paretoCharts(add(box, 'div', null, 'grid'), sane);
    if (sane.length < usable.length) add(box, 'p', `Not shown in the charts: ${usable.length - sane.length} sets with more than eight times the smallest SRAM.`);
    if (best) table(box, [['buffer'], ['alone', 1], ['together: to build', 1]], a.buffers.map((row) => [row.buffer, number(row.answer), number(best.sizes[row.buffer])]));
  }

  function attackReport(box, study) {
    const a = study.answer;
    if (!a || !a.sizes) { add(box, 'p', 'No answer yet: the study was interrupted.'); return; }
    const score = (value) => value === null ? 'no end' : a.relative ? percent(value) : `${number(value, 2)} ${a.unit}`;
    const what = (differences) => Object.entries(differences).map(([key, value]) => `${key}=${value}`).join(' ') || 'the scenario as it is';
    cards(box, [
      ['counterexamples', number(a.counterexamples.length), a.counterexamples.length ? 'bad' : 'good'],
      [`cases that held ${a.hold} with the sizes below`, number(a.held_since_growth)],
      ['runs', number(a.runs)], ['factors', number(a.factors.length)],
    ]);
    const unit = a.relative ? 'of unlimited' : a.unit;
    table(box, [['buffer'], ['given', 1], ['size', 1], ['next smaller', 1], [unit, 1], ['case that breaks the next smaller size']], a.smaller.map((row) => [
      row.buffer, number(a.given[row.buffer]), number(row.size), row.smaller ? number(row.smaller) : 'not allowed',
      row.breaker ? score(row.breaker.score) : '', row.breaker ? what(row.breaker.differences) : row.smaller ? 'none found' : '']),
    (i) => a.given[a.smaller[i].buffer] !== a.smaller[i].size);
    if (a.counterexamples.length) {
      add(box, 'h3', 'Counterexamples');
      table(box, [['', 1], [unit, 1], ['case'], ['what grew'], ['then', 1], ['after runs', 1], ['file']], a.counterexamples.map((example, i) => [
        number(i + 1), score(example.score), what(example.differences),
        Object.entries(example.grown).map(([key, change]) => `${key} ${number(change.from)} → ${number(change.to)}`).join(', '),
        score(example.healed_score), number(example.after_runs), example.file]));
    }
    if (a.closest) add(box, 'p', `Closest case that held: ${score(a.closest.score)} with ${what(a.closest.differences)}.`);
    add(box, 'p', `${number(a.cases)} cases were tried, of which ${number(a.not_judged)} were not judged because their unlimited run missed the objective itself or did not end. This is evidence, not a proof.`);
    fold(box, `The ${a.factors.length} factors of the envelope`, (inner) => add(inner, 'p', a.factors.join(', ')));
  }

  function whyReport(box, study) {
    const a = study.answer;
    if (!a) { add(box, 'p', 'No answer yet: the study was interrupted.'); return; }
    remedies(box, a);
    const metric = ['goodput_gbps', 'message_time_p99_us', 'simulated_time_us'].find((name) => name in a.baseline);
    const unit = metric === 'goodput_gbps' ? 'Gb/s' : 'us';
    if (a.remedies.length) chart(box, `With each remedy, ${unit}`, 90 + 30 * (a.remedies.length + 1), () => ({
      type: 'bar',
      data: { labels: ['as it is', ...a.remedies.map((row) => settingsText(row.settings))], datasets: [{ data: [a.baseline[metric], ...a.remedies.map((row) => row[metric])], backgroundColor: [css('--starved'), ...a.remedies.map(() => series(0))], maxBarThickness: 18 }] },
      options: base({ indexAxis: 'y', scales: { x: axis(unit, { beginAtZero: true }), y: { grid: { display: false }, ticks: { autoSkip: false, callback(value) { const text = this.getLabelForValue(value); return text.length > (narrow() ? 24 : 52) ? `${text.slice(0, narrow() ? 23 : 51)}…` : text; } } } }, plugins: { legend: { display: false }, tooltip: tip((item) => item.label, (item) => [`${number(item.raw, 1)} ${unit}`, item.dataIndex ? `then limited by ${a.remedies[item.dataIndex - 1].next_cause}` : '']) } }),
    }));
    const ofMessages = a.causes.some((row) => 'us' in row);
    const causes = a.causes.filter((row) => (row.us ?? row.gbps) > 0.05).slice(0, 8);
    add(box, 'h3', ofMessages ? 'Time of the slowest percent of the messages as it is' : 'Lost line rate as it is');
    table(box, [['cause'], [ofMessages ? 'us' : 'Gb/s', 1], [ofMessages ? 'they waited for' : 'the ports waited for']], causes.map((row) => [row.cause, number(row.us ?? row.gbps, 2), causeMeaning(row.cause)]));
  }

  function studyReport() {
    document.title = `${data.database} – mrcsim`;
    add(page, 'h1', data.database);
    add(page, 'p', `${data.studies.length} stud${data.studies.length === 1 ? 'y' : 'ies'}.`);
    origin({});
    const kinds = { why: ['Why', whyReport], assumptions: ['Assumptions', sensitivityReport], sweep: ['Sweep', sweepReport], size: ['Size', sizeReport], sensitivity: ['Sensitivity', sensitivityReport], all: ['All buffers together', allReport], attack: ['Attack', attackReport] };
    for (const study of data.studies) {
      const [title, fill] = kinds[study.kind] || [study.kind, () => {}];
      const box = section(`${study.id}. ${title}: ${['size', 'sensitivity', 'assumptions'].includes(study.kind) ? study.description.buffer : study.scenario}`);
      const command = add(box, 'p');
      add(command, 'code', study.command);
      if (study.version) add(command, 'span', ` (mrcsim ${study.version})`);
      if (study.parameters) add(box, 'p', topology(study.parameters));
      fill(box, study);
      if (study.parameters) fold(box, 'Configuration', (inner) => configuration(study.parameters, inner));
    }
  }

  if (data.kind === 'run') runReport(); else studyReport();
  const picture = document.getElementById('picture');
  if (!picture.firstElementChild) picture.remove();
  // A part of the picture leads to its section, where there is one.
  for (const link of picture.querySelectorAll('a')) if (!document.querySelector(link.getAttribute('href'))) link.removeAttribute('href');
  add(page, 'footer', 'Written by mrcsim report. The page loads nothing; charts are drawn with Chart.js (MIT licence).');
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => redraw.forEach((draw) => draw()));
  window.mrcsimReady = true;
})();
