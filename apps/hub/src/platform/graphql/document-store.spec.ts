import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { DocumentStore, type KeptDocument } from './document-store.ts';

const document = parse('{ a }');
const ofSize = (bytes: number): KeptDocument => ({ document, fields: 1, bytes });

describe('the store of documents', () => {
  it('takes no more than its bytes, whatever is sent', () => {
    const store = new DocumentStore(1_000);
    for (let at = 0; at < 500; at += 1) {
      store.put(`key ${at}`, 'a', ofSize(1 + (at % 90)));
      expect(store.bytes).toBeLessThanOrEqual(1_000);
    }
    expect(store.bytesOf('a')).toBe(store.bytes);
  });

  it('lets one principal push out its own documents only', () => {
    const store = new DocumentStore(1_000);
    for (let at = 0; at < 4; at += 1) store.put(`dashboard ${at}`, 'dashboards', ofSize(100));
    for (let at = 0; at < 500; at += 1) store.put(`hostile ${at}`, 'hostile', ofSize(50));
    expect(store.bytesOf('dashboards')).toBe(400);
    for (let at = 0; at < 4; at += 1) expect(store.get(`dashboard ${at}`)).toBeDefined();
    expect(store.get('hostile 0')).toBeUndefined();
    expect(store.get('hostile 499')).toBeDefined();
  });

  it('keeps what was used last', () => {
    const store = new DocumentStore(300);
    for (const key of ['a', 'b', 'c']) store.put(key, 'one', ofSize(100));
    store.get('a');
    store.put('d', 'one', ofSize(100));
    expect(['a', 'b', 'c', 'd'].map((key) => store.get(key) !== undefined)).toEqual([true, false, true, true]);
  });

  it('counts what a document grows by, and may lose the document itself for it', () => {
    const store = new DocumentStore(300);
    store.put('a', 'one', ofSize(100));
    store.put('b', 'one', ofSize(100));
    store.grow('b', 150);
    expect([store.get('a'), store.bytes]).toEqual([undefined, 250]);
    store.grow('b', 1_000);
    expect([store.size, store.bytes]).toEqual([0, 0]);
    store.grow('b', 1_000);
    expect(store.bytes).toBe(0);
  });

  it('belongs to whom sent it first, and is counted once when it is put again', () => {
    const store = new DocumentStore(300);
    store.put('a', 'one', ofSize(100));
    store.put('a', 'one', ofSize(120));
    expect([store.size, store.bytes]).toEqual([1, 120]);
  });
});
