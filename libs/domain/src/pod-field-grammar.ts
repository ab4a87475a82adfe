/**
 * What the API server and the kubelet take for the parts of a pod that a spec names: image, resource names, storage
 * class. Checked before anything is stored; without it a typing error comes back late, as a StatefulSet that is refused
 * or a pod in InvalidImageName. Never narrower than Kubernetes: what it would run must stay allowed.
 */
const LABEL = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
const DNS_SUBDOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

/** Grammar: https://github.com/distribution/reference/blob/main/reference.go */
const HOST_PART = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const HOST = `(?:${HOST_PART}(?:\\.${HOST_PART})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const PATH_PART = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const TAG = '[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}';
const DIGEST = '[a-zA-Z][a-zA-Z0-9]*(?:[-_+.][a-zA-Z][a-zA-Z0-9]*)*:[a-fA-F0-9]{32,}';
const IMAGE = new RegExp(`^(?:${HOST}/)?${PATH_PART}(?:/${PATH_PART})*(?::${TAG})?(?:@${DIGEST})?$`);

const MAX_IMAGE_LENGTH = 512;
const MAX_SUBDOMAIN_LENGTH = 253;

/** `redis:8.0`, `registry.example:5000/team/redis@sha256:…`. */
export const isImageReference = (text: string): boolean => text.length <= MAX_IMAGE_LENGTH && IMAGE.test(text);

export const isDnsSubdomain = (text: string): boolean =>
  text.length <= MAX_SUBDOMAIN_LENGTH && DNS_SUBDOMAIN.test(text);

/** A compute resource of a container: Kubernetes' own, or an extended one such as `example.com/fast-disk`. */
export const isContainerResourceName = (name: string): boolean => {
  if (['cpu', 'memory', 'ephemeral-storage'].includes(name)) return true;
  if (name.startsWith('hugepages-')) return name.length > 'hugepages-'.length;
  const [prefix = '', rest = '', ...more] = name.split('/');
  return more.length === 0 && isDnsSubdomain(prefix) && /^[a-zA-Z0-9](?:[\w.-]{0,61}[a-zA-Z0-9])?$/.test(rest);
};

const LABEL_NAME = /^[a-zA-Z0-9](?:[\w.-]{0,61}[a-zA-Z0-9])?$/;

/** Key of a label or a taint: `name`, or `prefix/name`. */
export const isQualifiedName = (text: string): boolean => {
  const parts = text.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2 || !LABEL_NAME.test(name)) return false;
  return parts.length === 1 || isDnsSubdomain(parts[0] ?? '');
};

export const isLabelValue = (text: string): boolean => text === '' || LABEL_NAME.test(text);
