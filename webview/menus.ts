/** The two menus of the timeline: what can be done with the run, and with what lies at a place. */
import { extentOf, type Target } from '../core/timeline/hit.ts';
import { timeText } from '../core/timeline/units.ts';
import type { MenuEntry } from './dom/menu.ts';
import { showTable } from './dom/popups.ts';
import type { Theme } from './draw/theme.ts';
import { chromeOf, drawingOf, type MadeFile, pictureOf, reportOf } from './exporting.ts';
import type { NoteWishes } from './noteWishes.ts';
import type { RunStage } from './runHost.ts';
import { sourceOf } from './state/details.ts';
import * as states from './state/state.ts';
import { rowsInView, tableColumns } from './state/tableRows.ts';

export interface MenuWishes {
  readonly notes: NoteWishes;
  /** The canvases, from the lowest. */
  layers(): readonly HTMLCanvasElement[];
  theme(): Theme;
  move(target: Target): void;
  reveal(target: Target): void;
  help(): void;
}

export function runEntries(at: RunStage, wishes: MenuWishes): MenuEntry[] {
  const { run, host } = at;
  const { sources } = host;
  const state = at.state();
  const { kind } = wishes.theme();
  const shade = kind === 'dark' || kind === 'highContrast' ? 'dark' : 'light';
  const make = (file: () => Promise<MadeFile>) => () => void save(at, file);
  return [
    { words: 'The view as PNG', act: make(() => pictureOf(run.name, wishes.layers())) },
    { words: 'The view as SVG', act: make(async () => drawingOf(run, at.state().view, shade)) },
    {
      words: 'A report in HTML',
      disabled: !sources || run.timeline.parts.length > 1,
      act: make(async () => reportOf(run.name, await host.bytes(), sources!)),
    },
    { words: 'Chrome JSON, for Perfetto', act: make(() => chromeOf(run)) },
    'line',
    { words: 'What is shown as a table', key: 'T', act: () => openTable(at, wishes) },
    { words: 'Add a note…', key: 'B', act: wishes.notes.add },
    { words: 'Range statistics', key: 'R', act: () => at.update(states.toggleRange(at.state(), run)) },
    { words: 'Measure', key: 'M', act: () => at.update(states.toggleMeasure(at.state(), run, undefined)) },
    {
      words: 'Only matches',
      key: 'O',
      disabled: !state.search,
      checked: state.filter,
      act: () => at.update(states.toggleFilter(at.state())),
    },
    'line',
    { words: 'Open a trace…', act: () => host.pick() },
    { words: 'Keys', key: '?', act: wishes.help },
  ];
}

async function save(at: RunStage, file: () => Promise<MadeFile>): Promise<void> {
  at.say('Making the file.');
  try {
    const made = await file();
    at.host.save(made);
    at.say(`${made.name} is ready.`);
  } catch (error) {
    at.say((error as Error).message);
  }
}

export function openTable(at: RunStage, wishes: Pick<MenuWishes, 'move'>): void {
  const { view } = at.state();
  const { rows, more } = rowsInView(at.shown(), at.layout(), view);
  const note = `${timeText(view.start)} to ${timeText(view.end)}${more ? '. Not all: zoom in to read the rest.' : ''}`;
  const listed = rows.map(({ target, cells }) => ({ cells, act: () => wishes.move(target) }));
  showTable('What is shown', note, tableColumns, listed);
}

/** Of what lies at a place; without it, of the moment. */
export function placeEntries(at: RunStage, wishes: MenuWishes, target: Target | undefined, time: number): MenuEntry[] {
  const { run } = at;
  const { start, end } =
    target?.kind === 'hazard'
      ? run.hazards[target.index]!
      : target
        ? extentOf(run.trace, run.timeline, target)
        : { start: time, end: time };
  const measure = (): void => at.update(states.toggleMeasure({ ...at.state(), measure: undefined }, run, end));
  const note = (): void => wishes.notes.write({ start, end, text: '' });
  if (!target)
    return [
      { words: 'Measure from here', key: 'M', act: measure },
      { words: 'Note here…', key: 'B', act: note },
      {
        words: 'Show the whole run',
        key: '0',
        act: () => at.update(states.withView(at.state(), run, run.timeline.bounds)),
      },
    ];
  return [
    { words: 'Show in the source', key: 'Enter', disabled: !sourceOf(run, target), act: () => wishes.reveal(target) },
    { words: 'Fit', key: 'F', act: () => at.update(states.fitSelection(at.state(), run)) },
    { words: 'Range over it', key: 'R', act: () => at.update({ ...at.state(), range: { start, end } }) },
    { words: 'Measure from its end', key: 'M', act: measure },
    { words: 'Note…', key: 'B', act: note },
  ];
}
