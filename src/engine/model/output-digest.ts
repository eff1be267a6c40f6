/** What tells whether an output of a ledger is as it was. */
import type {LedgerOutput} from './ledger.ts'
import {sha256} from './live.ts'

const digestOf = ({value, sensitive}: LedgerOutput): string => sha256({value, sensitive})

/** Of one whose value, which an older version wrote down, is a secret by now: nothing is made of that. */
const WITHHELD = sha256({secret: true})

/** @param isSecret - whether the stack makes it of secrets */
export const outputDigests = (
  outputs: Readonly<Record<string, LedgerOutput>>,
  isSecret: (name: string) => boolean,
): Record<string, string> =>
  Object.fromEntries(Object.entries(outputs).map(([name, it]) => [name, isSecret(name) ? WITHHELD : digestOf(it)]))

/** @param digest - absent: there was none */
export const isAsRecorded = (output: LedgerOutput | undefined, digest: string | undefined): boolean =>
  digest === WITHHELD || (output && digestOf(output)) === digest
