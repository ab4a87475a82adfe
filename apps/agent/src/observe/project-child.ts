/**
 * What the cache keeps of a child (StatefulSet, Service, ConfigMap, …): all that a difference to the desired object can
 * be computed from, and of the status only what is decided from. Managed fields alone are half of such an object;
 * the version would make each write of others look like a change.
 */
import type { KubeObject } from '#domain';
import { shareTexts } from './share-texts.ts';

/** Kinds whose status is read; the status of others would only cause passes. */
const WITH_STATUS: ReadonlySet<string> = new Set(['StatefulSet', 'PersistentVolumeClaim']);

export const projectChild = (object: KubeObject): KubeObject => {
  const { managedFields: _, resourceVersion: __, ...metadata } = object.metadata;
  const { status, ...rest } = object;
  return {
    ...rest,
    metadata,
    ...(object.kind === 'ConfigMap' && isTexts(object['data']) ? { data: shareTexts(object['data']) } : {}),
    ...(WITH_STATUS.has(object.kind) && status !== undefined ? { status } : {}),
  };
};

const isTexts = (data: unknown): data is Readonly<Record<string, string>> => typeof data === 'object' && data !== null;
