/** The code of a text: what is neither comment nor string. Knows no grammar beyond these two. */

const commentOrString =
  /#[^\n]*|"""[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*"""|'''[^'\\]*(?:(?:\\[\s\S]|'(?!''))[^'\\]*)*'''|"[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"|'[^'\\\n]*(?:\\[\s\S][^'\\\n]*)*'/g;

/** The text with comments blanked and strings filled with quotes, newlines in them too; as long as the text. */
export function codeOf(text: string): string {
  return text.replace(commentOrString, (found) =>
    found.charCodeAt(0) === 0x23 ? ' '.repeat(found.length) : '"'.repeat(found.length),
  );
}
