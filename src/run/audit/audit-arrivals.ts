/** Objects that come to another ledger, in the audits of both: one line each in the moment in which that is certain. */
import type {AuditEvent} from '../../audit/entry.ts'
import type {LedgerAudit} from '../../engine/model/ledger.ts'
import type {ManagedLedgerStore} from '../../ledger/managed-store.ts'
import {type Arrived, type Arriving, ledgerName} from '../../ledger/transfer.ts'
import type {Host} from '../host/host.ts'
import {doerOf, StackChain} from './audit-chain.ts'
import {linesOfRun} from './audit-past.ts'
import {asWritten} from './audit-words.ts'

/**
 * @param stores - by the names that transfers have for them
 * @param fresh - the transfer that begins just now: nobody has written of it yet
 */
export const auditArrivals =
  (host: Host, stores: ReadonlyMap<string, Pick<ManagedLedgerStore, 'isRemote'>>, fresh?: string): Arriving =>
  async (arrived, ledgers) => {
    const audits = new Map<string, LedgerAudit>()
    for (const [name, all] of eventsOf(arrived)) {
      const events = all.map(it => ({...it, ...asWritten(host, it)}))
      const ledger = ledgers.get(name)
      // A ledger that is not there any more has no audit to go on with.
      if (ledger === undefined || ledger.condition === 'absent') continue
      const chain = new StackChain(host, ledger, {doer: doerOf(host), isRemote: stores.get(name)?.isRemote ?? false})
      try {
        const told = new Set(
          [...new Set(events.map(it => it.run))]
            .filter(run => run !== fresh)
            .flatMap(run => linesOfRun(host, ledger.stack, ledger.audit, run))
            .flatMap(it => (it.event === 'transfer' ? [`${it.run} ${it.address}`] : [])),
        )
        for (const it of events) if (!told.has(`${it.run} ${it.address}`)) chain.note(it)
        const audit = await chain.flush()
        if (audit !== undefined) audits.set(name, audit)
      } finally {
        chain.close()
      }
    }
    return audits
  }

type TransferEvent = AuditEvent & {readonly run: string; readonly address: string}

/** By the name of the ledger. Of a former ledger of the same stack one line says both. */
function eventsOf(arrived: readonly Arrived[]): ReadonlyMap<string, readonly TransferEvent[]> {
  const events = new Map<string, TransferEvent[]>()
  const add = (name: string, event: TransferEvent) => {
    const known = events.get(name) ?? []
    known.push(event)
    events.set(name, known)
  }
  for (const {id: run, from, to, remoteId} of arrived) {
    const {stack, address, state} = from
    const event = {event: 'transfer', run, remoteId, action: 'move', state: 'done'} as const
    add(ledgerName(to), {
      ...event,
      address: to.address,
      from: {stack, address},
      ...(state === undefined ? {} : {reason: `the ledger was at ${state}`}),
    })
    if (state === undefined) add(ledgerName(from), {...event, address, to: {stack: to.stack, address: to.address}})
  }
  return events
}
