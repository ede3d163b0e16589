/** A sentence over the stage that goes by itself. */
import { element } from './dom/element.ts';

/** How long a notice stays, in milliseconds: long enough to be read twice. */
const noticeTime = 8_000;

export interface Notice {
  readonly root: HTMLElement;
  say(text: string): void;
  close(): void;
}

export function makeNotice(): Notice {
  const root = element('div', { class: 'notice popup', role: 'status', hidden: true });
  let timer = 0;
  return {
    root,
    say(text) {
      root.textContent = text;
      root.hidden = false;
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        root.hidden = true;
      }, noticeTime);
    },
    close: () => clearTimeout(timer),
  };
}
