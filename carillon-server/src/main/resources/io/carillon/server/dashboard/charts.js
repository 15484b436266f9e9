// Charts of the minute statistics. All pages draw with these functions.
import { get, serverNow } from './api.js';
import { clock, day, span, zone, zoneName } from './format.js';
import { SHARED, useLoad } from './load.js';
import { html, useEffect, useRef, useStore } from './ui.js';

// The build of uPlot that is small is a script, not a module.
const Plot = globalThis.uPlot;

/** Ranges of charts: name, length and step in milliseconds, step in the form of the API. */
export const RANGES = {
  '1h': ['1 hour', 3600e3, 60e3, '1m'],
  '6h': ['6 hours', 6 * 3600e3, 300e3, '5m'],
  '24h': ['24 hours', 24 * 3600e3, 3600e3, '1h'],
  '7d': ['7 days', 7 * 86400e3, 6 * 3600e3, '6h'],
};

/** Reads the statistics of a range, of a queue or handler if `filter` names one. */
export function useStats(range, filter = {}) {
  const [, length, stepMillis, step] = RANGES[range];
  const read = (how) => {
    // The range ends with the step in progress, and has a whole number of steps.
    const to = Math.ceil(serverNow() / stepMillis) * stepMillis;
    const period = { from: new Date(to - length).toISOString(), to: new Date(to).toISOString() };
    return get('v1/stats', { ...period, step, ...filter }, how);
  };
  return useLoad('stats ' + range + JSON.stringify(filter), read, {
    every: range === '1h' ? 5000 : 30000,
    ...SHARED,
  });
}

/** Returns the columns of uPlot: seconds, then one column for each reader. */
export function columns(points, readers) {
  return [
    points.map((point) => Date.parse(point.at) / 1000),
    ...readers.map((read) => points.map((point) => read(point) ?? null)),
  ];
}

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function axis(extra) {
  return {
    stroke: style('--quiet'),
    grid: { stroke: style('--line'), width: 1 },
    ticks: { show: false },
    font: '12px ' + style('--font'),
    ...extra,
  };
}

/** Bars begin at their instant, so that the last one ends a step after it. */
const stepOf = ([times]) => (times.length > 1 ? times[1] - times[0] : 60);

/** A line of single points would not be seen. */
const lonely = (plot, series) => plot.data[series].filter((one) => one !== null).length < 20;

function options(series, { height, unit, bars, width, timeZone }) {
  const times = (plot, splits) =>
    splits.map((at, i) =>
      i === 0 || splits[i] - splits[i - 1] >= 86400 || clock(at * 1000, timeZone) === '00:00'
        ? clock(at * 1000, timeZone) === '00:00'
          ? day(at * 1000, timeZone)
          : clock(at * 1000, timeZone)
        : clock(at * 1000, timeZone),
    );
  return {
    width,
    height,
    padding: [10, 8, 0, 0],
    legend: { show: false },
    select: { show: false },
    cursor: { drag: { setScale: false }, points: { size: 6 }, y: false },
    scales: {
      x: { time: true, range: (plot, low, high) => [low, high + stepOf(plot.data)] },
      y: { range: (plot, low, high) => [0, Math.max(high || 0, unit === 'ms' ? 10 : 1) * 1.08] },
    },
    axes: [
      axis({ values: times, space: 70, size: 30 }),
      axis({
        size: 52,
        space: 36,
        values: (plot, values) =>
          values.map((value) => (unit === 'ms' ? span(value) : Number.isInteger(value) ? String(value) : '')),
      }),
    ],
    series: [
      {},
      ...series.map((one) => ({
        label: one.name,
        stroke: style(one.color),
        width: bars ? 0 : 2,
        fill: bars ? style(one.color) : undefined,
        spanGaps: false,
        points: { show: bars ? false : lonely, size: 4 },
        ...(bars && { paths: Plot.paths.bars({ size: [0.8, 40], align: 1 }) }),
      })),
    ],
  };
}

/** A chart with a legend and a text for screen readers. The bars of the first series contain those of the next. */
export function Chart({ data, series, height = 170, unit = '', bars = false, label, summary }) {
  const box = useRef(null);
  const tip = useRef(null);
  const plot = useRef(null);
  const timeZone = zoneName(useStore(zone));
  const newest = useRef(data);
  newest.current = data;
  useEffect(() => {
    const draw = () => {
      plot.current?.destroy();
      const width = Math.max(120, box.current.clientWidth - 20);
      plot.current = new Plot(
        {
          ...options(series, { height, unit, bars, width, timeZone }),
          hooks: {
            setCursor: [
              (drawn) => {
                tip.current.textContent = describe(drawn, series, unit, timeZone);
              },
            ],
          },
        },
        newest.current,
        box.current,
      );
    };
    draw();
    const sizes = new ResizeObserver(() => {
      const width = Math.max(120, box.current.clientWidth - 20);
      if (Math.abs(width - plot.current.width) > 2) plot.current.setSize({ width, height });
    });
    sizes.observe(box.current);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    window.addEventListener('themechange', draw);
    return () => {
      sizes.disconnect();
      scheme.removeEventListener('change', draw);
      window.removeEventListener('themechange', draw);
      plot.current.destroy();
    };
  }, [timeZone, height, unit, bars]);
  useEffect(() => plot.current?.setData(data), [data]);
  return html`<figure><div class="chart" style=${{ minHeight: `${height + 12}px` }} role="img" aria-label=${label + '. ' + (summary || '')} ref=${box}></div>
    <div class="legend">${series.map((one) => html`<span><i class=${one.fill}></i>${one.name}</span>`)}<span class="num" ref=${tip}></span></div></figure>`;
}

function describe(plot, series, unit, timeZone) {
  const at = plot.cursor.idx;
  if (at === null || at === undefined) return '';
  const values = series
    .map((one, i) => plot.data[i + 1][at])
    .map((value, i) =>
      value === null || value === undefined ? '' : series[i].name + ' ' + (unit === 'ms' ? span(value) : value),
    )
    .filter(Boolean);
  return clock(plot.data[0][at] * 1000, timeZone) + (values.length ? ': ' + values.join(', ') : '');
}
