/** Counts how often a turn began again without having got any further. */

/** `count` times in a row with `progress`. */
export interface Resumes {
  readonly progress: number;
  readonly count: number;
}

export function nextResumes(before: Resumes | undefined, progress: number): Resumes {
  return { progress, count: before?.progress === progress ? before.count + 1 : 1 };
}
