import { describe, expect, it } from 'vitest';

import { Signals } from './signals.ts';

describe('signals', () => {
  it('reach listeners of this process at once and are merged for the others', () => {
    const signals = new Signals();
    const heard: string[] = [];
    let asked = 0;
    signals.onOutgoing(() => (asked += 1));
    const stop = signals.listen('desired', (subjects) => heard.push(...subjects));
    signals.send('desired', 'a');
    signals.send('desired', 'a');
    expect(heard).toEqual(['a', 'a']);
    expect(asked).toBe(2);
    expect([...(signals.takeOutgoing().get('desired') ?? [])]).toEqual(['a']);
    expect(signals.takeOutgoing().size).toBe(0);
    stop();
    signals.send('desired', 'b');
    expect(heard).toHaveLength(2);
  });
});
