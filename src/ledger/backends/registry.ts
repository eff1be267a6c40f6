/** Where ledgers may be kept, by the word of the `backend` block. A new one is a file with a `LedgerBackend`, and a line here. */
import {z} from 'zod'
import type {LedgerLocation} from '../../engine/model/declaration.ts'
import type {LedgerBackend} from './backend.ts'
import {http} from './http.ts'
import {local} from './local.ts'

export const LEDGER_BACKENDS: ReadonlyMap<string, LedgerBackend> = new Map(Object.entries({local, http}))

/** For messages: `local or http`. */
export const BACKEND_WORDS = [...LEDGER_BACKENDS.keys()].join(' or ')

/** @throws TypeError for a location that nobody made */
export function backendOf({type}: LedgerLocation): LedgerBackend {
  const backend = LEDGER_BACKENDS.get(type)
  if (backend === undefined) throw new TypeError(`no ledger is kept in a backend ${JSON.stringify(type)}`)
  return backend
}

/** The path of a ledger that is a file; see `LedgerBackend`. */
export const fileOf = (location: LedgerLocation): string | undefined => backendOf(location).file?.(location)

/** A location as a saved plan may have it. */
export const ledgerLocation: z.ZodType<LedgerLocation> = z.union([...LEDGER_BACKENDS.values()].map(it => it.location))
