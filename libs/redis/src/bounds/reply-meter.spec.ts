import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOSTILE_ANSWERS } from '#testing';
import { ReplyBudget, type Receiver } from './reply-budget.ts';
import {
  ELEMENT_WEIGHT,
  MAX_BYTES_BEFORE_AUTH,
  MAX_REPLY_BYTES,
  MAX_UNASKED_BYTES,
  ReplyMeter,
} from './reply-meter.ts';

const meterAfterLogin = (): ReplyMeter => {
  const meter = new ReplyMeter();
  meter.authenticated();
  return meter;
};
/** After a command was sent. */
const askedMeter = (): ReplyMeter => {
  const meter = meterAfterLogin();
  meter.asked(1);
  return meter;
};
const take = (meter: ReplyMeter, text: string) => meter.take(Buffer.from(text, 'latin1'));
/** Bytes that were taken until the meter said no, and why. */
const flood = (meter: ReplyMeter, first: string, again: string): { why: string | undefined; bytes: number } => {
  let [why, bytes] = [take(meter, first), first.length];
  while (why === undefined && bytes < 8 * MAX_REPLY_BYTES) {
    why = take(meter, again);
    bytes += again.length;
  }
  return { why, bytes };
};

/** Replies of every type, as text. */
const reply: fc.Arbitrary<string> = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(
      '+OK\r\n',
      ':12\r\n',
      '-ERR no\r\n',
      '_\r\n',
      '#t\r\n',
      ',1.5\r\n',
      '(123\r\n',
      '$-1\r\n',
      '*-1\r\n',
    ),
    fc.string({ unit: 'binary-ascii' }).map((text) => `$${text.length}\r\n${text}\r\n`),
    fc.array(tie('any'), { maxLength: 4 }).map((items) => `*${items.length}\r\n${items.join('')}`),
    fc
      .array(tie('any'), { maxLength: 2 })
      .map((items) => `%${items.length}\r\n${items.map((item) => `+k\r\n${item}`).join('')}`),
    tie('any').map((value) => `|1\r\n+ttl\r\n:1\r\n${value}`),
  ),
})).any;

describe('ReplyMeter', () => {
  it('follows every reply through any split of its bytes, and holds nothing of it afterwards', () => {
    fc.assert(
      fc.property(
        fc.array(reply, { maxLength: 5 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        (replies, sizes) => {
          const meter = meterAfterLogin();
          meter.asked(replies.length);
          const text = replies.join('');
          for (let at = 0; at < text.length;) {
            const size = sizes.next().value ?? 1;
            expect(take(meter, text.slice(at, at + size))).toBeUndefined();
            at += size;
          }
          expect(meter.held).toBeGreaterThanOrEqual(text.length);
          meter.settle();
          expect(meter.held).toBe(0);
        },
      ),
    );
  });

  it.each(Object.entries(HOSTILE_ANSWERS).filter(([name]) => !/^(nothing|a byte)/.test(name)))(
    'ends %s',
    (_, { first, again = '' }: { first: string; again?: string }) => {
      const { why, bytes } = flood(askedMeter(), first, again);
      expect(why).toMatch(/^(REPLY|UNASKED|MALFORMED)$/);
      expect(bytes).toBeLessThanOrEqual(MAX_REPLY_BYTES + 65_536);
    },
  );

  it('takes a reply up to its bound, and not a byte more', () => {
    const head = (size: number): string => `$${size}\r\n`;
    const most = MAX_REPLY_BYTES - head(MAX_REPLY_BYTES).length - 2;
    expect(take(askedMeter(), `${head(most)}${'x'.repeat(most)}\r\n`)).toBeUndefined();
    expect(take(askedMeter(), head(MAX_REPLY_BYTES))).toBe('REPLY');
  });

  it('refuses by what is declared, before any of it arrives', () => {
    const lists = Math.floor(MAX_REPLY_BYTES / ELEMENT_WEIGHT);
    expect(take(askedMeter(), `*${lists - 100}\r\n`)).toBeUndefined();
    expect(take(askedMeter(), `*${lists + 1}\r\n`)).toBe('REPLY');
  });

  it('takes a larger reply where it is asked for, and only for that call', () => {
    const meter = meterAfterLogin();
    const large = `$${2 * MAX_REPLY_BYTES}\r\n${'x'.repeat(2 * MAX_REPLY_BYTES)}\r\n`;
    meter.asked(1, 4 * MAX_REPLY_BYTES);
    expect(take(meter, large)).toBeUndefined();
    meter.settle();
    expect(take(meter, large)).toBe('REPLY');
  });

  it('bounds everything before the login, and messages between two calls', () => {
    expect(flood(new ReplyMeter(), '', '+OK\r\n')).toMatchObject({ why: 'BEFORE_AUTH' });
    expect(flood(new ReplyMeter(), '', '+OK\r\n').bytes).toBeLessThanOrEqual(MAX_BYTES_BEFORE_AUTH + 5);
    const meter = meterAfterLogin();
    const message = `>1\r\n$100\r\n${'x'.repeat(100)}\r\n`;
    for (let calls = 0; calls < 10; calls += 1) {
      meter.asked(0);
      for (let sent = 0; sent < MAX_UNASKED_BYTES / 4; sent += message.length)
        expect(take(meter, message)).toBeUndefined();
    }
    expect(flood(meter, '', message).why).toBe('UNASKED');
  });
});

describe('ReplyBudget', () => {
  const receiver = (ended: Receiver[]): Receiver => {
    const one: Receiver = { meter: meterAfterLogin(), overrun: () => ended.push(one) };
    return one;
  };

  it('ends the connection that holds most when all of them together hold too much', () => {
    const ended: Receiver[] = [];
    const budget = new ReplyBudget(1_000_000);
    const hostile = Array.from({ length: 40 }, () => receiver(ended));
    const honest = receiver(ended);
    for (const each of [...hostile, honest]) budget.join(each);
    for (const { meter } of hostile) {
      take(meter, `$900000\r\n${'x'.repeat(100_000)}`);
      budget.enforce();
    }
    take(honest.meter, `$20000\r\n${'x'.repeat(20_000)}\r\n`);
    budget.enforce();
    expect(budget.heldBytes).toBeLessThanOrEqual(1_000_000);
    expect(ended).not.toContain(honest);
    expect(ended.length).toBeGreaterThanOrEqual(30);
  });
});
