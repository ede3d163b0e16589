/** The words that are typed into the search field, and when the run is looked through for them. */
import type { RunStage } from './runHost.ts';
import * as states from './state/state.ts';

/** Up to so many slices a search is done before the next letter. */
const quicklySearched = 500_000;

export interface Searching {
  /** Each letter looks through the whole run: through a large one when the typing pauses. */
  search(text: string): void;
  nextMatch(by: 1 | -1): void;
  close(): void;
}

export function makeSearching(at: RunStage): Searching {
  const { run } = at;
  const isLarge = run.trace.deviceSlices.length + run.trace.hostSlices.length > quicklySearched;
  let typed: string | undefined;
  let timer = 0;

  function searchNow(): void {
    clearTimeout(timer);
    if (typed !== undefined) at.update(states.searchFor(at.state(), run, typed));
    typed = undefined;
  }

  return {
    search(text) {
      typed = text;
      clearTimeout(timer);
      if (isLarge && text !== '') timer = window.setTimeout(searchNow, 200);
      else searchNow();
    },
    nextMatch(by) {
      searchNow();
      at.update(states.nextMatch(at.state(), run, by));
    },
    close: () => clearTimeout(timer),
  };
}
