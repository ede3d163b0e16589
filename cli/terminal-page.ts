/**
 * A page of our documentation for a terminal: paragraphs filled to the width, code indented, headings bold where the
 * terminal can. Reads the Markdown that the rules' pages use: headings, paragraphs, fenced code.
 */
export interface PageStyle {
  readonly width: number;
  readonly bold: boolean;
}

export function terminalPage(markdown: string, { width, bold }: PageStyle): string {
  const out: string[] = [];
  let paragraph: string[] = [];
  let inCode = false;
  const flush = () => {
    if (paragraph.length) out.push(...filled(paragraph.join(' '), width));
    paragraph = [];
  };
  for (const line of markdown.split('\n')) {
    if (/^```/.test(line)) {
      flush();
      inCode = !inCode;
    } else if (inCode) out.push(line ? `    ${line}` : '');
    else if (/^#+ /.test(line)) {
      flush();
      const heading = line.replace(/^#+ /, '');
      out.push(bold ? `\u001b[1m${heading}\u001b[0m` : line.startsWith('# ') ? heading : heading.toUpperCase());
    } else if (line.trim() === '') {
      flush();
      if (out.at(-1) !== '') out.push('');
    } else paragraph.push(line.trim());
  }
  flush();
  return out.join('\n').trimEnd();
}

/** Code in backticks stays on one line. */
function filled(text: string, width: number): string[] {
  const words = text.match(/(?:`[^`]*`|[^\s`])+/g) ?? [];
  const lines: string[] = [];
  let line = '';
  for (const word of words)
    if (line && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  return line ? [...lines, line] : lines;
}
