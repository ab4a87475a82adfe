/** The same figures of several runs beside each other, as the table of docs/scaling.md. */
import type { BenchRow } from '../bench-row.ts';

const withUnit = (value: number, unit: string): string => `${value.toLocaleString('en')} ${unit}`.trim();

/** Markdown; a row for each figure, a column for each group. A figure that misses its goal is bold. */
export function formatFigures(rows: readonly BenchRow[]): string {
  const groups = [...new Set(rows.map((row) => row.group ?? ''))];
  const names = [...new Set(rows.map((row) => row.name))];
  const lines = names.map((name) => {
    const same = rows.filter((row) => row.name === name);
    const cells = groups.map((group) => {
      const row = same.find((one) => (one.group ?? '') === group);
      if (row === undefined) return '';
      const text = withUnit(row.value, row.unit);
      return row.met === false ? `**${text}**` : text;
    });
    const goals = [...new Set(same.flatMap(({ goal, unit }) => (goal === null ? [] : [withUnit(goal, unit)])))];
    const peer = same.find((row) => row.peer !== null);
    const value = peer?.peerValue === null || peer === undefined ? '' : `${withUnit(peer.peerValue, peer.unit)} `;
    const published = peer === undefined ? '' : `${value}(${peer.peer})`;
    return [name, ...cells, goals.length === 0 ? '' : `≤ ${goals.join(' or ')}`, published];
  });
  const head = ['figure', ...groups, 'goal', 'published elsewhere'];
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
