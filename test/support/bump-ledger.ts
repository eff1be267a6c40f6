/** A process that locks, reads, saves and unlocks a ledger file again and again: `bump-ledger.ts FILE TIMES`. */
import {systemClock} from '../../src/base/clock.ts'
import {holderState, processIdentityOf} from '../../src/base/process-lock.ts'
import {systemRandom} from '../../src/base/random.ts'
import {LocalLedgerStore} from '../../src/ledger/local-store.ts'

const [, , path = '', times = '0'] = process.argv
for (let left = Number(times); left > 0; left--) {
  const store = new LocalLedgerStore({
    path,
    stack: 'shop',
    process: processIdentityOf('build-7', process.pid),
    stateOf: holder => holderState(holder, 'build-7'),
    who: 'bumper',
    clock: systemClock,
    random: systemRandom,
    notice: message => console.error(message),
  })
  const unlock = await store.lock(60_000)
  await store.save(await store.load())
  await unlock()
}
