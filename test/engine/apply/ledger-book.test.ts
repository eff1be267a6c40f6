import {describe, expect, it} from 'vitest'
import {AppError, EXIT, type ExitCode} from '../../../src/base/errors.ts'
import {VirtualClock} from '../../../src/base/virtual-clock.ts'
import {LedgerBook} from '../../../src/engine/apply/ledger-book.ts'
import {deposedAddress} from '../../../src/engine/model/deposed.ts'
import {contentVersion, type Ledger, type LedgerEntry} from '../../../src/engine/model/ledger.ts'
import {bareEntry} from '../../../src/engine/model/ledger-entry.ts'
import {Secret} from '../../../src/engine/model/value.ts'
import {MemoryStore} from '../../support/lab.ts'

const entry = (name: string): LedgerEntry => bareEntry(`null_resource.${name}`, 'cloud.database', `cloud/subscriptions/1/databases/${name}`)

/** Refuses as often as it is told to. */
class Failing extends MemoryStore {
  left: number
  readonly #exit: ExitCode
  tries = 0

  constructor(stack: string, left: number, exit: ExitCode = EXIT.failure) {
    super(stack)
    this.left = left
    this.#exit = exit
  }

  override save(ledger: Ledger): Promise<Ledger> {
    this.tries++
    if (this.left-- > 0) return Promise.reject(new AppError('no space', {code: 'E_LEDGER_ACCESS', exit: this.#exit}))
    return super.save(ledger)
  }
}

const bookOf = (...stores: Failing[]) => {
  const named = stores.map(it => [it.ledger.stack, it] as const)
  return new LedgerBook(new Map(named.map(([stack, it]) => [stack, it.ledger])), new Map(named), it => Promise.resolve(it))
}

describe('the ledger of a run', () => {
  it('has everything again with the first write that succeeds after one that failed', async () => {
    const store = new Failing('shop', 1)
    const book = bookOf(store)
    book.record('shop', entry('a'), new Map())
    await expect(book.flush()).rejects.toThrow('no space')
    book.record('shop', entry('b'), new Map())
    await book.flush()
    expect([...store.ledger.entries.keys()]).toEqual(['null_resource.a', 'null_resource.b'])
  })

  it('is its own: what it was given, and what a store has, change with a write and not before', async () => {
    const store = new Failing('shop', 0)
    const given = store.ledger
    const book = bookOf(store)
    book.record('shop', entry('a'), new Map())
    expect([given.entries.size, book.ledger('shop')?.entries.size]).toEqual([0, 1])
    await book.flush()
    book.record('shop', entry('b'), new Map())
    book.drop('shop', 'null_resource.a')
    expect([[...store.ledger.entries.keys()], given.entries.size]).toEqual([['null_resource.a'], 0])
    await book.flush()
    expect([...store.ledger.entries.keys()]).toEqual(['null_resource.b'])
  })

  it('of one stack is written where that of another one fails', async () => {
    const [bad, good] = [new Failing('shop', 1), new Failing('till', 0)]
    const book = bookOf(bad, good)
    book.record('shop', entry('a'), new Map())
    book.record('till', entry('b'), new Map())
    await expect(book.flush()).rejects.toThrow('no space')
    expect([bad.ledger.condition, good.ledger.condition]).toEqual(['absent', 'present'])
  })

  it('that is written for its audit alone has the objects of the version before, however often', async () => {
    const store = new Failing('shop', 0)
    const book = bookOf(store)
    const audit = (seq: number) => book.setAudit('shop', {seq, hash: `${seq}`, files: []})
    const written = async () => {
      await book.flush()
      return [store.ledger.serial, contentVersion(store.ledger).serial, store.ledger.audit?.seq]
    }
    book.record('shop', entry('a'), new Map())
    audit(1)
    expect(await written()).toEqual([1, 1, 1])
    audit(2)
    expect(await written()).toEqual([2, 1, 2])
    audit(3)
    expect(await written()).toEqual([3, 1, 3])
    audit(4)
    book.record('shop', entry('b'), new Map())
    expect(await written()).toEqual([4, 4, 4])
    // Somebody who knows nothing of that writes on.
    audit(5)
    await book.flush()
    const {ledger} = store
    expect([contentVersion(ledger), contentVersion(await store.save(ledger))].map(it => it.serial)).toEqual([4, 6])
  })

  it('begins the digests of secrets when they are recorded, and is written whole at the end where it was not on the way', async () => {
    const store = new Failing('shop', 0)
    const [closings, begun]: [boolean[], string[]] = [[], []]
    const book = new LedgerBook(
      new Map([['shop', store.ledger]]),
      new Map([['shop', store]]),
      (ledger, closing) => {
        closings.push(closing)
        return Promise.resolve(closing ? {...ledger, secretsDigest: 'over all'} : ledger)
      },
      (_, {address}, secrets) => begun.push(`${address} ${[...secrets.keys()]}`),
    )
    book.record('shop', entry('a'), new Map([['/password', {secret: new Secret('tulip', undefined), sent: true}]]))
    book.record('shop', entry('b'), new Map())
    expect(begun).toEqual(['null_resource.a /password'])
    await book.flush({closing: false})
    expect(store.ledger.secretsDigest).toBeUndefined()
    await book.flush()
    await book.flush()
    expect([closings, store.ledger.secretsDigest]).toEqual([[false, true], 'over all'])
    // Whoever closes while somebody else waits for a write gets one that closes.
    book.record('shop', entry('c'), new Map())
    await Promise.all([book.flush({closing: false}), book.flush()])
    expect(closings).toEqual([false, true, true])
  })

  it('is written once for all who ask while a write is going on', async () => {
    const store = new Failing('shop', 0)
    const book = bookOf(store)
    const all = []
    for (const name of ['a', 'b', 'c', 'd']) {
      book.record('shop', entry(name), new Map())
      all.push(book.flush())
    }
    await Promise.all(all)
    expect([store.tries, store.ledger.entries.size]).toEqual([1, 4])
  })

  it('says of a version what is in that, and not what is recorded while it is being written', async () => {
    const store = new Failing('shop', 0)
    const book = bookOf(store)
    const told: unknown[] = []
    book.whenSaved((_, version, {objects}) => told.push([version.serial, objects]))
    book.record('shop', entry('a'), new Map())
    const save = store.save.bind(store)
    store.save = async ledger => {
      const saved = await save(ledger)
      book.record('shop', {...entry('a'), remoteId: 'cloud/subscriptions/1/databases/2'}, new Map())
      return saved
    }
    await book.flush()
    expect(told).toEqual([[1, {'null_resource.a': 'cloud/subscriptions/1/databases/a'}]])
  })

  it('outlives half a minute without its disk or server at the end of the run', async () => {
    const clock = new VirtualClock()
    const store = new Failing('shop', 5)
    const book = bookOf(store)
    book.record('shop', entry('a'), new Map())
    const from = clock.now()
    const said: string[] = []
    await clock.run(book.save('run-1', clock, event => void (event.type === 'warning' && said.push(event.message))))
    expect([store.ledger.entries.size, clock.now() - from]).toEqual([1, 31_000])
    // No second of it is silent.
    expect(said.map(it => /no space.*again in (.*) \(/.exec(it)?.[1])).toEqual(['1 s', '2 s', '4 s', '8 s', '16 s'])
  })

  it('that cannot be written at all is an error which names every object that is not in it', async () => {
    const clock = new VirtualClock()
    const book = bookOf(new Failing('shop', 100))
    book.record('shop', entry('a'), new Map())
    book.drop('shop', 'null_resource.b')
    await expect(clock.run(book.save('run-1', clock, () => {}))).rejects.toMatchObject({
      code: 'E_LEDGER_UNSAVED',
      exit: 1,
      problems: [{address: 'shop:null_resource.a'}, {address: 'shop:null_resource.b'}],
    })
  })

  it("of one stack is tried again where that of another one is somebody else's by now, and waited for alone where it is asked for", async () => {
    const [lost, slow] = [new Failing('lost', Number.POSITIVE_INFINITY, EXIT.locked), new Failing('slow', 2)]
    const book = bookOf(lost, slow)
    book.record('lost', entry('a'), new Map())
    book.record('slow', entry('b'), new Map())
    const clock = new VirtualClock()
    await expect(clock.run(book.save('r', clock, () => {}))).rejects.toMatchObject({exit: EXIT.locked})
    expect([slow.ledger.entries.size, lost.ledger.entries.size]).toEqual([1, 0])
    await book.flush({stack: 'slow'})
    await expect(book.flush({stack: 'lost'})).rejects.toMatchObject({exit: EXIT.locked})
  })

  it('that its server does not give back at once is asked for again, and counts as not written where it never does', async () => {
    for (const [lost, looks] of [
      [3, 4],
      [100, 6],
    ] as const) {
      const clock = new VirtualClock()
      const store = new Failing('shop', 0)
      let asked = 0
      const kept = Object.assign(store, {
        assertKept: async () => {
          if (++asked <= lost) throw new AppError('serial 0 is back', {code: 'E_LEDGER_ACCESS'})
        },
      })
      const book = bookOf(kept)
      book.record('shop', entry('a'), new Map())
      const saved = clock.run(book.save('run-1', clock, () => {}))
      if (lost === 3) await saved
      else await expect(saved).rejects.toMatchObject({code: 'E_LEDGER_UNSAVED', problems: [{address: 'shop:null_resource.a'}]})
      // Written again it would be newer each time than what copies that lag behind show.
      expect([store.tries, asked]).toEqual([1, looks])
    }
  })

  it("whose lock is somebody else's is not written to again", async () => {
    const clock = new VirtualClock()
    const store = new Failing('shop', 100, EXIT.locked)
    const book = bookOf(store)
    book.record('shop', entry('a'), new Map())
    await expect(clock.run(book.save('run-1', clock, () => {}))).rejects.toMatchObject({exit: EXIT.locked})
    expect(store.tries).toBe(1)
  })
})

describe('objects that go by another address', () => {
  const addressesAfter = async (owned: readonly LedgerEntry[], renamed: Parameters<LedgerBook['rename']>[1]) => {
    const store = new Failing('a', 0)
    store.ledger = {...store.ledger, condition: 'present', entries: new Map(owned.map(it => [it.address, it]))}
    const book = bookOf(store)
    book.rename('a', renamed)
    await book.flush()
    return Object.fromEntries([...store.ledger.entries.values()].map(it => [it.address, it.remoteId.split('/').at(-1)]))
  }
  const at = (name: string) => ({remoteId: entry(name).remoteId})

  it('may take each other’s', async () => {
    const change = [
      {from: 'null_resource.x', to: 'null_resource.y', ...at('x')},
      {from: 'null_resource.y', to: 'null_resource.x', ...at('y')},
    ]
    expect(await addressesAfter([entry('x'), entry('y')], change)).toEqual({'null_resource.x': 'y', 'null_resource.y': 'x'})
  })

  it('are found beside their former one, where an object of another ledger has come to it', async () => {
    const aside = deposedAddress('null_resource.x', entry('x').remoteId)
    const owned = [
      {...entry('new'), address: 'null_resource.x'},
      {...entry('x'), address: aside},
    ]
    const to = (address: string) => [{from: 'null_resource.x', to: address, ...at('x')}]
    expect(await addressesAfter(owned, to('null_resource.y'))).toEqual({'null_resource.x': 'new', 'null_resource.y': 'x'})
    expect(await addressesAfter(owned, to(aside))).toEqual({'null_resource.x': 'new', [aside]: 'x'})
  })
})
