/** Speaks to a simulator in process with the right credentials. */
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {createSimulator, type Simulator, type SimulatorConfigInput} from '../../src/simulator/index.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Loose = any

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly json: Loose
  readonly body: Uint8Array
}

export type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answered>

export interface Client {
  readonly cloud: Call
  readonly cluster: Call
  readonly uploads: Call
  readonly control: Call
}

export const CLOUD_KEYS = {'x-api-key': 'simulator-key', 'x-api-secret-key': 'simulator-secret'}
export const CLUSTER_KEYS = {authorization: `Basic ${Buffer.from('admin@cluster.local:simulator-password').toString('base64')}`}
export const UPLOAD_KEYS = {'x-filesapi-key': 'simulator-files-key'}

export function clientOf(simulator: Simulator): Client {
  const caller =
    (base: () => string, keys: Record<string, string>): Call =>
    async (method, path, body, headers = {}) => {
      const raw = typeof body === 'string' || body instanceof Uint8Array || body === undefined ? body : JSON.stringify(body)
      const {
        status,
        headers: answered,
        body: bytes,
      } = await simulator.transport({
        method,
        url: `${base()}${path}`,
        headers: {...keys, ...headers},
        ...(raw !== undefined && {body: raw}),
      })
      const text = Buffer.from(bytes).toString()
      return {status, headers: answered, text, json: parsed(text), body: bytes}
    }
  return {
    cloud: caller(() => simulator.bases.cloud, CLOUD_KEYS),
    cluster: caller(() => simulator.bases.cluster, CLUSTER_KEYS),
    uploads: caller(() => simulator.bases.uploads, UPLOAD_KEYS),
    control: caller(() => simulator.bases.control, {}),
  }
}

function parsed(text: string): Loose {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export interface Setting extends Client {
  readonly clock: VirtualClock
  readonly simulator: Simulator
}

/** Runs a test in virtual time against a new simulator. */
export async function inVirtualTime(config: SimulatorConfigInput, test: (setting: Setting) => Promise<void>, seed = 1): Promise<void> {
  const clock = new VirtualClock()
  const simulator = createSimulator({clock, config, seed})
  await clock.run(test({...clientOf(simulator), clock, simulator}))
}
