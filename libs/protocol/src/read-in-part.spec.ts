import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentMessage } from './envelopes.ts';
import { MAX_FRAME_BYTES, MAX_TOLERATED_FRAME_BYTES, parseAgentFrame } from './frame.ts';
import type { StatusItem } from './messages.ts';
import type { PartlyRead } from './read-in-part.ts';

const LONG = 'x'.repeat(600);
const SINCE = '2026-11-30T10:00:00Z';
const condition = {
  type: 'Ready',
  status: 'True',
  reason: 'R',
  message: 'm',
  observedGeneration: 1,
  lastTransitionTime: SINCE,
};
const item = (name: string, more: object = {}): object => ({
  hubUid: '018f0000-0000-7000-8000-000000000001',
  namespace: 'shop',
  name,
  uid: `uid-${name}`,
  kind: 'RedisCluster',
  phase: 'Ready',
  conditions: [condition],
  pods: [],
  foreignFields: [],
  ...more,
});
const frame = (type: string, payload: object): string => JSON.stringify({ type, nonce: '1', payload });

function read(
  type: string,
  payload: object,
): { readonly message: AgentMessage; readonly partlyRead: readonly PartlyRead[] } {
  const result = parseAgentFrame(frame(type, payload), MAX_TOLERATED_FRAME_BYTES);
  if (!result.ok) throw new Error(result.error.message);
  return { message: result.message, partlyRead: result.partlyRead ?? [] };
}
function readStatus(...items: readonly object[]): {
  readonly items: readonly StatusItem[];
  readonly partlyRead: readonly PartlyRead[];
} {
  const { message, partlyRead } = read('StatusBatch', { counter: 3, items });
  if (message.type !== 'StatusBatch') throw new Error(message.type);
  expect(message.payload.counter).toBe(3);
  return { items: message.payload.items, partlyRead };
}

describe('a status that a hub cannot read as it is', () => {
  it('costs the others nothing', () => {
    const { items, partlyRead } = readStatus(item('a'), item('b', { hubUid: LONG }), item('c'));
    expect(items.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(items[0]).toEqual(item('a'));
    expect(items[2]).toEqual(item('c'));
    expect(partlyRead).toEqual([{ namespace: 'shop', name: 'b', fields: ['hubUid'], kept: true }]);
  });

  it.each<[string, object, object]>([
    ['a hubUid written by hand', { hubUid: LONG }, { phase: 'Ready' }],
    ['a data set id copied from it', { dataSetId: LONG }, { phase: 'Ready' }],
    [
      'a path of thousands of characters',
      { foreignFields: [{ path: `spec.${'k'.repeat(5_000)}`, manager: 'm' }] },
      { foreignFields: [] },
    ],
    [
      'a pod of a wrong shape',
      { pods: [{ name: 'p', role: 'primary', ready: true }, { name: LONG }] },
      { pods: [{ name: 'p', role: 'primary', ready: true }] },
    ],
    ['a generation beyond counting', { observedHubGeneration: 2 ** 60 }, { phase: 'Ready' }],
    [
      'a spec nested without end',
      { liveSpec: JSON.parse(`${'{"a":'.repeat(80)}1${'}'.repeat(80)}`) as object },
      { phase: 'Ready' },
    ],
    ['conditions that are no list', { conditions: 'none' }, { phase: 'Ready' }],
  ])('because of %s goes on without it, and says so', (_, more, expected) => {
    const { items, partlyRead } = readStatus(item('a', more));
    expect(items[0]).toMatchObject(expected);
    const [field = ''] = Object.keys(more);
    expect(partlyRead).toMatchObject([{ name: 'a', fields: [field], kept: true }]);
    expect(items[0]?.conditions.at(-1)).toMatchObject({ type: 'ToldInPart', reason: 'Unreadable', status: 'True' });
    expect(items[0]?.conditions.at(-1)?.message).toContain(`(${field})`);
  });

  it('keeps a text as far as it is read', () => {
    const { items } = readStatus(
      item('a', { conditions: [{ ...condition, message: 'm'.repeat(70_000), reason: LONG }] }),
    );
    expect(items[0]?.conditions[0]).toMatchObject({ type: 'Ready', status: 'True', reason: LONG.slice(0, 512) });
    expect(items[0]?.conditions[0]?.message).toHaveLength(65_536);
  });

  it.each([
    ['details', { details: { status: { many: [1, 1e300] } } }],
    ['liveSpec', { liveSpec: { mode: 'Standalone', replicas: 1e21 } }],
    ['numbers', { numbers: { usedMemoryBytes: 1e-300 } }],
  ])('goes on without %s of numbers that the database would write with hundreds of digits', (field, more) => {
    const { message, partlyRead } = read('StatusBatch', { counter: 0, items: [item('a', more)] });
    expect(partlyRead).toMatchObject([{ name: 'a', fields: [field], kept: true }]);
    expect(message.payload).not.toHaveProperty(['items', 0, field]);
    const short = { details: { status: { many: [0, -1e20, 1e-17] } } };
    expect(read('StatusBatch', { counter: 0, items: [item('a', short)] }).partlyRead).toEqual([]);
  });

  it('is left out when nobody knows whose it is, and named', () => {
    const { items, partlyRead } = readStatus(item('a', { uid: LONG }), item('b'), {}, item('', {}));
    expect(items.map(({ name }) => name)).toEqual(['b']);
    expect(partlyRead).toMatchObject([
      { namespace: 'shop', name: 'a', fields: ['uid'], kept: false },
      { namespace: '', name: '', kept: false },
      { namespace: 'shop', name: '', fields: ['name'], kept: false },
    ]);
  });

  it('goes on without a list of more elements than anybody looks at, in one item or in many', () => {
    const zeros = (count: number): object => ({ pods: Array(count).fill(0), foreignFields: [{}] });
    const few = { name: 'p', role: 'primary', ready: true };
    const pods = [...Array<number>(9_000).fill(0), few];
    const { items } = readStatus(item('a', { pods }), item('b', { pods }), item('c', zeros(200_000)), item('d'));
    expect(items.map((one) => one.pods)).toEqual([[few], [], [], []]);
    expect(items.map(({ conditions }) => conditions.length)).toEqual([2, 2, 2, 1]);
    const outcome = { hubUid: 'u1', hubGeneration: 1, state: 'APPLIED', contested: Array(20_000).fill(0) };
    const ack = read('DesiredAck', { revision: 4, digest: '0'.repeat(32), outcomes: [outcome] });
    expect(ack.message.payload).toMatchObject({ outcomes: [{ hubUid: 'u1', hubGeneration: 1, state: 'APPLIED' }] });
    expect(ack.message.payload).not.toHaveProperty('outcomes.0.contested');
  });

  /** 512 characters, 2,048 bytes: five of them do not fit an index row of PostgreSQL. */
  const WIDE = '\u{1F980}'.repeat(512);
  it.each(['phase', 'mode', 'engineVersion', 'dataSetId', 'currentPrimary', 'hubUid'])(
    'because of a %s of 512 characters of four bytes goes on without it',
    (field) => {
      const { items, partlyRead } = readStatus(item('a', { [field]: WIDE }), item('b'));
      expect(items[0]).not.toHaveProperty(field);
      expect(items.map(({ name }) => name)).toEqual(['a', 'b']);
      expect(partlyRead).toMatchObject([{ name: 'a', fields: [field], kept: true }]);
    },
  );

  it.each([
    ['namespace', 'n'.repeat(64)],
    ['namespace', 'Shop'],
    ['namespace', WIDE],
    ['name', 'n'.repeat(254)],
    ['name', 'a..b'],
    ['name', WIDE],
    ['kind', WIDE],
    ['kind', 'a b'],
    ['uid', WIDE],
  ])(
    'with a %s that no Kubernetes gives (%s) is left out, named as far as it can be, and the others stay',
    (field, text) => {
      const { items, partlyRead } = readStatus(item('a', { [field]: text }), item('b'));
      expect(items.map(({ name }) => name)).toEqual(['b']);
      expect(partlyRead).toMatchObject([{ fields: [field], kept: false }]);
      for (const told of [partlyRead[0]?.namespace ?? '', partlyRead[0]?.name ?? '']) {
        expect(Buffer.byteLength(told, 'utf8')).toBeLessThanOrEqual(253);
        expect(told.isWellFormed()).toBe(true);
      }
    },
  );

  it('takes the longest names and words that there are', () => {
    const longest = item(`${'n'.repeat(62)}.${'o'.repeat(190)}`, {
      namespace: 's'.repeat(63),
      uid: 'u'.repeat(128),
      kind: 'K'.repeat(63),
      phase: 'p'.repeat(64),
      mode: 'm'.repeat(64),
      engineVersion: '8'.repeat(64),
    });
    expect(readStatus(longest)).toEqual({ items: [longest], partlyRead: [] });
  });

  it('does not end the session, however many of them come in one frame', () => {
    const many = Array.from({ length: 1_500 }, (_, at) => item(`a-${at}`, { phase: WIDE.slice(0, 40) }));
    expect(readStatus(...many).items).toHaveLength(1_500);
  });

  it('of an object larger than a frame goes on without its spec', () => {
    const { items, partlyRead } = readStatus(
      item('a', { liveSpec: { config: { a: 'y'.repeat(1_400_000) } } }),
      item('b'),
    );
    expect(items).toMatchObject([{ name: 'a', phase: 'Ready' }, { name: 'b' }]);
    expect(items[0]).not.toHaveProperty('liveSpec');
    expect(items[0]?.conditions.map(({ type }) => type)).toEqual(['Ready', 'ToldInPart']);
    expect(partlyRead).toMatchObject([{ name: 'a', fields: ['liveSpec'] }]);
  });
});

describe('numbers of objects of other agents', () => {
  const guest = (name: string, numbers: unknown): object => ({
    hubUid: `uid-${name}`,
    namespace: 'shop',
    name,
    numbers,
  });
  const many = (count: number, width: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [String(at).padStart(width, 'n'), at]));
  const ask = (guests: unknown, ...items: readonly object[]): ReturnType<typeof read> =>
    read('StatusBatch', { counter: 3, items, guests });

  it.each([
    ['a number that is none', { keys: 'many' }],
    ['more of them than anybody counts', many(257, 3)],
    ['names that fill a frame', many(100, 500)],
  ])('are left out with %s, and those of the others are not', (_, numbers) => {
    const good = [guest('a', { keys: 3 }), guest('b', many(256, 3)), guest('c', {})];
    const { message, partlyRead } = ask([...good, guest('bad', numbers)], item('x'));
    expect(message.payload).toMatchObject({ items: [{ name: 'x' }] });
    expect(message.payload).toHaveProperty('guests', good);
    expect(partlyRead).toEqual([
      { hubUid: 'uid-bad', namespace: 'shop', name: 'bad', fields: ['numbers'], kept: false },
    ]);
  });

  it('are all left out of a frame that is too large, and that is told once', () => {
    const large = item('x', { liveSpec: { text: 'y'.repeat(MAX_FRAME_BYTES) } });
    const { message, partlyRead } = ask([guest('a', { keys: 3 }), guest('b', { keys: 4 })], large);
    expect(message.payload).toMatchObject({ items: [{ name: 'x' }], guests: [] });
    expect(partlyRead.map(({ name, fields }) => [name, fields])).toEqual([
      ['x', ['liveSpec']],
      ['a', ['guests']],
    ]);
  });

  it('end the session when there are none but wrong ones, or no list', () => {
    for (const guests of [Array(1_200).fill({}), 'none'])
      expect(parseAgentFrame(frame('StatusBatch', { counter: 3, items: [], guests }))).toMatchObject({
        ok: false,
        error: { code: 'INVALID_MESSAGE' },
      });
  });
});

describe('other lists', () => {
  it('of events, outcomes and inventories lose the one item or field as well', () => {
    const event = {
      namespace: 'shop',
      name: 'a',
      severity: 'Normal',
      reason: 'R',
      message: 'm',
      first: SINCE,
      last: SINCE,
      count: 1,
    };
    const events = read('EventBatch', {
      counter: 1,
      items: [
        { ...event, message: 'm'.repeat(70_000) },
        { ...event, severity: 'Loud' },
        { ...event, count: -1 },
      ],
    });
    expect(events.message.payload).toMatchObject({ counter: 1, items: [{ reason: 'R' }, { count: 1 }] });
    expect(events.partlyRead.map(({ fields, kept }) => [fields[0], kept])).toEqual([
      ['message', true],
      ['severity', false],
      ['count', true],
    ]);
    const outcome = { hubUid: 'u1', hubGeneration: 1, state: 'APPLIED', specHash: 'x' };
    const ack = read('DesiredAck', {
      revision: 4,
      digest: '0'.repeat(32),
      outcomes: [outcome, { ...outcome, hubUid: LONG }],
    });
    expect(ack.message.payload).toEqual({
      revision: 4,
      digest: '0'.repeat(32),
      outcomes: [{ hubUid: 'u1', hubGeneration: 1, state: 'APPLIED' }],
    });
    const object = { hubUid: 'u1', hubGeneration: 3, specHash: LONG, namespace: 'shop', name: 'a', unclaimed: false };
    const chunk = read('InventoryChunk', { last: true, objects: [object] });
    expect(chunk.message.payload).toEqual({ last: true, objects: [{ ...object, specHash: '' }] });
  });

  it('are not read when the message itself is wrong, or nothing but wrong items come', () => {
    for (const payload of [
      { counter: -1, items: [item('a', { uid: LONG })] },
      { counter: 1, items: Array(1_200).fill({}) },
    ])
      expect(parseAgentFrame(frame('StatusBatch', payload))).toMatchObject({
        ok: false,
        error: { code: 'INVALID_MESSAGE' },
      });
    const hello = frame('Hello', { agentId: 'a'.repeat(MAX_FRAME_BYTES) });
    expect(parseAgentFrame(hello, MAX_TOLERATED_FRAME_BYTES)).toMatchObject({
      ok: false,
      error: { code: 'FRAME_TOO_LARGE' },
    });
  });
});

it('whatever is in an item: what is read is what a strict reader takes, and readable items are never touched', () => {
  const anything = fc.dictionary(
    fc.constantFrom(
      'hubUid',
      'name',
      'uid',
      'phase',
      'conditions',
      'pods',
      'foreignFields',
      'size',
      'details',
      'gone',
      'hash',
    ),
    fc.anything({ maxDepth: 2, withNullPrototype: false }),
  );
  fc.assert(
    fc.property(fc.array(anything, { maxLength: 4 }), (strange) => {
      const { items } = readStatus(item('kept'), ...strange.map((more, at) => item(`strange-${at}`, more)));
      expect(items[0]).toEqual(item('kept'));
      expect(parseAgentFrame(frame('StatusBatch', { counter: 3, items }))).toEqual({
        ok: true,
        message: { type: 'StatusBatch', nonce: '1', payload: { counter: 3, items } },
      });
    }),
    { numRuns: 300 },
  );
});
