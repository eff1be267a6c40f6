/** Files of certificates to trust beside the built-in ones. */
import {X509Certificate} from 'node:crypto'
import {resolve} from 'node:path'
import {AppError, EXIT} from '../base/errors.ts'
import {systemCode} from '../base/system-code.ts'
import {readWholeFileSync} from '../base/whole-file.ts'

export interface TrustedFile {
  readonly path: string
  /** Who named it: `--ca-file`, `the environment variable SVC_CA_FILE`. */
  readonly from: string
}

/** The certificate file of the configuration cannot be used. */
export class CaFileError extends AppError {
  constructor({path, from}: TrustedFile, reason: string, cause?: unknown) {
    super(`the certificate file ${path} (from ${from}) ${reason}`, {
      code: 'E_CA_FILE',
      exit: EXIT.usage,
      suggestions: [`Let ${from} name a readable file with at least one "-----BEGIN CERTIFICATE-----", or leave it out.`],
      cause,
    })
  }
}

/**
 * Each by itself: in one text OpenSSL reads up to the first that is damaged, and says nothing of those behind it.
 * @throws CaFileError when it cannot be read or holds no certificate
 */
export function readCertificates(file: TrustedFile, cwd = ''): readonly string[] {
  let text: string
  try {
    text = readWholeFileSync(resolve(cwd, file.path)).toString()
  } catch (error) {
    throw new CaFileError(file, `cannot be read (${systemCode(error) ?? 'unknown reason'})`, error)
  }
  const found = text.match(PEM) ?? []
  if (!found.some(isCertificate)) throw new CaFileError(file, found.length === 0 ? 'holds no certificate' : 'holds none that can be read')
  return found
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

function isCertificate(text: string): boolean {
  try {
    new X509Certificate(text)
    return true
  } catch {
    return false
  }
}
