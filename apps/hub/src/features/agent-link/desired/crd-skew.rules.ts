/**
 * Whether the definition that an agent serves can hold a spec (03 rule 14). Decided from the hash it told in Hello and the
 * recorded schemas. One that is not recorded, newer or made by somebody else, is taken at its word: the spec is sent, and
 * the API server there says what it does not know. Sending what surely fails would show a refusal in place of the reason.
 */
import { findUnheld, KNOWN_CRD_SCHEMAS, type KnownCrdSchema, REDIS_CLUSTER_KIND, ownValue } from '#domain';

const MOST_NAMED = 10;

/** Why this object is not sent, for people; undefined: it is sent. `spec` is the JSON text. */
export function explainTooNew(
  object: { readonly kind: string; readonly spec: string },
  crdSchemaHash: string,
  recorded: Readonly<Record<string, KnownCrdSchema>> = KNOWN_CRD_SCHEMAS,
): string | undefined {
  const schema = ownValue(recorded, crdSchemaHash);
  if (schema === undefined || object.kind !== REDIS_CLUSTER_KIND) return undefined;
  const unheld = findUnheld(JSON.parse(object.spec), schema.spec);
  if (unheld.length === 0) return undefined;
  const more = unheld.length > MOST_NAMED ? ` and ${unheld.length - MOST_NAMED} more` : '';
  return (
    `The definition of RedisCluster in that member cluster is the one of release ${schema.release} and does not know ` +
    `${unheld.slice(0, MOST_NAMED).join(', ')}${more}. Nothing of this generation was sent; what runs there runs on as it is. ` +
    'Upgrade the agent there, or its CRDs (chart atoll-crds); then it is sent by itself. Or save a spec without these fields.'
  );
}
