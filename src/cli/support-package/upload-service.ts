/** The upload service as the commands reach it: its key, its address, and a file sent there. */
import {AppError, EXIT} from '../../base/errors.ts'
import {environmentTrust} from '../../config/connection.ts'
import {activeFilesProfile, resolveFilesKey} from '../../config/files-key.ts'
import {filesApi} from '../../support-package/files-api.ts'
import {
  DEFAULT_UPLOAD_DIR,
  type Uploaded,
  UploadPartError,
  UploadSizeError,
  uploadArchive,
  uploadCommand,
} from '../../support-package/upload-archive.ts'
import {createBudget, NO_LIMITS} from '../../transport/budget.ts'
import {createApiClient} from '../../transport/create-api-client.ts'
import {createTransport} from '../../transport/undici-transport.ts'
import type {Context} from '../shell/context.ts'
import {ProgressLine} from './progress-line.ts'

export class NoFilesKeyError extends AppError {
  constructor(cause?: unknown) {
    super('there is no upload key', {
      code: 'E_FILES_KEY_MISSING',
      exit: EXIT.unauthorized,
      suggestions: [
        'Set SVC_ENTERPRISE_FILES_API_KEY (or SVC_FILES_API_KEY), or store the key: printf %s "$UPLOAD_KEY" | svcctl files-key set - --use-keyring',
        'Or run the command without --upload.',
      ],
      cause,
    })
  }
}

export class FilesAddressError extends AppError {
  constructor(reason: string) {
    super(`the address of the upload service ${reason}`, {
      code: 'E_FILES_ADDRESS',
      exit: EXIT.usage,
      suggestions: ['Set SVC_FILES_API_URL to the address of the upload service (https://…).'],
    })
  }
}

/** The package is made and saved, and could not be uploaded. */
export class UploadUnfinishedError extends AppError {
  constructor(cause: AppError, target: string, keep: boolean) {
    super(`${cause.message}; the archive is kept at ${target}`, {
      code: cause.code,
      exit: cause.exit,
      suggestions: [
        ...(cause instanceof UploadPartError || cause instanceof UploadSizeError ? [] : cause.suggestions),
        `Go on where it stopped: ${uploadCommand(target, keep)}`,
      ],
      cause,
    })
  }
}

/** The options of a connection are about the cluster; what the environment trusts holds here too. */
const ADVICE = {address: ['SVC_FILES_API_URL'], trust: ['SVC_CA_FILE', 'SSL_CERT_FILE'], insecure: []}

export interface UploadService {
  upload(file: string, options: {readonly idleTimeoutMs: number; readonly signal: AbortSignal}): Promise<Uploaded>
  close(): Promise<void>
}

/** How the service is asked; the archive itself travels as fast as it can. */
export interface UploadPace {
  /** Requests a minute, and at once after a pause; no limit unless told. */
  readonly rate?: number | undefined
  readonly burst?: number | undefined
  readonly requestTimeoutMs?: number | undefined
}

/** A reference, an address and some headers. They are written down with each part, and sent with each. */
const LARGEST_ANSWER = 1_048_576

/**
 * @param profile - `--profile`
 * @throws NoFilesKeyError, FilesAddressError, KeyringUnavailableError, KeyringEntryMissingError, UnknownProfileError
 */
export async function openUploadService(context: Context, profile: string | undefined, pace: UploadPace = {}): Promise<UploadService> {
  const {environment, keyring, redactor, clock, log} = context
  const profiles = context.profiles()
  const {found, keyringFailure} = await resolveFilesKey(environment, profiles, activeFilesProfile(environment, profiles, profile), keyring)
  if (found === undefined) throw new NoFilesKeyError(keyringFailure)
  redactor.register(found.key)
  log.debug(`upload key: ${found.source}`)
  const address = environment.files.apiUrl
  if (address === undefined) throw new FilesAddressError('is not known')
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) throw new FilesAddressError('is no http(s) address')
  const {username, password, search, hash} = new URL(address)
  // Paths are put behind it, and messages show it.
  if (`${username}${password}` !== '') throw new FilesAddressError('carries a user name or a password')
  if (`${search}${hash}` !== '') throw new FilesAddressError('carries a query or a fragment')
  const network = createTransport({
    proxy: environment.proxy,
    trust: environmentTrust(environment),
    cwd: context.cwd,
    advice: ADVICE,
    maxResponseBytes: LARGEST_ANSWER,
  })
  const {rate: perMinute, burst, requestTimeoutMs} = pace
  const limits = perMinute === undefined ? NO_LIMITS : {perMinute, burst: burst ?? Math.ceil(perMinute * 1.5), reserve: 0}
  const budget = createBudget({limits, clock})
  const client = createApiClient({
    address,
    authentication: {'x-filesapi-key': found.key},
    transport: network.send,
    budget,
    clock,
    ...(requestTimeoutMs !== undefined && {requestTimeoutMs}),
  })
  return {
    upload: async (file, {idleTimeoutMs, signal}) => {
      const line = new ProgressLine(context, 'Uploaded')
      try {
        return await uploadArchive(file, {
          api: filesApi(client, {signal, learnsSecret: it => redactor.register(it)}),
          address,
          openStream: network.openStream,
          clock,
          stateDir: environment.stateDir,
          uploadDir: environment.files.uploadDir ?? DEFAULT_UPLOAD_DIR,
          idleTimeoutMs,
          signal,
          onProgress: progress => line.show(progress),
          onResume: parts => log.note(`Going on with an unfinished upload: ${parts} parts are there.`),
        })
      } finally {
        line.end()
      }
    },
    close: async () => {
      budget.close()
      await network.close()
    },
  }
}
