/** Notes: asked for, changed, kept. */
import { extentOf } from '../core/timeline/hit.ts';
import { timeText } from '../core/timeline/units.ts';
import { span, type View } from '../core/timeline/view.ts';
import { askForNote } from './dom/popups.ts';
import type { RunStage } from './runHost.ts';
import { inOrder, type Note } from './state/notes.ts';
import { targetOf } from './state/state.ts';

export interface NoteWishes {
  /** About the range, else what is selected, else the moment under the pointer. */
  add(): void;
  /** Opens one for its words; without words it goes. */
  write(note: Note): void;
  /** What is shown around one. */
  roomFor(note: Note): View;
}

export function makeNoteWishes(at: RunStage, show: (notes: readonly Note[]) => void): NoteWishes {
  const { run, host } = at;
  const write = (note: Note): void => {
    const where = note.end > note.start ? `${timeText(note.start)} to ${timeText(note.end)}` : timeText(note.start);
    askForNote(`Note, ${where}`, note.text, (text) => {
      const { notes } = at.state();
      const others = notes.filter((one) => one !== note);
      if (text === '' && others.length === notes.length) return;
      const next = text === '' ? others : inOrder([...others, { ...note, text }]);
      show(next);
      host.keepNotes(next);
      at.say(text === '' ? 'The note is gone.' : 'The note is kept.');
    });
  };
  return {
    write,
    add() {
      const { range, view } = at.state();
      const target = targetOf(at.state());
      const extent =
        range ??
        (target?.kind === 'hazard' ? run.hazards[target.index] : target && extentOf(run.trace, run.timeline, target));
      const moment = at.cursor() ?? (view.start + view.end) / 2;
      write({ start: extent?.start ?? moment, end: extent?.end ?? moment, text: '' });
    },
    roomFor({ start, end }) {
      const length = Math.max((end - start) * 1.6, span(at.state().view) / 4);
      const middle = (start + end) / 2;
      return { start: middle - length / 2, end: middle + length / 2 };
    },
  };
}
