/** What may be done about a server that is not reached or not trusted: only what has an effect on this connection. */

export interface ConnectionAdvice {
  /** What says where the server is: `--api-url`, `SVC_CLOUD_API_URL`, `api_url in the profile`. */
  readonly address: readonly string[]
  /** What names certificates to trust. */
  readonly trust: readonly string[]
  /** What leaves the certificate unverified; empty where nothing does. */
  readonly insecure: readonly string[]
}

/** The answer to our side of a TLS handshake was none. */
const NO_TLS_THERE = 'ERR_SSL_WRONG_VERSION_NUMBER'

/** OpenSSL's words for a handshake that one side ended: not for a certificate that was not believed. */
const HANDSHAKE = /^ERR_SSL_(?!CERTIFICATE_VERIFY_FAILED|EE_|CA_)/

const list = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

export const addressAdvice = ({address}: ConnectionAdvice): string =>
  `Check the address (-vv says where it comes from: ${list(address)}) and that the server is up.`

/**
 * @param detail - OpenSSL's or Node's word for what was wrong
 * @param proxy - the certificate is that of the proxy before the server
 */
export function trustAdvice({trust, insecure}: ConnectionAdvice, detail: string | undefined, proxy = false): readonly string[] {
  const loosen =
    insecure.length === 0 || proxy ? [] : [`For a test system whose certificate cannot be mended, do not verify it: ${list(insecure)}.`]
  switch (detail) {
    case NO_TLS_THERE:
      return ['No TLS is spoken at that address: check its port, or begin it with http:// where that is meant.']
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
    case 'HOSTNAME_MISMATCH':
      return ['Write the address with a host name that the certificate is made out to; no certificate to trust changes that.', ...loosen]
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return ['The certificate is not valid at this time: have it renewed on the server, and check the clock of this machine.', ...loosen]
    default:
      if (detail !== undefined && HANDSHAKE.test(detail)) {
        return [
          `The ${proxy ? 'proxy' : 'server'} and svcctl found no way to speak TLS with each other (version, cipher, or a certificate that it wants of its clients, which svcctl has none of): ask who runs it. No certificate to trust changes that.`,
        ]
      }
      return [`Give the certificate of the ${proxy ? "proxy's" : "server's"} authority with ${list(trust)}.`, ...loosen]
  }
}
