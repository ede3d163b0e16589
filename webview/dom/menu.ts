/** A menu that opens at a place: arrow keys go through it, Esc and a press elsewhere close it, focus goes back. */
import { element } from './element.ts';

export interface MenuItem {
  readonly words: string;
  /** What stands at the right: a key. */
  readonly key?: string;
  readonly checked?: boolean;
  readonly disabled?: boolean;
  readonly act: () => void;
}

/** A line between groups of items. */
export type MenuEntry = MenuItem | 'line';

export interface MenuPlace {
  readonly x: number;
  readonly y: number;
}

export function openMenu(name: string, entries: readonly MenuEntry[], place: MenuPlace, back: HTMLElement): void {
  document.querySelector('.menu')?.dispatchEvent(new Event('close-menu'));
  const menu = element('div', { class: 'menu popup', role: 'menu', 'aria-label': name });
  const items: HTMLButtonElement[] = [];
  const close = (refocus: boolean): void => {
    document.removeEventListener('pointerdown', outside, true);
    window.removeEventListener('blur', away);
    menu.remove();
    if (refocus) back.focus({ preventScroll: true });
  };
  const outside = (event: Event): void => {
    if (!menu.contains(event.target as Node)) close(false);
  };
  const away = (): void => close(false);
  for (const entry of entries) {
    if (entry === 'line') {
      menu.append(element('div', { class: 'menu-line', role: 'separator' }));
      continue;
    }
    const item = element(
      'button',
      {
        type: 'button',
        role: entry.checked === undefined ? 'menuitem' : 'menuitemcheckbox',
        'aria-checked': entry.checked === undefined ? undefined : String(entry.checked),
        tabindex: '-1',
        disabled: entry.disabled,
        on: {
          click: () => {
            close(true);
            entry.act();
          },
        },
      },
      element('span', { class: 'menu-check', 'aria-hidden': 'true' }, entry.checked ? '✓' : ''),
      element('span', { class: 'menu-words' }, entry.words),
      entry.key && element('kbd', { 'aria-hidden': 'true' }, entry.key),
    );
    items.push(item);
    menu.append(item);
  }
  const go = (from: number, by: number): void => {
    for (let i = 1; i <= items.length; i++) {
      const item = items[(from + by * i + items.length * (i + 1)) % items.length]!;
      if (item.disabled) continue;
      item.focus();
      return;
    }
  };
  menu.addEventListener('close-menu', () => close(false));
  menu.addEventListener('keydown', (event) => {
    event.stopPropagation();
    const at = items.indexOf(document.activeElement as HTMLButtonElement);
    if (event.key === 'ArrowDown') go(at, 1);
    else if (event.key === 'ArrowUp') go(Math.max(at, 0), -1);
    else if (event.key === 'Home') go(-1, 1);
    else if (event.key === 'End') go(0, -1);
    else if (event.key === 'Escape' || event.key === 'Tab') close(true);
    else return;
    event.preventDefault();
  });
  document.addEventListener('pointerdown', outside, true);
  window.addEventListener('blur', away);
  // Within the page's landmark, for those who go from one to the next.
  (document.querySelector('main') ?? document.body).append(menu);
  const { offsetWidth, offsetHeight } = menu;
  menu.style.left = `${Math.max(4, Math.min(place.x, window.innerWidth - offsetWidth - 4))}px`;
  menu.style.top = `${Math.max(4, Math.min(place.y, window.innerHeight - offsetHeight - 4))}px`;
  go(-1, 1);
}
