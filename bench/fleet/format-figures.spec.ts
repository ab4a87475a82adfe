import { expect, it } from 'vitest';
import { asBenchRow } from '../bench-row.ts';
import { formatFigures } from './format-figures.ts';

it('puts runs beside each other, and says what is missed', () => {
  const row = (group: string, value: number): ReturnType<typeof asBenchRow> =>
    asBenchRow({ group, name: 'time', value, unit: 's', goal: 60, peer: 'row 5: somebody', peerValue: 240 });
  const [, , line] = formatFigures([row('100', 2), row('1,000', 61)]).split('\n');
  expect(line).toBe('| time | 2 s | **61 s** | ≤ 60 s | 240 s (row 5: somebody) |');
});
