/**
 * The side panel: the list of findings over the details of what is selected, the whole run, and the notes; as tabs of one
 * row where the panel is narrow.
 */
import { headline, severityOf } from '../../core/timeline/findings.ts';
import type { Target } from '../../core/timeline/hit.ts';
import { counted, shortened, timeText } from '../../core/timeline/units.ts';
import { span, type View } from '../../core/timeline/view.ts';
import type { OperatorInput } from '../../core/trace/inputs-reader.ts';
import type { Run } from '../messages.ts';
import { type DetailRow, type Details, placeText, statusText } from '../state/details.ts';
import type { Note } from '../state/notes.ts';
import type { Section } from '../state/sections.ts';
import { element, prose, replace, signOf } from './element.ts';
import { type LinkWishes, placeLink, sectionOf, table, targetLink } from './sections.ts';
import { makeTabs } from './tabs.ts';

export interface PanelWishes extends LinkWishes {
  showFinding(index: number): void;
  showNote(note: Note): void;
  editNote(note: Note): void;
  addNote(): void;
  align(by: string): void;
}

export interface Panel {
  readonly root: HTMLElement;
  showRun(run: Run, urgency: readonly number[]): void;
  /** Marks the finding that is shown; -1: none. */
  showFinding(index: number): void;
  /** `play` shows how a finding goes wrong. */
  showDetails(
    details: Details | undefined,
    sign?: { status: 'confirmed' | 'latent'; severity: string },
    play?: () => void,
  ): void;
  showTouched(reads: readonly string[], writes: readonly string[]): void;
  /** Who uses the selected block. */
  showUsers(users: readonly { readonly name: string; readonly gpu: string; readonly target: Target }[]): void;
  /** What the selected operator, or the one that launched what is selected, was called with. */
  showInputs(operator: string, inputs: readonly OperatorInput[]): void;
  showRange(range: View, sections: readonly Section[]): void;
  showSections(title: string, note: string, sections: readonly Section[]): void;
  /** `ask` works out what takes a while. */
  showSummary(run: Run, sections: readonly Section[], ask?: () => void): void;
  /** Nothing is selected: the whole run is what there is to read. */
  chooseSummary(): void;
  showNotes(notes: readonly Note[], canKeep: boolean): void;
}

/** More findings than this are in the file but not in the list: nobody reads the 501st. */
const mostListed = 500;

const alignmentWords = {
  start: 'Starts together',
  kernel: 'First kernels together',
  clock: 'By the clock',
} as const;

export function makePanel(wishes: PanelWishes): Panel {
  const badge = element('span', { class: 'badge' });
  const list = element('div', { class: 'findings', role: 'listbox', 'aria-label': 'Findings' });
  const listNote = element('div', { class: 'findings-note' });
  const details = element('div', { class: 'facts details' });
  const whole = element('div', { class: 'facts whole-run' });
  const notes = element('div', { class: 'facts notes' });
  const touched = element('p', { class: 'touched note' });
  const users = element('div', {});
  const inputs = element('div', {});
  const items = new Map<number, HTMLElement>();
  const findings = element('div', { class: 'findings-part' }, list, listNote);
  const tabs = makeTabs([
    { key: 'findings', words: 'Findings', content: findings },
    { key: 'details', words: 'Details', content: details },
    { key: 'run', words: 'Run', content: whole },
    { key: 'notes', words: 'Notes', content: notes },
  ]);
  const root = element(
    'aside',
    { class: 'side', 'aria-label': 'Findings and details' },
    element('h2', {}, 'Findings', badge, element('span', { class: 'right' }, 'by urgency')),
    ...tabs.parts,
  );
  tabs.choose('findings');

  list.addEventListener('keydown', (event) => {
    const all = [...items.values()];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    focusOn(all[Math.min(Math.max(to, 0), all.length - 1)]!);
  });
  /** One finding is in the tab order. */
  const focusOn = (item: HTMLElement, focus = true): void => {
    for (const other of items.values()) other.tabIndex = -1;
    item.tabIndex = 0;
    if (focus) item.focus();
  };

  const row = (entry: DetailRow, split: boolean): HTMLElement => {
    const label = element(
      'td',
      {},
      entry.target ? targetLink(entry.target, entry.label, wishes) : entry.label,
      entry.place ? ', ' : '',
      placeLink(entry.place, wishes, entry.place && `:${entry.place.line}`),
    );
    const cells =
      entry.value !== undefined
        ? [element('td', { class: 'number', colspan: split ? '2' : undefined }, entry.value)]
        : [element('td', { class: 'number' }, entry.host ?? ''), element('td', { class: 'number' }, entry.gpu ?? '')];
    return element('tr', { class: entry.strong ? 'strong' : undefined }, label, ...cells);
  };

  return {
    root,
    showRun(run, urgency) {
      items.clear();
      badge.textContent = `${run.hazards.length}`;
      tabs.setWords('findings', `Findings ${run.hazards.length}`);
      replace(list);
      for (const index of urgency.slice(0, mostListed)) {
        const hazard = run.hazards[index]!;
        const part = run.timeline.parts.findIndex(({ hazards }) => index >= hazards.from && index < hazards.to);
        const where = run.timeline.parts.length > 1 ? `${run.timeline.parts[part]?.name} · ` : '';
        const item = element(
          'div',
          {
            class: 'finding',
            role: 'option',
            tabindex: '-1',
            'aria-selected': 'false',
            on: {
              click: () => wishes.showFinding(index),
              keydown: (event: KeyboardEvent) => {
                if (event.key !== 'Enter' && event.key !== ' ') return;
                event.preventDefault();
                event.stopPropagation();
                wishes.showFinding(index);
              },
            },
          },
          signOf(hazard.status, severityOf(hazard)),
          element(
            'span',
            { class: 'finding-words' },
            element('span', { class: 'finding-title' }, headline(hazard.message)),
            element('span', { class: 'note' }, `${where}${statusText(hazard)} · ${hazard.code}`),
            element('span', { class: 'note' }, placeText(hazard.at)),
          ),
        );
        items.set(index, item);
        list.append(item);
      }
      const [first] = items.values();
      if (first) focusOn(first, false);
      list.hidden = items.size === 0;
      replace(listNote, ...noteOnFindings(run, urgency.length));
    },
    showFinding(index) {
      for (const [hazard, item] of items) item.setAttribute('aria-selected', String(hazard === index));
      const item = items.get(index);
      if (!item) return;
      focusOn(item, false);
      item.scrollIntoView({ block: 'nearest' });
    },
    showDetails(facts, sign, play) {
      if (!facts) {
        replace(
          details,
          element('p', { class: 'note' }, 'Select a slice, a block, an edge or a finding to see what is known of it.'),
        );
        return;
      }
      const source = facts.source;
      replace(touched);
      replace(users);
      replace(inputs);
      replace(
        details,
        element('h3', {}, sign ? signOf(sign.status, sign.severity) : undefined, facts.title),
        element('div', { class: 'note' }, facts.note),
        ...facts.text.map((text) => element('p', {}, ...prose(text))),
        facts.rows.length > 0 &&
          table(
            facts.split ? [facts.heading ?? 'Accesses', 'host', 'GPU'] : [facts.heading ?? 'What', 'value'],
            facts.rows.map((entry) => row(entry, facts.split === true)),
          ),
        touched,
        inputs,
        users,
        facts.related.length > 0 && element('h4', {}, 'Related'),
        facts.related.length > 0 &&
          element(
            'ul',
            { class: 'places' },
            ...facts.related.map((place) => element('li', {}, placeLink(place, wishes), ' ', place.name)),
          ),
        facts.stack.length > 0 && element('h4', {}, 'Called from'),
        facts.stack.length > 0 &&
          element(
            'ul',
            { class: 'places' },
            ...facts.stack.map((place) =>
              element('li', {}, placeLink(place, wishes), ' ', element('code', {}, place.name)),
            ),
          ),
        element(
          'div',
          { class: 'actions' },
          source &&
            element(
              'button',
              { class: 'primary', type: 'button', on: { click: () => wishes.reveal(source) } },
              'Show in editor',
            ),
          play &&
            element('button', { class: 'secondary', type: 'button', on: { click: play } }, 'Show how it goes wrong'),
        ),
      );
      tabs.rewind('details');
      // Where the list stands above, the details go below it; where there is room for one, the list stays if it was there.
      const stays = sign !== undefined && (tabs.chosen() === 'findings' || !tabs.isOneRow());
      tabs.choose(stays ? 'findings' : 'details');
    },
    showTouched(reads, writes) {
      const parts = [reads.length && `reads ${reads.join(', ')}`, writes.length && `writes ${writes.join(', ')}`];
      replace(touched, parts.filter(Boolean).join('; '));
    },
    showUsers(list) {
      replace(
        users,
        list.length > 0 &&
          table(
            ['Used by', 'GPU'],
            list.map(({ name, gpu, target }) =>
              element(
                'tr',
                {},
                element('td', {}, targetLink(target, name, wishes)),
                element('td', { class: 'number' }, gpu),
              ),
            ),
          ),
      );
    },
    showInputs(operator, list) {
      const known = list.map((input, i) => ({ ...input, place: i + 1 })).filter(isKnown);
      replace(
        inputs,
        known.length > 0 && element('h4', {}, `Inputs of ${shortened(operator)}`),
        known.length > 0 &&
          table(
            ['Type', 'Shape or value'],
            known.map(({ place, type, shape, value }) =>
              element(
                'tr',
                {},
                element('td', {}, `${place} ${type === '' ? 'value' : type}`),
                element(
                  'td',
                  { class: 'number' },
                  shape || shortened(value) || (type.startsWith('Scalar') ? '' : 'no dimensions'),
                ),
              ),
            ),
          ),
      );
    },
    showRange(range, sections) {
      replace(
        details,
        element('h3', {}, `Range, ${timeText(span(range))}`),
        element('div', { class: 'note' }, `${timeText(range.start)} to ${timeText(range.end)} · Esc clears it`),
        ...sections
          .filter(({ rows, notes: said }) => rows.length > 0 || said)
          .map((section) => sectionOf(section, wishes)),
      );
      tabs.choose('details');
    },
    showSections(title, note, sections) {
      replace(
        details,
        element('h3', {}, title),
        element('div', { class: 'note' }, note),
        ...sections.map((section) => sectionOf(section, wishes)),
      );
      tabs.choose('details');
    },
    showSummary(run, sections, ask) {
      const { limits } = run.trace;
      const { aligned } = run;
      const two = run.timeline.parts.length > 1;
      tabs.setWords('run', two ? 'Runs' : 'Run');
      const choice =
        aligned &&
        element(
          'select',
          { 'aria-label': 'How the two runs are aligned', on: { change: () => wishes.align(choice!.value) } },
          ...aligned.choices.map((by) =>
            element('option', { value: by, selected: by === aligned.by }, alignmentWords[by]),
          ),
        );
      replace(
        whole,
        element('h3', {}, two ? 'Two runs' : 'Whole run'),
        element(
          'div',
          { class: 'note' },
          `${timeText(span(run.timeline.bounds))} · ${run.trace.clock === 'model' ? 'modelled times' : 'recorded on a GPU'}`,
        ),
        choice,
        ...sections.map((section) => sectionOf(section, wishes)),
        ask &&
          element(
            'div',
            { class: 'actions' },
            element(
              'button',
              { class: 'secondary', type: 'button', on: { click: ask } },
              'What ran at once, what waited, what could go',
            ),
          ),
        limits.length > 0 && element('h4', {}, 'What this file cannot tell'),
        limits.length > 0 &&
          element('ul', { class: 'limits' }, ...limits.map((limit) => element('li', {}, ...prose(limit)))),
        element('p', { class: 'note' }, run.trace.producer),
      );
    },
    chooseSummary: () => tabs.choose(tabs.isOneRow() ? 'findings' : 'run'),
    showNotes(all, canKeep) {
      tabs.setWords('notes', all.length > 0 ? `Notes ${all.length}` : 'Notes');
      replace(
        notes,
        element('h3', {}, 'Notes'),
        element(
          'p',
          { class: 'note' },
          canKeep ? 'They are kept in a file beside the trace.' : 'They are kept in this browser.',
        ),
        element(
          'ul',
          { class: 'places note-list' },
          ...all.map((note) =>
            element(
              'li',
              {},
              element(
                'button',
                { class: 'link', type: 'button', on: { click: () => wishes.showNote(note) } },
                note.end > note.start ? `${timeText(note.start)} to ${timeText(note.end)}` : timeText(note.start),
              ),
              ' ',
              element('span', { class: 'note-text' }, note.text),
              ' ',
              element(
                'button',
                {
                  class: 'link quiet',
                  type: 'button',
                  'aria-label': `Edit the note at ${timeText(note.start)}`,
                  on: { click: () => wishes.editNote(note) },
                },
                'Edit',
              ),
            ),
          ),
        ),
        element(
          'div',
          { class: 'actions' },
          element('button', { class: 'secondary', type: 'button', on: { click: wishes.addNote } }, 'Add a note'),
        ),
      );
    },
  };
}

function noteOnFindings(run: Run, listed: number): HTMLElement[] {
  const say = (text: string): HTMLElement[] => [element('p', { class: 'note padded' }, text)];
  if (listed > mostListed) return say(`${counted(listed - mostListed, 'more finding')}: see raceline trace.`);
  if (listed > 0) return [];
  return say(
    run.trace.limits.length
      ? 'None. No finding here does not mean no fault: see what this file cannot tell.'
      : 'None in this run.',
  );
}

/** An optional input that was not given has neither a type nor a value. */
function isKnown({ type, shape, value }: OperatorInput): boolean {
  return type !== '' || shape !== '' || value !== '';
}
