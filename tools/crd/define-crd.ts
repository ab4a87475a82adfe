/** The frame of a CustomResourceDefinition of ours; what is in it comes from the schema files beside. */
import { ANNOTATION, API_GROUP, API_VERSION } from '#domain';
import type { Schema } from './schema-parts.ts';

interface CrdParts {
  readonly name: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortName: string;
  /** Raised with every change; an agent never writes an older one over a newer one. */
  readonly version: number;
  readonly printerColumns: readonly Readonly<Record<string, string | number>>[];
  readonly schema: Schema;
}

/** The whole definition, as plain data. */
export const defineCrd = (parts: CrdParts): Record<string, unknown> => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: parts.name,
    annotations: {
      // A chart that is uninstalled must not take every Redis of the cluster with it.
      'helm.sh/resource-policy': 'keep',
      [ANNOTATION.crdVersion]: String(parts.version),
    },
  },
  spec: {
    group: API_GROUP,
    scope: 'Namespaced',
    names: {
      kind: parts.kind,
      listKind: `${parts.kind}List`,
      plural: parts.plural,
      singular: parts.singular,
      shortNames: [parts.shortName],
      categories: ['atoll'],
    },
    conversion: { strategy: 'None' },
    versions: [
      {
        name: API_VERSION,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: parts.printerColumns,
        schema: { openAPIV3Schema: parts.schema },
      },
    ],
  },
});
