/** The upload service's requests (wire facts, "Upload service"): the key goes to the service's own address and nowhere else. */

import {z} from 'zod'
import {saidIn} from '../backends/api/error-body.ts'
import {parseAnyJson} from '../base/bounded-json.ts'
import {AppError, EXIT} from '../base/errors.ts'
import type {Json} from '../base/json.ts'
import {addAll} from '../base/many.ts'
import {secretsInAddress} from '../base/secret-fields.ts'
import type {ApiAnswer, ApiClient} from '../transport/api-client.ts'
import {isHeader, isOfConnection} from '../transport/header-values.ts'

/** The service said no, or something that cannot be understood. */
export class UploadRefusedError extends AppError {
  readonly status: number

  constructor(doing: string, status: number, reason: string) {
    const denied = status === 401 || status === 403
    super(`the upload service refused to ${doing}: ${reason === '' ? '' : `${reason} `}(${status})`, {
      code: denied ? 'E_UPLOAD_UNAUTHORIZED' : 'E_UPLOAD_REFUSED',
      exit: denied ? EXIT.unauthorized : EXIT.failure,
      suggestions: denied
        ? ['Check the upload key: svcctl files-key get shows which one is used.']
        : ['Check SVC_FILES_API_URL and SVC_FILES_UPLOAD_DIR. Parts that have arrived are not sent again.'],
    })
    this.status = status
  }
}

/** The service answered with something that nothing can be sent by. Nothing of its answer but a field's name is told. */
export class UploadAnswerError extends AppError {
  constructor(doing: string, issue: z.core.$ZodIssue | undefined) {
    const what = issue === undefined || issue.path.length === 0 ? 'it is no list of parts' : `${String(issue.path.at(-1))} ${said(issue)}`
    super(`the upload service was asked to ${doing}, and its answer is not what the service promises: ${what}`, {
      code: 'E_UPLOAD_ANSWER',
      suggestions: ['Check SVC_FILES_API_URL: does it name the upload service? Nothing was sent to the place in its answer.'],
    })
  }
}

const said = (issue: z.core.$ZodIssue): string =>
  issue.path.at(-1) === 'upload_uri' || issue.path.at(-1) === 'http_method' || issue.code === 'custom' ? issue.message : 'does not fit'

/** The service gave no answer. */
export class UploadServiceUnansweredError extends AppError {
  /** The request may have arrived all the same. */
  readonly arrived: boolean

  constructor(doing: string, cause: AppError, arrived: boolean) {
    super(`the upload service did not answer when asked to ${doing}: ${cause.message}`, {
      code: 'E_UPLOAD_UNANSWERED',
      exit: cause.exit,
      suggestions: ['Check SVC_FILES_API_URL, and that this machine reaches that address. Parts that have arrived are not sent again.'],
      cause,
    })
    this.arrived = arrived
  }
}

const beginning = z.array(
  z.object({
    ref: z.string().min(1),
    part_number: z.number().int().positive().optional(),
    partsize: z.number().int().positive().optional(),
    upload_uri: z.url({protocol: /^https?$/, error: 'is no address of http or https'}),
    http_method: z.enum(['PUT', 'POST'], {error: 'is neither PUT nor POST'}).optional(),
    headers: z
      .record(z.string(), z.union([z.string(), z.number()]))
      .refine(it => Object.entries(it).every(([name, value]) => isHeader(name, String(value))), 'are none that can be sent')
      .nullish(),
    expires: z.string().nullish(),
    parallel_parts: z.boolean().nullish(),
    retry_parts: z.boolean().nullish(),
    available_parts: z.number().int().positive().nullish(),
  }),
)

/** Where one part goes. */
export interface PartTarget {
  readonly ref: string
  readonly partSize: number
  readonly uri: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly parallel: boolean
  readonly availableParts: number
}

const DEFAULT_PART_BYTES = 5 * 1024 * 1024
const DEFAULT_PARTS = 10_000
const ENDING = 'put the parts together'

export interface FilesApi {
  /** Begins a new upload. */
  begin(path: string, size: number): Promise<PartTarget>
  /** A fresh address for one part of an upload that began. @throws UploadRefusedError with status 404 when it is over */
  part(path: string, ref: string, part: number): Promise<PartTarget>
  /** @returns the size the service has, `undefined` when it does not say */
  end(path: string, ref: string, etags: readonly {readonly etag: string; readonly part: number}[]): Promise<number | undefined>
  /** Size of a file that is there. */
  size(path: string): Promise<number | undefined>
}

/** Of the addresses of parts and the headers that go with them: whoever has them may write there, as long as they hold. */
class SignedAddresses {
  readonly #values: string[] = []

  add(address: string, headers: Readonly<Record<string, string>>): void {
    const own = Object.entries(headers).flatMap(([name, value]) => (NO_SECRET.test(name) ? [] : [value, ...value.split(/\s+/).slice(1)]))
    const all = new Set([...secretsInAddress(address), ...new URL(address).searchParams.values(), ...own])
    addAll(
      this.#values,
      [...all].filter(({length}) => length >= LEAST_SIGNED),
    )
    if (this.#values.length > MOST_SIGNED) this.#values.splice(0, this.#values.length - MOST_SIGNED)
  }

  /** Those that a text repeats. */
  in(text: string): readonly string[] {
    return this.#values.filter(it => text.includes(it) || text.includes(encodeURIComponent(it)))
  }
}

const LEAST_SIGNED = 8
/** They say what is sent. */
const NO_SECRET = /^(?:content|cache|accept)-/
/** Those of an upload's last parts: an older address is spent. */
const MOST_SIGNED = 1_000

export interface FilesApiOptions {
  readonly signal?: AbortSignal
  /** Told of what the service itself gave out to sign a part's address, and now repeats where people read it. */
  readonly learnsSecret?: (secret: string) => void
}

export function filesApi(client: ApiClient, {signal, learnsSecret}: FilesApiOptions = {}): FilesApi {
  const signed = new SignedAddresses()
  const refused = (doing: string, {status, text}: ApiAnswer): UploadRefusedError => {
    const {message} = saidIn(text)
    for (const it of signed.in(message)) learnsSecret?.(it)
    return new UploadRefusedError(doing, status, message)
  }
  const call = async (doing: string, method: 'GET' | 'POST', path: string, body?: Json): Promise<ApiAnswer> => {
    const result = await client.call({method, path, ...(body !== undefined && {body})}, {...(signal && {signal})})
    if (!result.answered) throw new UploadServiceUnansweredError(doing, result.error, result.arrived)
    return result.answer
  }
  const begin = async (doing: string, path: string, body: Json): Promise<PartTarget> => {
    const answer = await call(doing, 'POST', `/file_actions/begin_upload/${encoded(path)}`, body)
    if (answer.status > 299) throw refused(doing, answer)
    const parsed = beginning.safeParse(jsonOf(answer.text))
    const [first] = parsed.data ?? []
    if (first === undefined) throw new UploadAnswerError(doing, parsed.error?.issues[0])
    // Another host, or another way to send, is nothing that an answer may choose.
    const headers = Object.fromEntries(
      Object.entries(first.headers ?? {}).flatMap(([name, value]) => (isOfConnection(name) ? [] : [[name.toLowerCase(), String(value)]])),
    )
    signed.add(first.upload_uri, headers)
    return {
      ref: first.ref,
      partSize: first.partsize ?? DEFAULT_PART_BYTES,
      uri: first.upload_uri,
      method: first.http_method ?? 'PUT',
      headers,
      parallel: first.parallel_parts !== false,
      availableParts: first.available_parts ?? DEFAULT_PARTS,
    }
  }
  return {
    begin: (path, size) => begin('begin the upload', path, {size, mkdir_parents: true}),
    part: (path, ref, part) => begin(`take part ${part}`, path, {ref, part}),
    end: async (path, ref, etags) => {
      const answer = await call(ENDING, 'POST', `/files/${encoded(path)}`, {action: 'end', ref, etags: etags.map(it => ({...it}))})
      if (answer.status > 299) throw refused(ENDING, answer)
      return sizeIn(answer.text)
    },
    size: async path => {
      const answer = await call('show the file', 'GET', `/files/${encoded(path)}`)
      return answer.status > 299 ? undefined : sizeIn(answer.text)
    },
  }
}

const encoded = (path: string): string =>
  path
    .split('/')
    .filter(segment => segment !== '')
    .map(encodeURIComponent)
    .join('/')

function jsonOf(text: string): unknown {
  try {
    return parseAnyJson(text)
  } catch {
    return undefined
  }
}

const sizeIn = (text: string): number | undefined => z.object({size: z.number()}).safeParse(jsonOf(text)).data?.size
