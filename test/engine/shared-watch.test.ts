import {describe, expect, it} from 'vitest'
import {AppError, EXIT, type ExitCode} from '../../src/base/errors.ts'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {SharedWatch, type Watched} from '../../src/engine/shared-watch.ts'

interface Item extends Watched<string> {
  readonly name: string
  readonly fail: (error: unknown) => void
}

class Watch extends SharedWatch<Item, string> {
  looks = 0
  answer: (items: readonly Item[]) => ReadonlyMap<Item, string> = items => new Map(items.map(it => [it, `${it.name} is there`]))
  readonly #clock: VirtualClock

  constructor(clock: VirtualClock) {
    super(clock, {minMs: 1000, maxMs: 10_000})
    this.#clock = clock
  }

  await(name: string, timeoutMs = 60_000): Promise<string | undefined> {
    return new Promise((tell, fail) => this.add({name, tell, fail, deadline: this.#clock.now() + timeoutMs}))
  }

  protected override look(items: readonly Item[]): Promise<ReadonlyMap<Item, string>> {
    this.looks++
    return Promise.resolve().then(() => this.answer(items))
  }

  protected override failed(item: Item, error: unknown): void {
    item.fail(error)
  }
}

class LookError extends AppError {
  constructor(exit: ExitCode) {
    super('the look failed', {code: 'E_LOOK', exit})
  }
}

describe('a shared watch', () => {
  it('answers all who wait with one look', async () => {
    const clock = new VirtualClock()
    const watch = new Watch(clock)
    expect(await clock.run(Promise.all([watch.await('a'), watch.await('b')]))).toEqual(['a is there', 'b is there'])
    expect(watch.looks).toBe(1)
  })

  it('goes on for whoever asks again the moment the last one was told', async () => {
    const clock = new VirtualClock()
    const watch = new Watch(clock)
    const told = await clock.run(watch.await('a').then(() => watch.await('b').then(() => watch.await('c'))))
    expect(told).toBe('c is there')
  })

  it('looks again after a look that failed, and gives up after five in a row', async () => {
    const clock = new VirtualClock()
    const watch = new Watch(clock)
    watch.answer = items => {
      if (watch.looks <= 4) throw new LookError(EXIT.unreachable)
      return new Map(items.map(it => [it, 'at last']))
    }
    expect(await clock.run(watch.await('a'))).toBe('at last')
    watch.answer = () => {
      throw new LookError(EXIT.unreachable)
    }
    await expect(clock.run(watch.await('b'))).rejects.toThrow('the look failed')
    expect(watch.looks).toBe(10)
  })

  it('does not look twice with credentials that are refused', async () => {
    const clock = new VirtualClock()
    const watch = new Watch(clock)
    watch.answer = () => {
      throw new LookError(EXIT.unauthorized)
    }
    await expect(clock.run(watch.await('a'))).rejects.toThrow('the look failed')
    expect(watch.looks).toBe(1)
  })

  it('tells nothing at the deadline', async () => {
    const clock = new VirtualClock()
    const watch = new Watch(clock)
    watch.answer = () => new Map()
    expect(await clock.run(watch.await('a', 5000))).toBeUndefined()
  })
})
