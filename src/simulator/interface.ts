/** What a simulator can do, for whoever talks to it. */
import type {Clock} from '../base/clock.ts'
import type {HttpRequest, OpenStream, Transport} from '../transport/http.ts'
import type {Bases} from './base/addresses.ts'
import type {SimulatorConfig, SimulatorConfigInput} from './base/config.ts'
import type {FaultInput, MetFault} from './base/fault-rule.ts'
import type {World} from './base/world.ts'
import type {WorldEdit} from './base/world-edit.ts'
import type {LogEntry} from './request-log.ts'
import type {SimulatedResponse} from './response.ts'

export interface Snapshot {
  readonly world: World
  readonly config: SimulatorConfig
  readonly faults: readonly MetFault[]
}

export type SimulatorHandle = (request: HttpRequest) => Promise<SimulatedResponse>

export interface Simulator {
  /**
   * Answers a request to one of the addresses in `bases`.
   * @throws ConnectionError where a fault breaks the connection
   */
  readonly handle: SimulatorHandle
  /** The same with the body in one piece. */
  readonly transport: Transport
  /** The same with the body as it comes. */
  readonly openStream: OpenStream
  /** Plain data, open for reading and editing; `edit` is the tidy way. */
  readonly world: World
  readonly config: SimulatorConfig
  readonly log: readonly LogEntry[]
  readonly faults: readonly MetFault[]
  readonly bases: Bases
  readonly clock: Clock
  clearLog(): void
  configure(patch: SimulatorConfigInput): void
  /** Adds faults to the ones that are there. */
  inject(...faults: readonly FaultInput[]): void
  clearFaults(): void
  /** Changes the world out of band, as somebody else would; answers the path of the object. @throws NoSuchObject */
  edit(edit: WorldEdit): string
  /** Lets everything happen whose moment has come. Every request does so first. */
  settle(): void
  snapshot(): Snapshot
  /** Puts world, configuration and faults back, here or in another simulator; the log stays. */
  restore(snapshot: Snapshot): void
  /** Other addresses, for a simulator that is served. */
  serveAt(bases: Bases): void
}
