/** A certificate for loopback, made anew at each start: no key lies in the repository and no program has to be installed. */
import {generateKeyPairSync, randomBytes, sign} from 'node:crypto'
import {bits, boolean, field, integer, octets, oid, sequence, set, simpleField, text, time} from './der.ts'

export interface SelfSigned {
  /** PEM */
  readonly certificate: string
  /** PEM, PKCS #8 */
  readonly key: string
}

const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'))
const DAY_MS = 86_400_000

/**
 * Valid from a day before `now` for a year, for localhost, 127.0.0.1 and ::1. It is its own authority, so that a client
 * may trust it through a CA file.
 *
 * @param hosts - further names it is good for
 */
export function selfSigned(now: number, hosts: readonly string[] = []): SelfSigned {
  const {publicKey, privateKey} = generateKeyPairSync('ec', {namedCurve: 'prime256v1'})
  const name = sequence(set(sequence(oid('2.5.4.3'), text('svcctl simulator'))))
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  const body = sequence(
    field(0, integer(Buffer.from([2]))),
    integer(serial),
    ECDSA_WITH_SHA256,
    name,
    sequence(time(now - DAY_MS), time(now + 365 * DAY_MS)),
    name,
    publicKey.export({format: 'der', type: 'spki'}),
    field(3, sequence(...extensions(hosts))),
  )
  const certificate = sequence(body, ECDSA_WITH_SHA256, bits(sign('sha256', body, privateKey)))
  return {certificate: pem(certificate), key: privateKey.export({format: 'pem', type: 'pkcs8'}).toString()}
}

function extensions(hosts: readonly string[]): Uint8Array[] {
  const names = sequence(
    ...['localhost', ...hosts].map(host => simpleField(2, Buffer.from(host))),
    simpleField(7, Buffer.from([127, 0, 0, 1])),
    simpleField(7, Buffer.from([...Array<number>(15).fill(0), 1])),
  )
  // digitalSignature and keyCertSign
  const usage = bits(Buffer.from([0x84]), 2)
  return [
    sequence(oid('2.5.29.19'), boolean(true), octets(sequence(boolean(true)))),
    sequence(oid('2.5.29.15'), boolean(true), octets(usage)),
    sequence(oid('2.5.29.37'), octets(sequence(oid('1.3.6.1.5.5.7.3.1')))),
    sequence(oid('2.5.29.17'), octets(names)),
  ]
}

const pem = (der: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString('base64').replace(/.{64}/g, '$&\n').trimEnd()}\n-----END CERTIFICATE-----\n`
