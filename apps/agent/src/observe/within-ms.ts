/** After a proven death every second without a primary counts: whoever does not answer at once is taken as silent. */
export const HURRY_MS = 400;

/** `late` when the answer takes longer. */
export const withinMs = <T>(answer: Promise<T>, limitMs: number, late: T): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(late), limitMs);
  });
  return Promise.race([answer, limit]).finally(() => clearTimeout(timer));
};
