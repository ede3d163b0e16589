/** Elements from code. Text goes in as text nodes only: names in a trace are written by strangers. */

type Child = Node | string | undefined | false;

interface Properties {
  readonly class?: string;
  readonly title?: string;
  readonly on?: Readonly<Record<string, (event: never) => void>>;
  /** Attributes; undefined and false leave one out. */
  readonly [attribute: string]: unknown;
}

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (name === 'on') {
      for (const [type, listener] of Object.entries(value as Record<string, EventListener>))
        node.addEventListener(type, listener);
    } else if (name === 'class') node.className = String(value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  append(node, children);
  return node;
}

export function replace(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

function append(parent: Element, children: readonly Child[]): void {
  for (const child of children) if (child) parent.append(child);
}

/** Text in which names stand in backticks: the names become bold. */
export function prose(text: string): Child[] {
  return text.split('`').map((part, i) => (i % 2 === 1 ? element('b', {}, part) : part));
}

const svgSpace = 'http://www.w3.org/2000/svg';

/** A drawing of our own; `parts` are tags with attributes, never text of a trace. */
export function drawing(
  viewBox: string,
  parts: readonly (readonly [tag: string, attributes: Readonly<Record<string, string>>])[],
  attributes: Readonly<Record<string, string>> = {},
): SVGSVGElement {
  const svg = document.createElementNS(svgSpace, 'svg');
  svg.setAttribute('viewBox', viewBox);
  svg.setAttribute('aria-hidden', 'true');
  for (const [name, value] of Object.entries(attributes)) svg.setAttribute(name, value);
  for (const [tag, given] of parts) {
    const part = document.createElementNS(svgSpace, tag);
    for (const [name, value] of Object.entries(given)) part.setAttribute(name, value);
    svg.append(part);
  }
  return svg;
}

const icons = {
  search: 'M11.200 7a4.200 4.200 0 1 1-8.400 0a4.200 4.200 0 0 1 8.400 0zM10.200 10.200l3.300 3.300',
  lanes: 'M2 4h12M4.500 8h7M6.500 12h3',
  previous: 'M10 3.500 5.500 8l4.500 4.500',
  next: 'M6 3.500 10.500 8 6 12.500',
  range: 'M2.500 4v8M13.500 4v8M2.500 8h11M5 6 2.800 8 5 10M11 6l2.200 2L11 10',
  minus: 'M3.500 8h9',
  plus: 'M3.500 8h9M8 3.500v9',
  all: 'M2.500 6V3h3M13.500 6V3h-3M2.500 10v3h3M13.500 10v3h-3',
  open: 'M2 12.500v-9h4l1.500 1.500H14v7.500zM2 7h12',
  filter: 'M2 3.500h12L9.500 8.500v4l-3 1v-5z',
  compare: 'M2.500 2.500h11v4.500h-11zM2.500 9h11v4.500h-11zM4.500 4.750h4M7 11.250h4',
  more: 'M2.800 7.500h1v1h-1zM7.500 7.500h1v1h-1zM12.200 7.500h1v1h-1z',
  pin: 'M6 2h4M6.500 2v4L4.500 9h7L9.500 6V2M8 9v5',
  up: 'M3.500 10 8 5.500l4.500 4.500',
  down: 'M3.500 6 8 10.500 12.500 6',
  measure: 'M2 10.500 10.500 2l3.500 3.500L5.500 14zM4.500 8l1.500 1.500M7 5.500 8.500 7M9.500 3l1 1',
  help: 'M6 6a2 2 0 1 1 2.800 1.800c-.5.3-.8.7-.8 1.400M8 11.500v.1',
} as const;

export type IconName = keyof typeof icons;

export const icon = (name: IconName): SVGSVGElement =>
  drawing('0 0 16 16', [['path', { d: icons[name] }]], { class: 'icon' });

/** The sign of a finding, as on the canvas. `severity` picks the colour by class. */
export function signOf(status: 'confirmed' | 'latent', severity: string): SVGSVGElement {
  const parts =
    status === 'confirmed'
      ? ([
          ['path', { d: 'M8 .8 15.200 8 8 15.200 .8 8z', class: 'sign-body' }],
          ['path', { d: 'M8 4.600v4M8 11.200v.1', class: 'sign-mark' }],
        ] as const)
      : ([
          ['path', { d: 'M8 1.800 15 14.200H1z', class: 'sign-body' }],
          ['path', { d: 'M8 6.400v3.400M8 12v.1', class: 'sign-mark' }],
        ] as const);
  const svg = drawing('0 0 16 16', parts, { class: `sign ${status} ${severity}`, role: 'img' });
  svg.setAttribute('aria-hidden', 'false');
  svg.setAttribute('aria-label', status === 'confirmed' ? 'Confirmed' : 'Not seen in this run');
  return svg;
}
