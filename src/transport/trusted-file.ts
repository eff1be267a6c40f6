/** Files of certificates to trust beside the built-in ones. */
import {resolve} from 'node:path'
import {AppError, EXIT} from '../base/errors.ts'
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

/** @throws CaFileError when it cannot be read or holds no certificate */
export function readCertificates(file: TrustedFile, cwd = ''): string {
  let text: string
  try {
    text = readWholeFileSync(resolve(cwd, file.path)).toString()
  } catch (error) {
    throw new CaFileError(file, 'cannot be read', error)
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new CaFileError(file, 'holds no certificate')
  return text
}
