/** A picture as SVG: no script, no style sheet, nothing from elsewhere; names of a trace are text. */
import { fitText } from '../trace/strings.ts';
import { arrowHead, type LineShape, type Picture, type Shape } from './shapes.ts';

export function svg({ width, height, background, title, shapes }: Picture): string {
  const parts = shapes.map(element);
  return `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="11.5">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" fill="${background}"/>
${parts.join('\n')}
</svg>
`;
}

function element(shape: Shape): string {
  switch (shape.kind) {
    case 'rect': {
      const opacity =
        shape.opacity === undefined || shape.opacity >= 1 ? '' : ` fill-opacity="${short(shape.opacity)}"`;
      const open = `<rect x="${short(shape.x)}" y="${short(shape.y)}" width="${short(shape.width)}" height="${short(shape.height)}" fill="${shape.fill}"${opacity}`;
      return shape.title ? `${open}><title>${escaped(shape.title)}</title></rect>` : `${open}/>`;
    }
    case 'line':
      return `<line x1="${short(shape.x1)}" y1="${short(shape.y1)}" x2="${short(shape.x2)}" y2="${short(shape.y2)}" stroke="${shape.color}"${shape.dashed ? ' stroke-dasharray="3 3"' : ''}/>${shape.arrow ? head(shape) : ''}`;
    case 'text':
      return `<text x="${short(shape.x)}" y="${short(shape.y)}" fill="${shape.color}"${shape.bold ? ' font-weight="600"' : ''} xml:space="preserve">${escaped(shape.text)}</text>`;
  }
}

const head = (line: LineShape): string =>
  `<polygon points="${arrowHead(line)
    .map(([x, y]) => `${short(x)},${short(y)}`)
    .join(' ')}" fill="${line.color}"/>`;

const short = (value: number): string => String(Math.round(value * 100) / 100);

/** Control characters are not allowed in XML, not even escaped; lone halves of surrogates neither. */
const escaped = (text: string): string =>
  text
    .split('\n')
    .map(fitText)
    .join('\n')
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\ufffe\uffff]/g, '\ufffd');
