import { createPrivateKey, X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { CertificateAuthority, type IssuedCertificate } from './certificates.ts';

describe("a cluster's certificates", () => {
  let ca: X509Certificate;
  let issued: IssuedCertificate;
  let certificate: X509Certificate;

  beforeAll(async () => {
    const authority = await CertificateAuthority.create('trial-ca');
    ca = new X509Certificate(authority.certificatePem);
    issued = await authority.issue({
      commonName: 'system:node:trial-1',
      organization: 'system:nodes',
      alternativeNames: ['trial-1', '198.18.1.11'],
    });
    certificate = new X509Certificate(issued.certificate);
  });

  it('are signed by an authority of the cluster', () => {
    expect(ca.ca).toBe(true);
    expect(certificate.ca).toBe(false);
    expect(certificate.checkIssued(ca)).toBe(true);
    expect(certificate.verify(ca.publicKey)).toBe(true);
  });

  it('name user and group as Kubernetes reads them', () => {
    expect(certificate.subject).toBe('O=system:nodes\nCN=system:node:trial-1');
  });

  it('are good for the names and addresses asked for, and no other', () => {
    expect(certificate.checkIP('198.18.1.11')).toBe('198.18.1.11');
    expect(certificate.checkHost('trial-1')).toBe('trial-1');
    expect(certificate.checkIP('198.18.1.12')).toBeUndefined();
  });

  it('come with their own private key', () => {
    expect(certificate.checkPrivateKey(createPrivateKey(issued.key))).toBe(true);
    expect(ca.checkPrivateKey(createPrivateKey(issued.key))).toBe(false);
  });
});
