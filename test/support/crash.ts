/** A run that dies at one of its writes, and what the next one does first. */
import {kinds} from '../../src/backends/kinds.ts'
import {LedgerBook} from '../../src/engine/apply/ledger-book.ts'
import {recover} from '../../src/engine/apply/recover.ts'
import type {Recovered, RecoverInput, Undecided} from '../../src/engine/apply/recovery.ts'
import type {Backend, WriteOutcome} from '../../src/engine/model/backend.ts'
import {type Journal, type JournalEntry, readRun} from '../../src/engine/model/journal.ts'
import {type LedgerStore, versionsOf} from '../../src/engine/model/ledger.ts'
import {openLeaves} from '../../src/engine/model/resolve.ts'
import {keyOfOperation, Secret} from '../../src/engine/model/value.ts'
import type {BuiltPlan} from '../../src/engine/plan/build.ts'
import {digestOf, type Lab, type StackBuilder, sealed} from './lab.ts'

export const MOMENTS = ['before it is sent', 'sent and no answer', 'answered and not journaled', 'journaled'] as const
/** Those of the files of a run: which of its entries, and which write of a ledger, is counted. */
export const MOMENTS_OF_FILES = ['before an entry', 'after an entry', 'before a ledger is written', 'after a ledger is written'] as const
export type Moment = (typeof MOMENTS)[number] | (typeof MOMENTS_OF_FILES)[number]

const forever = new Promise<never>(() => {})

/** Carries a plan out until the `at`-th write (entry, ledger), where the process dies. @returns whether it came that far */
export async function applyUntilCrash(
  lab: Lab,
  built: BuiltPlan,
  builders: readonly StackBuilder[],
  at: number,
  moment: Moment,
  around: (inner: Journal, book: LedgerBook) => Journal = inner => inner,
  undecided: readonly Undecided[] = [],
): Promise<boolean> {
  const isOfFiles = MOMENTS_OF_FILES.some(it => it === moment)
  let writes = 0
  let entries = 0
  let saves = 0
  let dead = false
  let dieAtNextEntry = false
  let crash: () => void = () => {}
  const crashed = new Promise<'crashed'>(resolve => {
    crash = () => {
      dead = true
      resolve('crashed')
    }
  })
  const die = (): Promise<never> => {
    crash()
    return forever
  }
  const backendOf = lab.backends('full')
  const mortal = (backend: Backend): Backend => {
    const alive =
      <A extends unknown[], R>(call: (...given: A) => Promise<R>) =>
      async (...given: A): Promise<R> => {
        if (dead) return forever
        const answer = await call(...given)
        return dead ? forever : answer
      }
    const {reader} = backend
    return {
      name: backend.name,
      spending: backend.spending,
      now: backend.now,
      reader: {
        list: alive((...given) => reader.list(...given)),
        read: alive((...given) => reader.read(...given)),
        prove: alive((...given) => reader.prove(...given)),
        forget: path => reader.forget(path),
      },
      tasks: alive((...given) => backend.tasks(...given)),
      task: alive((...given) => backend.task(...given)),
      write: async (request, options): Promise<WriteOutcome> => {
        if (dead) return forever
        const mine = !isOfFiles && writes++ === at
        if (mine && moment === 'before it is sent') return die()
        const outcome = await backend.write(request, options)
        if (dead || (mine && moment === 'sent and no answer')) return die()
        if (mine && outcome.outcome === 'accepted' && outcome.taskId === undefined) return die()
        if (mine) dieAtNextEntry = true
        return outcome
      },
    }
  }
  const mortalStore = (stack: string): LedgerStore => {
    const held = lab.store(stack).held()
    return {
      ...held,
      assertHeld: () => (dead ? forever : held.assertHeld()),
      save: async ledger => {
        const mine = saves++ === at
        if (dead || (mine && moment === 'before a ledger is written')) return die()
        const saved = await held.save(ledger)
        return mine && moment === 'after a ledger is written' ? die() : saved
      },
    }
  }
  const journal: JournalEntry[] = []
  const proxies = {cloud: mortal(backendOf('', 'cloud')), cluster: mortal(backendOf('', 'cluster'))}
  const ended = lab
    .execute(
      built,
      builders,
      {
        backendOf: (_, api) => proxies[api],
        storeOf: mortalStore,
        journalOf: book =>
          around(
            {
              append: entry => {
                if (dead) throw new Error('dead')
                const mine = entries++ === at
                if ((dieAtNextEntry && moment === 'answered and not journaled') || (mine && moment === 'before an entry')) {
                  crash()
                  throw new Error('dead')
                }
                journal.push(entry)
                if (dieAtNextEntry || (mine && moment === 'after an entry')) crash()
              },
            },
            book,
          ),
      },
      undecided,
    )
    .then(
      () => 'ended' as const,
      error => {
        if (!dead) throw error
        return forever
      },
    )
  const end = await Promise.race([ended, crashed])
  lab.journal = journal
  return end === 'crashed'
}

/** What the next run does first. */
export async function settle(
  lab: Lab,
  built: BuiltPlan,
  builders: readonly StackBuilder[],
  more: Partial<
    Pick<RecoverInput, 'accountOf' | 'backendOf' | 'before' | 'isElsewhere' | 'isWanted' | 'signal' | 'timeoutMs' | 'versions'>
  > = {},
): Promise<Recovered> {
  const specs = new Map(builders.flatMap(it => it.build().declarations).map(it => [it.key, it.spec]))
  const stacks = built.plan.stacks.map(it => it.name)
  const ledgers = await lab.ledgers(stacks)
  const book: LedgerBook = new LedgerBook(ledgers, new Map(stacks.map(it => [it, lab.store(it)])), ledger =>
    Promise.resolve(sealed(ledger, book.secretsOf(ledger.stack))),
  )
  return recover({
    run: 'dead',
    dead: readRun(lab.journal),
    operations: built.plan.operations,
    kinds,
    backendOf: lab.backends('full'),
    book,
    versions: versionsOf(ledgers),
    secret: (operation, leaf) => {
      const spec = specs.get(keyOfOperation(operation))
      const found = spec && openLeaves(spec).find(it => it.pointer === leaf.path)?.leaf
      return found instanceof Secret ? found : new Secret(null)
    },
    wasSent: async (digest, where, it) => digest === `${where} ${digestOf(it)}`,
    isWanted: () => true,
    isRecorded: async (_, entry, pointer, it) => entry.secrets[pointer] === digestOf(it),
    evaluate: expression => {
      throw new Error(expression)
    },
    lookup: {variable: () => undefined, attribute: () => undefined},
    clock: lab.clock,
    pace: {minMs: 1000, maxMs: 10_000},
    lagMs: 2000,
    timeoutMs: 600_000,
    signal: new AbortController().signal,
    emit: () => {},
    ...more,
    note: entry => void lab.journal.push(entry),
  })
}
