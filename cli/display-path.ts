import path from 'node:path';

/**
 * A path as a person reads it: relative where it lies below the working folder. Control characters of a hostile name must
 * not steer the terminal, nor start a line of their own.
 */
export function displayPath(file: string): string {
  return near(file).replace(/\p{Cc}/gu, '?');
}

function near(file: string): string {
  if (!path.isAbsolute(file)) return file;
  const relative = path.relative(process.cwd(), file);
  return relative && !relative.startsWith('..') ? relative : file;
}
