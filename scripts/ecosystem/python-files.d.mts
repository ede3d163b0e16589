/** Absolute paths, sorted. */
export function pythonFiles(folder: string): string[];
export function usesStreams(file: string): boolean;
