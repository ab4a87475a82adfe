/**
 * What an API server must do for libs/kube to be right, as named cases that run on the fake one in unit tests and on a
 * real one in e2e. If the two disagree, one of these fails. ConfigMaps serve as objects: every server has them.
 */
import assert from 'node:assert/strict';
import { fieldOwners, RESOURCE, startLeaseElector, startReflector, type WatchEvent } from '#kube';
import { clock, type ConfigMap, configMap, failureOf, type KubeContractCase, until } from './kube-contract-case.ts';
import { DEFINITION_CONTRACT } from './kube-definition-contract.ts';

const readAndWrite: readonly KubeContractCase[] = [
  {
    name: 'an object is created, read, replaced under its version, and deleted under its uid',
    run: async ({ client, namespace }) => {
      const created = await client.create<ConfigMap>(configMap(namespace, 'a', { k: '1' }));
      const at = { namespace, name: 'a' };
      assert.equal((await client.get<ConfigMap>(RESOURCE.configMap, at)).data?.['k'], '1');
      await client.replace({ ...created, data: { k: '2' } });
      const stale = await failureOf(client.replace({ ...created, data: { k: '3' } }));
      assert.ok(stale.isConflict());
      const wrongUid = await failureOf(
        client.delete(RESOURCE.configMap, at, { uid: '00000000-0000-4000-8000-000000000000' }),
      );
      assert.ok(wrongUid.isConflict());
      await client.delete(RESOURCE.configMap, at, { uid: created.metadata.uid ?? '' });
      assert.equal(await client.find(RESOURCE.configMap, at), undefined);
      assert.ok((await failureOf(client.get(RESOURCE.configMap, at))).isNotFound());
    },
  },
  {
    name: 'creating twice is AlreadyExists, which is no conflict',
    run: async ({ client, namespace }) => {
      await client.create(configMap(namespace, 'a', {}));
      const error = await failureOf(client.create(configMap(namespace, 'a', {})));
      assert.ok(error.isAlreadyExists() && !error.isConflict());
    },
  },
  {
    name: 'a list comes in pages, with kinds filled in, and can be narrowed by labels',
    run: async ({ client, namespace }) => {
      for (const name of ['a', 'b', 'c', 'd', 'e']) await client.create(configMap(namespace, name, {}));
      const selection = { namespace, labelSelector: 'suite=kube-contract' };
      const first = await client.list(RESOURCE.configMap, { ...selection, limit: 2 });
      assert.equal(first.items.length, 2);
      assert.ok(first.continue);
      const all = await client.listAll(RESOURCE.configMap, { ...selection, limit: 2 });
      assert.deepEqual(
        all.items.map(({ kind, metadata }) => [kind, metadata.name]),
        ['a', 'b', 'c', 'd', 'e'].map((name) => ['ConfigMap', name]),
      );
      assert.equal((await client.listAll(RESOURCE.configMap, { namespace, labelSelector: 'suite=x' })).items.length, 0);
    },
  },
  {
    name: 'a dry run answers as a write would, and stores nothing',
    run: async ({ client, namespace }) => {
      const options = { fieldManager: 'm', dryRun: true };
      const answer = await client.apply<ConfigMap>(configMap(namespace, 'a', { k: '1' }), options);
      assert.equal(answer.data?.['k'], '1');
      assert.equal(await client.find(RESOURCE.configMap, { namespace, name: 'a' }), undefined);
    },
  },
];

const applyAndPatch: readonly KubeContractCase[] = [
  {
    name: 'apply makes, changes, and takes back what it no longer names; another field stays',
    run: async ({ client, namespace }) => {
      await client.apply(configMap(namespace, 'a', { mine: '1', gone: '1' }), { fieldManager: 'one' });
      await client.patchMerge(RESOURCE.configMap, { namespace, name: 'a' }, { data: { theirs: '1' } });
      const options = { fieldManager: 'one' };
      const after = await client.apply<ConfigMap>(configMap(namespace, 'a', { mine: '2' }), options);
      assert.deepEqual(after.data, { mine: '2', theirs: '1' });
    },
  },
  {
    name: 'a contested field is a conflict that names field and manager; force takes it',
    run: async ({ client, namespace }) => {
      await client.apply(configMap(namespace, 'a', { 'max.memory': '1' }), { fieldManager: 'one' });
      const wanted = configMap(namespace, 'a', { 'max.memory': '2' });
      const error = await failureOf(client.apply(wanted, { fieldManager: 'two' }));
      assert.ok(error.isConflict());
      assert.deepEqual(error.fieldConflicts, [{ path: 'data.max.memory', manager: 'one' }]);
      const forced = await client.apply<ConfigMap>(wanted, { fieldManager: 'two', force: true });
      assert.equal(forced.data?.['max.memory'], '2');
      const owners = fieldOwners(forced.metadata.managedFields, 'data');
      assert.deepEqual(owners, [{ path: 'data.max.memory', manager: 'two', operation: 'Apply' }]);
    },
  },
  {
    name: 'an edit by hand takes the field over and is seen in the field owners',
    run: async ({ client, namespace }) => {
      const at = { namespace, name: 'a' };
      await client.apply(configMap(namespace, 'a', { k: '1', kept: '1' }), { fieldManager: 'one' });
      await client.patchMerge(RESOURCE.configMap, at, { data: { k: '2' } }, { fieldManager: 'kubectl-edit' });
      const owners = fieldOwners((await client.get(RESOURCE.configMap, at)).metadata.managedFields, 'data');
      assert.deepEqual(owners.map(({ path, manager }) => `${path} ${manager}`).sort(), [
        'data.k kubectl-edit',
        'data.kept one',
      ]);
    },
  },
  {
    name: 'a JSON patch with a test changes all or nothing',
    run: async ({ client, namespace }) => {
      const at = { namespace, name: 'a' };
      await client.create(configMap(namespace, 'a', { k: '1' }));
      const change = (expected: string) =>
        client.patchJson<ConfigMap>(RESOURCE.configMap, at, [
          { op: 'test', path: '/data/k', value: expected },
          { op: 'replace', path: '/data/k', value: '2' },
        ]);
      assert.ok((await failureOf(change('other'))).isInvalid());
      assert.equal((await change('1')).data?.['k'], '2');
    },
  },
  {
    name: 'an object with a finalizer stays, terminating, until the finalizer goes',
    run: async ({ client, namespace }) => {
      const at = { namespace, name: 'a' };
      const object = configMap(namespace, 'a', {});
      await client.create({ ...object, metadata: { ...object.metadata, finalizers: ['redis.atoll.dev/contract'] } });
      await client.delete(RESOURCE.configMap, at);
      assert.ok((await client.get(RESOURCE.configMap, at)).metadata.deletionTimestamp);
      await client.patchMerge(RESOURCE.configMap, at, { metadata: { finalizers: null } });
      assert.equal(await client.find(RESOURCE.configMap, at), undefined);
    },
  },
];

const watching: readonly KubeContractCase[] = [
  {
    name: 'a watch from a list tells what came after it, in order, and ends at its time-out',
    run: async ({ client, namespace }) => {
      await client.create(configMap(namespace, 'before', {}));
      const { resourceVersion } = await client.listAll(RESOURCE.configMap, { namespace });
      await client.create(configMap(namespace, 'a', { text: 'grüße 🪸' }));
      await client.patchMerge(RESOURCE.configMap, { namespace, name: 'a' }, { data: { k: '1' } });
      await client.delete(RESOURCE.configMap, { namespace, name: 'a' });
      const events: WatchEvent[] = [];
      await client.watch(RESOURCE.configMap, {
        namespace,
        labelSelector: 'suite=kube-contract',
        resourceVersion,
        signal: new AbortController().signal,
        timeoutSeconds: 1,
        onEvent: (event) => events.push(event),
      });
      const told = events.filter(({ type }) => type !== 'BOOKMARK');
      assert.deepEqual(
        told.map(({ type, object }) => `${type} ${object.metadata.name}`),
        ['ADDED a', 'MODIFIED a', 'DELETED a'],
      );
      assert.equal((told[0]?.object as ConfigMap).data?.['text'], 'grüße 🪸');
    },
  },
  {
    name: 'an aborted watch rejects as aborted, not as unreachable',
    run: async ({ client, namespace }) => {
      const abort = new AbortController();
      const options = { namespace, signal: abort.signal, onEvent: () => undefined, onOpen: () => abort.abort() };
      const error = await failureOf(client.watch(RESOURCE.configMap, options));
      assert.ok(error.isAborted && !error.isUnreachable);
    },
  },
  {
    name: 'a reflector follows additions, changes and deletions',
    run: async ({ client, namespace }) => {
      const abort = new AbortController();
      await client.create(configMap(namespace, 'a', { k: '1' }));
      const changes: string[] = [];
      const reflector = startReflector<string>({
        client,
        resource: RESOURCE.configMap,
        namespace,
        labelSelector: 'suite=kube-contract',
        clock,
        signal: abort.signal,
        project: (object) => (object as ConfigMap).data?.['k'],
        onChange: (key, now, previous) => changes.push(`${key.split('/')[1]} ${previous} ${now}`),
      });
      await reflector.whenSynced();
      await until('the watch is open', () => reflector.watching);
      await client.create(configMap(namespace, 'b', { k: '1' }));
      await client.patchMerge(RESOURCE.configMap, { namespace, name: 'a' }, { data: { k: '2' } });
      await client.delete(RESOURCE.configMap, { namespace, name: 'b' });
      await until('four changes', () => changes.length >= 4);
      abort.abort();
      await reflector.done;
      assert.deepEqual(changes, ['a undefined 1', 'b undefined 1', 'a 1 2', 'b 1 undefined']);
      assert.deepEqual([...reflector.entries()], [[`${namespace}/a`, '2']]);
    },
  },
];

const leases: readonly KubeContractCase[] = [
  {
    name: 'of two electors one holds the lease; when it stops, the other takes it at once',
    run: async ({ client, namespace }) => {
      const start = (identity: string) => {
        const abort = new AbortController();
        const options = { client, namespace, name: 'contract', identity, clock, signal: abort.signal };
        return { abort, elector: startLeaseElector({ ...options, leaseDurationMs: 6_000, renewIntervalMs: 300 }) };
      };
      const first = start('first');
      await until('the first holds', () => first.elector.leaseIsYoungerThan());
      const second = start('second');
      await until('the second sees the first', () => second.elector.observedHolder === 'first');
      assert.equal(second.elector.isHolder, false);
      first.abort.abort();
      await first.elector.done;
      assert.equal(first.elector.leaseIsYoungerThan(), false);
      const releasedAtMs = clock.monotonicMs();
      await until('the second holds', () => second.elector.isHolder);
      assert.ok(clock.monotonicMs() - releasedAtMs < 3_000, 'without waiting for the duration');
      second.abort.abort();
      await second.elector.done;
    },
  },
];

/** Each case needs a namespace of its own. */
export const KUBE_CONTRACT: readonly KubeContractCase[] = [
  ...readAndWrite,
  ...applyAndPatch,
  ...watching,
  ...leases,
  ...DEFINITION_CONTRACT,
];
