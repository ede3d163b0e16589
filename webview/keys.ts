/** Which key means which wish. Words in fields keep their keys. */

export interface KeyWishes {
  zoom(factor: number): void;
  /** Moves by a share of what is shown. */
  pan(share: number): void;
  slice(by: 1 | -1): void;
  lane(by: 1 | -1): void;
  source(): void;
  fit(): void;
  all(): void;
  otherEnd(by: 1 | -1): void;
  finding(by: 1 | -1): void;
  search(): void;
  match(by: 1 | -1): void;
  range(): void;
  lanes(): void;
  filter(): void;
  measure(): void;
  note(): void;
  pin(): void;
  compare(): void;
  table(): void;
  exports(): void;
  menu(): void;
  back(): void;
  help(): void;
  scroll(pages: number): void;
}

/** Keys that act wherever the focus is, as long as it is not in a field. */
const everywhere: Readonly<Record<string, (wishes: KeyWishes) => void>> = {
  w: (wishes) => wishes.zoom(1.5),
  s: (wishes) => wishes.zoom(1 / 1.5),
  a: (wishes) => wishes.pan(-0.2),
  d: (wishes) => wishes.pan(0.2),
  f: (wishes) => wishes.fit(),
  '0': (wishes) => wishes.all(),
  '[': (wishes) => wishes.otherEnd(-1),
  ']': (wishes) => wishes.otherEnd(1),
  ',': (wishes) => wishes.finding(-1),
  '.': (wishes) => wishes.finding(1),
  '/': (wishes) => wishes.search(),
  n: (wishes) => wishes.match(1),
  r: (wishes) => wishes.range(),
  l: (wishes) => wishes.lanes(),
  o: (wishes) => wishes.filter(),
  m: (wishes) => wishes.measure(),
  b: (wishes) => wishes.note(),
  p: (wishes) => wishes.pin(),
  c: (wishes) => wishes.compare(),
  t: (wishes) => wishes.table(),
  e: (wishes) => wishes.exports(),
  '?': (wishes) => wishes.help(),
  escape: (wishes) => wishes.back(),
};

/** Keys that buttons and lists need for themselves. */
const onTimeline: Readonly<Record<string, (wishes: KeyWishes) => void>> = {
  arrowleft: (wishes) => wishes.slice(-1),
  arrowright: (wishes) => wishes.slice(1),
  arrowup: (wishes) => wishes.lane(-1),
  arrowdown: (wishes) => wishes.lane(1),
  enter: (wishes) => wishes.source(),
  pageup: (wishes) => wishes.scroll(-0.9),
  pagedown: (wishes) => wishes.scroll(0.9),
  contextmenu: (wishes) => wishes.menu(),
};

export function listenToKeys(timeline: HTMLElement, wishes: KeyWishes): () => void {
  const listener = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target as HTMLElement | null;
    if (target?.closest('input, textarea, select, dialog, .menu')) return;
    const key = event.key.toLowerCase();
    const free = target === timeline || target === document.body || target === null;
    let act = everywhere[key] ?? (free ? onTimeline[key] : undefined);
    if (key === 'f8') act = (to) => to.finding(event.shiftKey ? -1 : 1);
    if (key === 'n' && event.shiftKey) act = (to) => to.match(-1);
    if (key === 'f10' && event.shiftKey && free) act = (to) => to.menu();
    if (!act) return;
    event.preventDefault();
    act(wishes);
  };
  document.addEventListener('keydown', listener);
  return () => document.removeEventListener('keydown', listener);
}
