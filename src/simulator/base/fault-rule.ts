/** What goes wrong, and with which requests. Data only, so that configuration files and the control API can carry it. */
import {z} from 'zod'

const action = z.discriminatedUnion('type', [
  /** An answer of our choice; `effect: true` lets the request take effect first. */
  z.strictObject({
    type: z.literal('status'),
    status: z.number().int().min(200).max(599),
    body: z.json().optional(),
    text: z.string().optional(),
    headers: z.record(z.string(), z.string()).default({}),
    effect: z.boolean().default(false),
  }),
  /** The connection breaks, and nothing has happened. */
  z.strictObject({type: z.literal('drop-before-effect')}),
  /** The connection breaks, and everything has happened. */
  z.strictObject({type: z.literal('drop-after-effect')}),
  /** The request never reaches the server (over a socket: the connection is closed without an answer). */
  z.strictObject({type: z.literal('refuse')}),
  /** No answer comes. */
  z.strictObject({type: z.literal('hang'), effect: z.boolean().default(false)}),
  /** A complete answer that is no JSON. */
  z.strictObject({type: z.literal('garbage')}),
  /** The body ends early and the answer looks complete. */
  z.strictObject({type: z.literal('truncate'), bytes: z.number().int().min(0).optional()}),
  /** The connection breaks in the middle of the body. */
  z.strictObject({type: z.literal('cut'), bytes: z.number().int().min(0).optional()}),
  z.strictObject({type: z.literal('delay'), ms: z.number().min(0)}),
  /** The write is accepted and its task fails. */
  z.strictObject({
    type: z.literal('fail-task'),
    code: z.string().default('INTERNAL_ERROR'),
    message: z.string().default('The operation failed.'),
    field: z.string().optional(),
    status: z.string().optional(),
  }),
  /** The write is accepted and its object ends in this status instead of `active`. */
  z.strictObject({type: z.literal('end-status'), status: z.string().default('error')}),
])
export type FaultAction = z.output<typeof action>

export const fault = z.strictObject({
  match: z
    .strictObject({
      api: z.enum(['cloud', 'cluster', 'uploads', 'parts']).optional(),
      method: z.string().optional(),
      /** A glob (`*` one segment, `**` any number), or a regular expression between slashes with `re:` in front. */
      path: z.string().optional(),
    })
    .prefault({}),
  /** How often it strikes; absent: always. */
  times: z.number().int().positive().optional(),
  /** How many matching requests pass first. */
  after: z.number().int().min(0).default(0),
  action,
})
export type Fault = z.output<typeof fault>
export type FaultInput = z.input<typeof fault>

/**
 * Whether a path fits a pattern. In a glob `*` stands for one segment or a part of one, `**` for any text; `re:` begins
 * a regular expression.
 */
export function pathFits(pattern: string, path: string): boolean {
  if (pattern.startsWith('re:')) return new RegExp(pattern.slice(3)).test(path)
  const source = pattern
    .split(/(\*\*|\*)/)
    .map(part => (part === '**' ? '.*' : part === '*' ? '[^/]*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')))
    .join('')
  return new RegExp(`^${source}$`).test(path)
}

/** A fault, and how many matching requests it has met. */
export type MetFault = Fault & {readonly met: number}

/** How often each fault has met a matching request. */
export class FaultBook {
  readonly #entries: {readonly fault: Fault; met: number}[] = []

  add(...faults: readonly Fault[]): void {
    for (const fault of faults) this.#entries.push({fault, met: 0})
  }

  clear(): void {
    this.#entries.length = 0
  }

  /** Exactly these, as far as they had come. */
  reset(faults: readonly MetFault[]): void {
    this.clear()
    for (const {met, ...fault} of faults) this.#entries.push({fault, met})
  }

  list(): readonly MetFault[] {
    return this.#entries.map(({fault, met}) => ({...fault, met}))
  }

  /** The action that strikes this request, if any; the first fault whose turn it is wins. */
  strike(api: string, method: string, path: string): FaultAction | undefined {
    for (const entry of this.#entries) {
      const {match, after, times, action} = entry.fault
      if (match.api !== undefined && match.api !== api) continue
      if (match.method !== undefined && match.method.toUpperCase() !== method) continue
      if (match.path !== undefined && !pathFits(match.path, path)) continue
      entry.met++
      if (entry.met <= after) continue
      if (times !== undefined && entry.met > after + times) continue
      return action
    }
    return undefined
  }
}
