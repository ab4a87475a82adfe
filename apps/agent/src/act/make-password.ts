import { randomBytes } from 'node:crypto';

/** 192 bits as 48 hex digits: nothing that a shell, a URL or an ACL file would have to quote. */
export const makePassword = (): string => randomBytes(24).toString('hex');
