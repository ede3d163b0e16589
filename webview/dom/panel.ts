/** The side panel: the list of findings over the details of what is selected, as tabs where the panel is narrow. */
import { headline, severityOf } from '../../core/timeline/findings.ts';
import { counted, percent, sizeText, timeNumber, timeText, unitFor } from '../../core/timeline/units.ts';
import { span, type View } from '../../core/timeline/view.ts';
import type { Run } from '../messages.ts';
import { type DetailRow, type Details, type Place, placeText, statusText } from '../state/details.ts';
import type { Statistics } from '../state/statistics.ts';
import { element, prose, replace, signOf } from './element.ts';

export interface PanelWishes {
  showFinding(index: number): void;
  reveal(place: Place): void;
}

export interface Panel {
  readonly root: HTMLElement;
  showRun(run: Run, urgency: readonly number[]): void;
  /** Marks the finding that is shown; -1: none. */
  showFinding(index: number): void;
  showDetails(details: Details | undefined, confirmed?: { status: 'confirmed' | 'latent'; severity: string }): void;
  showTouched(reads: readonly string[], writes: readonly string[]): void;
  showRange(range: View, statistics: Statistics, colorOf: (stream: number) => string): void;
  showSummary(run: Run, colorOf: (stream: number) => string): void;
}

type Tab = 'findings' | 'details';

/** More findings than this are in the file but not in the list: nobody reads the 501st. */
const mostListed = 500;

export function makePanel(wishes: PanelWishes): Panel {
  const count = element('span', { class: 'badge' });
  const list = element('div', { class: 'findings', role: 'listbox', 'aria-label': 'Findings' });
  const details = element('div', { class: 'details', role: 'region', 'aria-label': 'Details', tabindex: '0' });
  const touched = element('p', { class: 'touched note' });
  const items = new Map<number, HTMLElement>();
  const tabs = new Map<Tab, HTMLButtonElement>();
  const root = element('aside', { class: 'side', 'aria-label': 'Findings and details' });

  const choose = (tab: Tab): void => {
    root.dataset.tab = tab;
    for (const [name, button] of tabs) button.setAttribute('aria-selected', String(name === tab));
  };
  for (const [tab, words] of [
    ['findings', 'Findings'],
    ['details', 'Details'],
  ] as const)
    tabs.set(tab, element('button', { type: 'button', role: 'tab', on: { click: () => choose(tab) } }, words));
  replace(
    root,
    element('div', { class: 'tabs', role: 'tablist' }, ...tabs.values()),
    element('h2', {}, 'Findings', count, element('span', { class: 'right' }, 'by urgency')),
    list,
    details,
  );
  choose('findings');

  const link = (place: Place | undefined, words?: string): HTMLElement | undefined => {
    if (!place) return undefined;
    const text = words ?? placeText(place);
    if (place.line <= 0) return element('span', { title: place.file }, text);
    return element(
      'button',
      {
        class: 'link',
        type: 'button',
        title: `${place.file}:${place.line}`,
        on: { click: () => wishes.reveal(place) },
      },
      text,
    );
  };

  const row = (entry: DetailRow, split: boolean): HTMLElement => {
    const label = element(
      'td',
      {},
      entry.label,
      entry.place ? ', ' : '',
      link(entry.place, entry.place && `:${entry.place.line}`),
    );
    const cells =
      entry.value !== undefined
        ? [element('td', { class: 'number', colspan: split ? '2' : undefined }, entry.value)]
        : [element('td', { class: 'number' }, entry.host ?? ''), element('td', { class: 'number' }, entry.gpu ?? '')];
    return element('tr', { class: entry.strong ? 'strong' : undefined }, label, ...cells);
  };

  const table = (heading: readonly string[], rows: readonly HTMLElement[]): HTMLElement =>
    element(
      'table',
      {},
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          ...heading.map((text, i) => element('th', { class: i > 0 ? 'number' : undefined, scope: 'col' }, text)),
        ),
      ),
      element('tbody', {}, ...rows),
    );

  const line = (...cells: (string | HTMLElement)[]): HTMLElement =>
    element('tr', {}, ...cells.map((cell, i) => element('td', { class: i > 0 ? 'number' : undefined }, cell)));

  const streamCell = (name: string, color: string): HTMLElement => {
    const chip = element('span', { class: 'chip' });
    chip.style.backgroundColor = color;
    return element('span', {}, chip, name);
  };

  return {
    root,
    showRun(run, urgency) {
      items.clear();
      count.textContent = `${run.hazards.length}`;
      tabs.get('findings')!.textContent = `Findings ${run.hazards.length}`;
      replace(list);
      for (const index of urgency.slice(0, mostListed)) {
        const hazard = run.hazards[index]!;
        const item = element(
          'button',
          {
            class: 'finding',
            type: 'button',
            role: 'option',
            'aria-selected': 'false',
            on: { click: () => wishes.showFinding(index) },
          },
          signOf(hazard.status, severityOf(hazard)),
          element(
            'span',
            { class: 'finding-words' },
            element('span', { class: 'finding-title' }, headline(hazard.message)),
            element('span', { class: 'note' }, `${statusText(hazard)} · ${hazard.code}`),
            element('span', { class: 'note' }, placeText(hazard.at)),
          ),
        );
        items.set(index, item);
        list.append(item);
      }
      if (urgency.length > mostListed)
        list.append(
          element(
            'p',
            { class: 'note padded' },
            `${counted(urgency.length - mostListed, 'more finding')}: see raceline trace.`,
          ),
        );
      if (urgency.length === 0) {
        const text = run.trace.limits.length
          ? 'None. No finding here does not mean no fault: see what this file cannot tell.'
          : 'None in this run.';
        list.append(element('p', { class: 'note padded' }, text));
      }
    },
    showFinding(index) {
      for (const [hazard, item] of items) item.setAttribute('aria-selected', String(hazard === index));
      items.get(index)?.scrollIntoView({ block: 'nearest' });
    },
    showDetails(facts, sign) {
      if (!facts) {
        replace(details);
        return;
      }
      const source = facts.source;
      replace(touched);
      replace(
        details,
        element('h3', {}, sign ? signOf(sign.status, sign.severity) : undefined, facts.title),
        element('div', { class: 'note' }, facts.note),
        ...facts.text.map((text) => element('p', {}, ...prose(text))),
        facts.rows.length > 0 &&
          table(
            facts.split ? [facts.heading ?? 'Accesses', 'host', 'GPU'] : [facts.heading ?? '', ''],
            facts.rows.map((entry) => row(entry, facts.split === true)),
          ),
        touched,
        facts.related.length > 0 && element('h4', {}, 'Related'),
        facts.related.length > 0 &&
          element(
            'ul',
            { class: 'places' },
            ...facts.related.map((place) => element('li', {}, link(place), ' ', place.name)),
          ),
        facts.stack.length > 0 && element('h4', {}, 'Called from'),
        facts.stack.length > 0 &&
          element(
            'ul',
            { class: 'places' },
            ...facts.stack.map((place) => element('li', {}, link(place), ' ', element('code', {}, place.name))),
          ),
        source &&
          element(
            'div',
            { class: 'actions' },
            element(
              'button',
              { class: 'primary', type: 'button', on: { click: () => wishes.reveal(source) } },
              'Show in editor',
            ),
          ),
      );
      details.scrollTop = 0;
      choose(sign && root.dataset.tab === 'findings' ? 'findings' : 'details');
    },
    showTouched(reads, writes) {
      const parts = [reads.length && `reads ${reads.join(', ')}`, writes.length && `writes ${writes.join(', ')}`];
      replace(touched, parts.filter(Boolean).join('; '));
    },
    showRange(range, statistics, colorOf) {
      const unit = unitFor(Math.max(...statistics.longest.map((entry) => entry.total), 0));
      replace(
        details,
        element('h3', {}, `Range, ${timeText(span(range))}`),
        element('div', { class: 'note' }, `${timeText(range.start)} to ${timeText(range.end)} · Esc clears it`),
        table(
          ['Stream', 'busy', 'waiting', 'slices'],
          statistics.streams.map((entry) =>
            line(
              streamCell(entry.name, colorOf(entry.stream)),
              percent(entry.busy),
              timeText(entry.waiting),
              `${entry.slices}`,
            ),
          ),
        ),
        table(
          ['Longest', 'count', 'total'],
          statistics.longest.map((entry, i) =>
            line(entry.name, `${entry.count}`, timeNumber(entry.total, unit) + (i === 0 ? ` ${unit.name}` : '')),
          ),
        ),
        statistics.memory.length > 0 &&
          table(
            ['Memory', 'lowest', 'highest'],
            statistics.memory.map((entry) => line(entry.name, sizeText(entry.lowest), sizeText(entry.highest))),
          ),
        element('p', { class: 'note' }, 'Slices that cross an edge count with the part inside.'),
        statistics.sampled && element('p', { class: 'note' }, 'The table of names counts the first 200 000 slices.'),
      );
      choose('details');
    },
    showSummary(run, colorOf) {
      const { counts, limits } = run.trace;
      replace(
        details,
        element('h3', {}, 'Whole run'),
        element(
          'div',
          { class: 'note' },
          `${timeText(span(run.timeline.bounds))} · ${run.trace.clock === 'model' ? 'modelled times' : 'recorded on a GPU'}`,
        ),
        table(
          ['Stream', 'busy', 'slices'],
          run.timeline.streams.map((lane) =>
            line(streamCell(lane.name, colorOf(lane.stream)), percent(lane.busy), `${lane.slices}`),
          ),
        ),
        table(
          ['Recorded', 'count'],
          [
            line('Kernels', `${counts.kernels}`),
            line('Copies', `${counts.copies}`),
            line('Event records', `${counts.records}`),
            line(
              'Waits',
              counts.waits === counts.waitsWithRecord
                ? `${counts.waits}`
                : `${counts.waits}, ${counts.waitsWithRecord} with their record`,
            ),
            line('Allocations', `${counts.allocations}`),
          ],
        ),
        limits.length > 0 && element('h4', {}, 'What this file cannot tell'),
        limits.length > 0 &&
          element('ul', { class: 'limits' }, ...limits.map((limit) => element('li', {}, ...prose(limit)))),
        element('p', { class: 'note' }, run.trace.producer),
      );
    },
  };
}
