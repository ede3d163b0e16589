import path from 'node:path';

/** A path as a person reads it: relative where it lies below the working folder. */
export function displayPath(file: string): string {
  if (!path.isAbsolute(file)) return file;
  const relative = path.relative(process.cwd(), file);
  return relative && !relative.startsWith('..') ? relative : file;
}
