/**
 * A place where ledgers may be kept: what Terraform's `backend` block says of it, what of that goes into a plan, and how it
 * is opened. One file each; nothing else asks which one it is.
 */
import type {z} from 'zod'
import type {Clock} from '../../base/clock.ts'
import type {JsonObject} from '../../base/json.ts'
import type {ProcessVariables} from '../../base/process-variables.ts'
import type {RandomBytes} from '../../base/random.ts'
import type {LedgerLocation} from '../../engine/model/declaration.ts'
import type {Transport} from '../../transport/http.ts'
import type {OwnApp} from '../errors.ts'
import type {FileContent} from '../local-store.ts'
import type {ManagedLedgerStore, Notice} from '../managed-store.ts'

export interface LedgerPlaceOptions {
  readonly stack: string
  /** Absolute: beside `cdktf.json`, or the working folder. */
  readonly folder: string
  /** For `TF_HTTP_*`. */
  readonly environment: ProcessVariables
}

export interface OpenLedgerOptions extends LedgerPlaceOptions {
  /** Asked once, where the ledger is behind a network; `insecure`: certificates are not verified. */
  readonly transport: (tls: {readonly insecure: boolean}) => Transport
  readonly clock: Clock
  readonly random: RandomBytes
  readonly pid: number
  readonly host: string
  /** Name of the person or job that runs this. */
  readonly user: string
  /** Of this program. */
  readonly version: string
  readonly notice: Notice
  /** Hears what is waited for; `notice` unless told. */
  readonly onWait?: Notice
  /** What lifts a lock that stays behind: a command; of a ledger unless told. */
  readonly freeing?: (id: string) => string
  /** Tries after the first one, where that is not for the place to say. */
  readonly retryMax?: number
  /** Whose ledgers are asked for; absent where anybody's is read, and of what is no ledger. */
  readonly app?: OwnApp
  /** What stands in a file, where it is no ledger. */
  readonly fileContent?: FileContent
}

/** Whose block is read. */
export interface BlockReading {
  readonly stack: string
  /** Hears what is wrong with the block. */
  readonly say: (problem: string) => void
  /** Hears what is left out of it. */
  readonly warn: (problem: string) => void
}

export interface LedgerBackend<L extends LedgerLocation = LedgerLocation> {
  /** What its block may have; all of them literals. */
  readonly arguments: Readonly<Record<string, 'text' | 'flag' | 'number'>>
  /** What a plan and a run remember of it. No secret is in there. */
  readonly location: z.ZodType<L>
  readonly read: (block: JsonObject, reading: BlockReading) => L
  /** The same for every way to name one ledger in stack files; `undefined`: only the environment tells. */
  readonly place: (location: L) => string | undefined
  /** That of what `terraform_remote_state` names; `undefined` where it names none. */
  readonly remoteState: (config: JsonObject) => string | undefined
  /** The ledger that somebody names by its file or address on a command line; `undefined`: that is no such name. */
  readonly named: (text: string) => L | undefined
  /** The path, where the ledger is a file that goes with the disk; a relative one counts from the folder of the stacks. */
  readonly file?: (location: L) => string
  /** What whoever reviews a plan would not expect of it. */
  readonly remarks?: (location: L) => readonly string[]
  /** What its server is signed in to with, beside what the stack says: to be hidden wherever it comes up. */
  readonly signIn?: (location: L, environment: ProcessVariables) => {readonly username: string; readonly password: string}
  /** Beside a ledger, as it really lies: where the holds and freezes of its stack are. @throws HttpBackendError, NotAFileError */
  readonly controls: (location: L, options: LedgerPlaceOptions) => L
  /** Of what somebody names by an address alone: the same, locked by what answers there; `undefined`: it has a lock of its own. */
  readonly lockedThere: (location: L) => L | undefined
  readonly open: (location: L, options: OpenLedgerOptions) => ManagedLedgerStore
}

/** Gives a backend's file its types, and the others one type for all: a location reaches the backend that it names. */
export const defineBackend = <L extends LedgerLocation>(backend: LedgerBackend<L>): LedgerBackend => {
  const own = (location: LedgerLocation): L => backend.location.parse(location)
  const {file, signIn, remarks, ...rest} = backend
  return {
    ...rest,
    place: location => backend.place(own(location)),
    controls: (location, options) => backend.controls(own(location), options),
    lockedThere: location => backend.lockedThere(own(location)),
    open: (location, options) => backend.open(own(location), options),
    ...(file && {file: location => file(own(location))}),
    ...(remarks && {remarks: location => remarks(own(location))}),
    ...(signIn && {signIn: (location, environment) => signIn(own(location), environment)}),
  }
}
