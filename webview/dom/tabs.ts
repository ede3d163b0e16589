/** Tabs as screen readers know them: arrow keys go through them, one is in the tab order, each names its panel. */
import { element } from './element.ts';

export interface TabFacts {
  readonly key: string;
  readonly words: string;
  readonly content: HTMLElement;
}

export interface Tabs {
  /** The row of tabs and the panels, the first panel before the row: where there is room it stands above on its own. */
  readonly parts: readonly HTMLElement[];
  choose(key: string): void;
  chosen(): string;
  setWords(key: string, words: string): void;
  rewind(key: string): void;
  /** Whether the first panel is a tab like the others: there is room for one panel only. */
  isOneRow(): boolean;
}

export function makeTabs(facts: readonly TabFacts[]): Tabs {
  const row = element('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Panel' });
  const tabs = new Map<string, HTMLButtonElement>();
  const panels = new Map<string, HTMLElement>();
  let chosen = '';
  for (const { key, words, content } of facts) {
    const tab = element(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `tab-${key}`,
        'aria-controls': `panel-${key}`,
        tabindex: '-1',
        on: { click: () => choose(key) },
      },
      words,
    );
    tabs.set(key, tab);
    row.append(tab);
    panels.set(
      key,
      element(
        'div',
        {
          class: `tab-panel ${key}-panel`,
          role: 'tabpanel',
          id: `panel-${key}`,
          'aria-labelledby': `tab-${key}`,
          tabindex: '0',
        },
        content,
      ),
    );
  }
  const [firstKey = ''] = tabs.keys();
  const isOneRow = (): boolean => getComputedStyle(tabs.get(firstKey)!).display !== 'none';

  function choose(key: string): void {
    chosen = key;
    // Where the first panel always shows, another one must be chosen below it.
    const below = key === firstKey && !isOneRow() ? [...tabs.keys()][1]! : key;
    for (const [name, tab] of tabs) {
      const isChosen = name === key || (name === below && key === firstKey && !isOneRow());
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      panels.get(name)!.classList.toggle('chosen', isChosen);
    }
  }

  // Between a wide and a narrow page the first panel becomes one of the tabs, or stops being one.
  let wasOneRow: boolean | undefined;
  new ResizeObserver(() => {
    const now = isOneRow();
    if (now !== wasOneRow && chosen !== '') choose(chosen);
    wasOneRow = now;
  }).observe(row);

  row.addEventListener('keydown', (event) => {
    const shown = [...tabs.values()].filter((tab) => tab.offsetParent !== null);
    const at = shown.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const tab = shown[(to + shown.length) % shown.length]!;
    tab.focus();
    tab.click();
  });

  const [first, ...others] = panels.values();
  return {
    parts: [first!, row, ...others],
    choose,
    chosen: () => chosen,
    setWords(key, words) {
      tabs.get(key)!.textContent = words;
    },
    rewind(key) {
      panels.get(key)!.scrollTop = 0;
    },
    isOneRow,
  };
}
