import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import {
  CA_VALID_MS,
  createCertificateAuthority,
  issueServerCertificate,
  mustRenew,
  RENEW_BEFORE_MS,
  SERVER_VALID_MS,
} from './certificate-authority.ts';

const NOW = Date.UTC(2026, 10, 30);
const HOSTS = ['hub.example', '10.0.0.1', 'localhost'];

describe('the hub’s own certificates', async () => {
  const ca = await createCertificateAuthority(NOW);
  const server = await issueServerCertificate(ca, HOSTS, NOW);

  it('are signed by a CA of twenty years', () => {
    const authority = new X509Certificate(ca.certificate);
    expect(authority.ca).toBe(true);
    expect(new Date(authority.validTo).getTime()).toBe(NOW + CA_VALID_MS);
    expect(new X509Certificate(server.certificate).checkIssued(authority)).toBe(true);
    expect(new X509Certificate(server.certificate).verify(authority.publicKey)).toBe(true);
  });

  it('name hosts and addresses', () => {
    const certificate = new X509Certificate(server.certificate);
    expect(certificate.checkHost('hub.example')).toBe('hub.example');
    expect(certificate.checkIP('10.0.0.1')).toBe('10.0.0.1');
    expect(certificate.checkHost('other.example')).toBeUndefined();
  });

  it('hold for an agent whose clock is behind by what a renewal has in hand: none locks out whom the one before let in', () => {
    const behindMs = NOW - RENEW_BEFORE_MS;
    for (const { certificate } of [ca, server])
      expect(new Date(new X509Certificate(certificate).validFrom).getTime()).toBeLessThanOrEqual(behindMs);
  });

  it('are renewed before they end, for a new host, and under a new CA', async () => {
    expect(await mustRenew(server.certificate, ca.certificate, HOSTS, NOW)).toBe(false);
    const late = NOW + SERVER_VALID_MS - RENEW_BEFORE_MS + 1;
    expect(await mustRenew(server.certificate, ca.certificate, HOSTS, late)).toBe(true);
    expect(await mustRenew(server.certificate, ca.certificate, [...HOSTS, 'new'], NOW)).toBe(true);
    const other = await createCertificateAuthority(NOW);
    expect(await mustRenew(server.certificate, other.certificate, HOSTS, NOW)).toBe(true);
  });
});
