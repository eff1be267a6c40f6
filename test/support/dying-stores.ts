import type {Ledger, LedgerStore} from '../../src/engine/model/ledger.ts'

export class Killed extends Error {}

/** Stores whose writes are counted together; the process dies at the nth, before or after it has arrived. */
export function dying(stores: ReadonlyMap<string, LedgerStore>, at: number, when: 'before' | 'after'): Map<string, LedgerStore> {
  let writes = 0
  return new Map(
    [...stores].map(([name, store]) => [
      name,
      {
        place: store.place,
        load: () => store.load(),
        lock: (timeoutMs: number) => store.lock(timeoutMs),
        assertHeld: () => store.assertHeld(),
        save: async (ledger: Ledger) => {
          const isLast = ++writes === at
          if (writes > at || (isLast && when === 'before')) throw new Killed('before')
          const saved = await store.save(ledger)
          if (isLast) throw new Killed('after')
          return saved
        },
      },
    ]),
  )
}
