/**
 * Digests one after the other on every processor: as many at once as there are, so that none waits for a thread in vain
 * and what else goes by threads (files, names of servers) finds one. Whoever is waited for first goes first.
 */
import {type ScryptOptions, scrypt} from 'node:crypto'
import PQueue from 'p-queue'
import {processorsAtWork} from '../base/processors.ts'

/** 16 MiB and 30 to 60 ms each. Docs/security.md says what they withstand: a change needs a new prefix, and a reason. */
const COST = {N: 16_384, r: 8, p: 1} as const satisfies ScryptOptions

/**
 * Higher numbers go first. `asked`: somebody waits for it. `sent`: the ledger is to have it when the run ends, so it is
 * made as soon as what was sent has arrived. `sending`: a request that may go a little later.
 */
export const URGENCY = {asked: 2, sent: 1, sending: 0} as const
export type Urgency = (typeof URGENCY)[keyof typeof URGENCY]

export class DigestLine {
  readonly #queue: PQueue

  constructor(atOnce = processorsAtWork()) {
    this.#queue = new PQueue({concurrency: atOnce})
  }

  scrypt(text: string, salt: string, bytes: number, urgency: Urgency): Promise<string> {
    return this.#queue.add(() => derive(text, salt, bytes), {priority: urgency})
  }
}

const derive = (text: string, salt: string, bytes: number): Promise<string> =>
  new Promise((resolve, reject) => {
    scrypt(text, salt, bytes, COST, (error, digest) => (error ? reject(error) : resolve(digest.toString('base64url'))))
  })
