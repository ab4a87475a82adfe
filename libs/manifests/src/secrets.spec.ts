import { describe, expect, it } from 'vitest';
import { asDataSetId, type DataSetRecord } from '#domain';
import { nameObjects } from './names.ts';
import { decodeRecord, renderRecord } from './record.ts';
import { describeOwner } from './render-children.ts';
import {
  connectionFields,
  digestSecretData,
  hasAllCredentials,
  renderConnection,
  renderCredentials,
} from './secrets.ts';

const dataSetId = asDataSetId('ds-1');
const owner = describeOwner({ name: 'cart', namespace: 'shop', dataSetId, renderVersion: 1 });
const names = nameObjects('cart', dataSetId);
const decode = (data: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(data as Record<string, string>).map(([key, value]) => [
      key,
      Buffer.from(value, 'base64').toString(),
    ]),
  );

describe('the credentials Secret', () => {
  const passwords = { atoll: 'a', replication: 'b', sentinel: 'c', app: 'd' };

  it('has one key a user', () => {
    expect(decode(renderCredentials(owner, names.credentialsSecret, passwords)['data'])).toEqual(passwords);
  });

  it('is complete only with every user', () => {
    expect(hasAllCredentials(['app', 'atoll', 'replication', 'sentinel', 'app.previous'])).toBe(true);
    expect(hasAllCredentials(['app', 'atoll', 'replication'])).toBe(false);
  });

  it('has a digest that tells any change of a value, and nothing else', () => {
    const digest = digestSecretData({ a: '1', b: '2' });
    expect(digestSecretData({ b: '2', a: '1' })).toBe(digest);
    expect(digestSecretData({ a: '1', b: '3' })).not.toBe(digest);
    expect(digestSecretData({ a: '12', b: '' })).not.toBe(digest);
  });
});

describe('the connection Secret', () => {
  it('tells a client of a Sentinel set everything it needs', () => {
    const fields = connectionFields(owner, names, { mode: 'Sentinel' });
    expect(decode(renderConnection(owner, names.connectionSecret, fields, 'secret')['data'])).toEqual({
      mode: 'Sentinel',
      host: 'cart.shop.svc',
      port: '6379',
      username: 'app',
      password: 'secret',
      sentinelHost: 'cart-sentinel.shop.svc',
      sentinelPort: '26379',
      masterName: names.masterName,
    });
  });

  it('names no Sentinel where there is none', () => {
    expect(Object.keys(connectionFields(owner, names, { mode: 'Standalone' })).join()).not.toMatch(/sentinel|master/i);
  });
});

describe('the record of a data set', () => {
  const record: DataSetRecord = {
    dataSetId,
    primaryTerm: 3,
    primaryPod: 'cart-x-1',
    primaryVersion: '8.0.2',
    renderVersion: 1,
  };

  it.each([record, { dataSetId, primaryTerm: 0, renderVersion: 1 }])('is read back as it was written', (written) => {
    expect(decodeRecord(renderRecord(owner, names.record, written))).toEqual(written);
  });

  it.each(['', '{', '[]', '{"dataSetId":"a"}', 'null'])('is absent, not empty, when it reads %j', (text) => {
    expect(decodeRecord({ ...renderRecord(owner, names.record, record), data: { record: text } })).toBeUndefined();
  });
});
